#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh [--fast | --all]
# Installs the packages that the tests of luminance-monitor need, then builds and tests it with the
# installed gst-cudatensor or, if there is none, with the clone that has this folder. Every stage has its
# own folder, build-STAGE/:
#   plain       all tests
#   image       the container image, with the program of the plain stage
#   sanitized   the tests with AddressSanitizer and UBSan
#   newer       the tests on Debian 13
# The last two run if the monitor, or the headers of gst-cudatensor, differ from the commit that report.md
# names, and with --all.
# --fast: only the plain stage, without the tests that take half a minute or more.
# --all: all stages; if all tests pass and the files are those of a commit, writes report.md.
# The last line is "N passed, N failed, N skipped".
set -euo pipefail
mode=${1:-}
case $mode in '' | --fast | --all) ;; *) echo "usage: $0 [--fast | --all]" >&2; exit 2 ;; esac
cd "$(dirname "$0")"
. ../setup.sh
. ./roots.sh
. ./tools.sh
. ./report.sh

passed=0 failed=0 skipped=0
failures=()  # names of failed tests, for the summary
declare -A results=()  # by stage: passed, failed, skipped, seconds

# The command that runs the steps of a stage, for another system or environment.
within=()

# The tests leave the cores idle. They run in the background, while the next stage is built.
waiting='' waiting_pid='' image_pid=''
trap '[ -z "$waiting" ] || kill "$waiting_pid"; [ -z "$image_pid" ] || kill "$image_pid"' EXIT

# count STAGE SECONDS: counts the tests whose logs are in build-STAGE/
count() {
  local p f s line lines
  mapfile -t lines < <(python3 count.py "$app/build-$1/meson-logs")
  read -r p f s <<<"${lines[0]}"
  for line in "${lines[@]:1}"; do failures+=("$1: $line"); done
  printf '%s, %d s: %d passed, %d failed, %d skipped\n' "$1" "$2" "$p" "$f" "$s"
  results[$1]="$p $f $s $2"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# finish_stage: waits for the tests in the background, and counts them.
finish_stage() {
  local name=$waiting
  [ -n "$name" ] || return 0
  waiting=
  wait "$waiting_pid" || true
  printf '\n== %s\n' "$name"
  cat "$app/build-$name/tests.log"
  count "$name" $((SECONDS - waiting_start))
}

# stage NAME SUFFIX [MESON_OPTION...]: builds a stage, then starts its tests in the background. The plugin's
# folders have the SUFFIX.
stage() {
  local name=$1 start=$SECONDS choice=() logs=$app/build-$1/meson-logs
  [ "$mode" != --fast ] || choice=(--no-suite long)
  printf '\n== %s: %s\n' "$name" "${*:3}"
  mkdir -p "$logs"
  rm -f "$logs"/testlog*
  if nice "${within[@]}" ./stage.sh build "$name" "${@:2}"; then
    printf '%s is built, %d s\n' "$name" $((SECONDS - start))
    finish_stage
    "${within[@]}" ./stage.sh test "$name" "${choice[@]}" >"$app/build-$name/tests.log" 2>&1 &
  else
    finish_stage
    echo "$name does not build" | tee "$app/build-$name/tests.log" &
  fi
  waiting=$name waiting_start=$start waiting_pid=$!
}

# skip WHAT WHY
skip() {
  printf '\n== %s: skipped, %s\n' "$1" "$2"
  skipped=$((skipped + 1))
}

sanitized_stage() {
  # The plugin scanner is a program without the sanitizers' run-time library, so it is not forked. An
  # allocation that is too large fails as it does without a sanitizer.
  local within=(env GST_REGISTRY_FORK=no
    ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1:allocator_may_return_null=1
    LSAN_OPTIONS="suppressions=$PWD/lsan.supp:print_suppressions=0"
    UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1)
  stage sanitized '' -Doptimization=1 -Ddebug=true -Dcpp_args=-g1 -Db_lundef=false \
    -Db_sanitize=address,undefined
}

newer_stage() {
  local within=(./newer.sh)
  if "${within[@]}" true; then
    stage newer -newer
  else
    skip newer 'for the reason above'
  fi
}

# Starts the test of the image in the background. The image has the program of the plain stage.
begin_image() {
  local plugin
  plugin=$(plugin_build)
  if [ ! -e "$plugin/build.ninja" ]; then
    skip image 'gst-cudatensor is not built here'
    return
  fi
  nice ./image.sh --built "$plugin" "$app/build-plain" >"$app/build-plain/image.log" 2>&1 &
  image_pid=$!
}

finish_image() {
  local line p=0 f=0 s=0 log=$app/build-plain/image.log
  [ -n "$image_pid" ] || return 0
  wait "$image_pid" || true
  image_pid=
  printf '\n== image\n'
  cat "$log"
  read -r p f s < <(tail -n 1 "$log" |
    sed -En 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p') || f=1
  while read -r line; do failures+=("image: $line"); done < <(sed -n 's/^not ok //p' "$log")
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# Meson compiles through ccache. Paths are relative to this clone, so objects of other clones are reused.
need_compiler_cache() {
  export CCACHE_BASEDIR=$clone CCACHE_NOHASHDIR=1 CCACHE_DIR=${CCACHE_DIR:-${HOME:-/root}/.cache/ccache}
  mkdir -p "$CCACHE_DIR"
}

need_packages "${build_packages[@]}" "${test_packages[@]}" "${browser_packages[@]}"
need_compiler_cache
need_prometheus || skip Prometheus 'it cannot be fetched'
need_kubectl || skip kubectl 'it cannot be fetched'
need_schemas || skip 'the schemas of Kubernetes' 'they cannot be fetched'

stage plain ''
if [ "$mode" != --fast ]; then
  begin_image
  if [ "$mode" = --all ] || differs_from_report; then
    sanitized_stage
    newer_stage
  elif [ -e "$report" ]; then
    printf '\nThe sanitized and newer stages have passed at %s, and nothing that they test differs.\n' \
      "$(reported_commit)"
  else
    printf '\nThe sanitized and newer stages have not passed yet: no report.md. --all runs them.\n'
  fi
  finish_image
fi
finish_stage

if [ "${#failures[@]}" -gt 0 ]; then
  printf '\n== failed\n'
  printf '%s\n' "${failures[@]}"
elif [ "$mode" = --all ] && [ "$failed" -eq 0 ]; then
  write_report
fi
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
