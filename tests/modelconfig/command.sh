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

printf '[property]\n' >"$folder/open.txt"
text=$("$program" "$folder/open.txt" 2>&1 >/dev/null) || fail "status $?"
[ "$text" = "model-config=$folder/open.txt: property.infer-dims is absent; add width and height" ] ||
  fail "$text"
printf 'task: detect\nimgsz: 64\n' >"$folder/metadata.yaml"
touch "$folder/a.tflite"
text=$("$program" "$folder/metadata.yaml" 2>&1 >/dev/null) && {
  [[ $text == *'does not tell the layout of a.tflite; add layout' ]] || fail "$text"
} || [[ $text == *'lacks libyaml'* ]] || fail "$text"

text=$("$program" "$folder/absent" 2>&1) && fail "a file that is not there has no error"
[[ $text == *"model-config=$folder/absent: No such file"* ]] || fail "$text"

# The output must say so, because the line alone would give another tensor.
printf '{"image_processor_type":"DetrImageProcessor"}' >"$folder/preprocessor_config.json"
text=$("$program" "$folder/preprocessor_config.json" 2>&1)
[[ $text == *"add width and height"* || $text == *"cannot read"* ]] || fail "$text"

"$program" 2>/dev/null
[ $? -eq 2 ] || fail "no usage"
"$program" --help 2>/dev/null
[ $? -eq 2 ] || fail "no usage"
