#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# command.sh PROGRAM: runs gst-cudatensor-model-config.
set -u
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

printf '[property]\ninfer-dims=3;8;16\n' >"$folder/config_infer.txt"
expected='cudanormalize width=16 height=8 resize-mode=stretch method=bilinear antialias=false '
expected+='color=rgb layout=nchw normalization=alpha-beta alpha="<1>" beta="<0>" round=true'
line=$("$program" "$folder/config_infer.txt") || fail "status $?"
[ "$line" = "$expected" ] || fail "$line"

text=$("$program" "$folder/absent" 2>&1) && fail "a file that is not there has no error"
[[ $text == *"model-config=$folder/absent: No such file"* ]] || fail "$text"

"$program" 2>/dev/null
[ $? -eq 2 ] || fail "no usage"
"$program" --help 2>/dev/null
[ $? -eq 2 ] || fail "no usage"
