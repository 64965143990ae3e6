#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# inside.sh
# Run by firsthour.sh in a bare root, in a fresh clone. FIRST_HOUR=short leaves out steps of minutes.
set -euo pipefail
here=tests/firsthour
. tests/packaging/checks.sh
. /etc/os-release
short=${FIRST_HOUR:-}
clip=pipelines/media/pedestrians.webm other=pipelines/media/pedestrians-1080p.mp4  # VP8, H.264

# commands_of FILE [HEADING]: prints the lines of its shell code, below a heading
commands_of() {
  awk -v heading="${2:-}" '
    heading == "" { below = 1 }
    /^#/ && !code { if (heading != "") below = ($0 ~ heading) }
    /^```/ { code = !code && $0 == "```sh"; next }
    code && below { sub(/  +#.*/, ""); if ($0 != "") print }' "$1"
}

# programs_of FILE LANGUAGE: writes its code blocks in a language to files, and prints their folder
programs_of() {
  local folder
  folder=$(mktemp -d)
  awk -v folder="$folder" -v begin="\`\`\`$2" '/^```/ { code = !code && $0 == begin; n += code; next }
    code { print >(folder "/" n) }' "$1"
  echo "$folder"
}

# shell COMMAND: runs a command as a user types it, with a time limit
shell() { timeout 3000 bash -ec "$1"; }

# prints COMMAND PATTERN...: whether the command succeeds and its output matches the patterns
prints() {
  local output pattern command=$1
  shift
  output=$(shell "$command" 2>&1) || { echo "$output"; return 1; }
  for pattern; do grep -Eq -- "$pattern" <<<"$output" || { echo "no $pattern in:"; echo "$output"; return 1; }; done
}

# Meson's summary has no warning about the library directory.
without_warning() {
  local output
  output=$(shell "$1" 2>&1) && ! grep 'not searched by' <<<"$output" && return 0
  echo "$output"
  return 1
}

# watched COMMAND: runs luminance-monitor until its page answers
watched() {
  local log pid status=0 i
  log=$(mktemp)
  bash -c "exec env $1" >"$log" 2>&1 &
  pid=$!
  for ((i = 0; i < 1500; i++)); do
    if answers || ! kill -0 "$pid" 2>/dev/null; then break; fi
    sleep 1
  done
  answers || status=1
  kill -INT "$pid" 2>/dev/null || true
  wait "$pid" || status=1
  [ "$status" -eq 0 ] || cat "$log"
  return "$status"
}
answers() { (exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET / HTTP/1.0\r\n\r\n' >&3 && grep -qi luminance <&3) 2>/dev/null; }

# readme COMMAND: runs a command of README, with a wheel without CUDA instead of one with CUDA
readme() {
  case $1 in
    tests/run.sh*) echo "skipped: README's $1, which is what runs the tests" ;;
    packaging/wheel.sh | *build-wheel/*)
      if [ -n "$short" ] || [ "$VERSION_CODENAME" != bookworm ]; then
        echo "skipped: README's $1"
      else
        check "README's $1" shell "${1/#packaging\/wheel.sh/packaging\/wheel.sh build-wheel -Dgpu=disabled}"
      fi ;;
    *'meson setup'*) check "README's $1" without_warning "$1" ;;
    *) check "README's $1" shell "$1" ;;
  esac
}

read_readme() {
  local command program folder
  local -a commands
  mapfile -t commands < <(commands_of README.md)
  [ ${#commands[@]} -gt 6 ] || { echo "not ok README has commands"; return; }
  for command in "${commands[@]}"; do readme "$command"; done
  check 'without installing' prints 'meson devenv -C build gst-inspect-1.0 cudatensor' cudanormalize
  folder=$(programs_of README.md python)
  for program in "$folder"/*; do
    check "README's program ${program##*/}" prints "/usr/bin/python3 $program" '[0-9]'
  done
}

# All run in the same clone, in another order than README's.
run_scripts() {
  local script
  for script in fixed-point super-resolution luminance camera-to-tensor; do
    check "$script.sh" shell "pipelines/$script.sh"
    check "$script.sh with H.264" shell "pipelines/$script.sh $other"
  done
  check 'multicam.sh' prints 'pipelines/apps/multicam.sh' '^316 frames$'
  check 'multicam.sh with H.264' prints "pipelines/apps/multicam.sh $other $clip" '^153 frames$'
  check 'deepstream.sh names what is missing' prints '! pipelines/apps/deepstream.sh' 'nvv4l2decoder'
  check 'batch.sh' shell 'pipelines/multicam/batch.sh build-scripts/batch.jpg'
  if [ -n "$short" ]; then
    echo 'skipped: text-detect.sh, faces.sh, luminance-monitor.sh and wrong arguments'
    return
  fi
  check 'luminance-monitor.sh' watched pipelines/apps/luminance-monitor.sh
  check 'luminance-monitor.sh with H.264' watched "pipelines/apps/luminance-monitor.sh --loop $other"
  check 'camera-to-tensor.sh after it' shell pipelines/camera-to-tensor.sh
  check 'text-detect.sh' prints pipelines/apps/text-detect.sh 'Wrote '
  check 'text-detect.sh with H.264' prints "pipelines/apps/text-detect.sh --frames 1 $other" 'Wrote '
  check 'faces.sh' prints pipelines/apps/faces.sh '^contact sheet: '
  python3 tests/pipelines/arguments.py
}

# compiled COMPILER FILE: compiles a program
compiled() {
  local program
  program=$(mktemp -d)/program
  # shellcheck disable=SC2046  # several words
  "$1" -Wall -Werror "${@:2}" -o "$program" $(pkg-config --cflags --libs gstcudatensor-1.0) && "$program"
}

# Compiles the program with an appsink by the line below it.
program_of_interop() {
  local folder line
  folder=$(programs_of docs/interop.md c)
  mv "$folder/1" "$folder/boxes.c"
  line=$(grep '^cc -o boxes ' docs/interop.md)
  (cd "$folder" && bash -ec "$line") || return 1
  prints "$folder/boxes file://$PWD/$clip" "$(grep '^1 3 640 640,' docs/interop.md)"
}

use_installation() {
  check 'gst-inspect-1.0' prints 'gst-inspect-1.0 cudatensor' cudanormalize
  check 'gst-cudatensor-model-config' prints 'gst-cudatensor-model-config pipelines/media/preprocessor_config.json' 'width=224'
  check 'a program in C' compiled cc "$here/program.c"
  check 'a program in C++' compiled c++ -x c++ "$here/program.c" -x none
  check 'the program in C of interop.md' program_of_interop
  check 'a program in Python' prints "/usr/bin/python3 $here/program.py" '^\(1, 3, 48, 64\)$'
  check 'the package as root' sudo /usr/bin/python3 -c 'import gst_cudatensor, sys; sys.exit(gst_cudatensor.Tensor is None)'
}

# As root, because find fails at folders that the user may not read.
none_left() {
  local left
  left=$(sudo find /usr /etc /lib /opt /var -name '*cudatensor*' -print 2>/dev/null)
  [ -z "$left" ] || { echo "$left"; return 1; }
}

uninstall() {
  local command
  while read -r command; do check "$command" shell "$command"; done < <(commands_of docs/building.md '^## Uninstall')
  check 'the Python package is gone' fails /usr/bin/python3 -c 'import gst_cudatensor'
  check 'the plugin is gone' fails gst-inspect-1.0 --exists cudanormalize
  check 'no file is left' none_left
}

read_readme
run_scripts
use_installation
uninstall
