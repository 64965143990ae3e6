#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh [--fast]
# Installs what the tests need, then builds and tests the plugin in several ways, each in its own
# folder, build-STAGE/: for the CPU, as a wheel, with CUDA, on newer releases of GStreamer, with
# sanitizers.
# --fast: only the build for the CPU, without the tests that take half a minute or more. The last
# line is "N passed, N failed, N skipped".
set -euo pipefail
case ${1:-} in '' | --fast) ;; *) echo "usage: $0 [--fast]" >&2; exit 2 ;; esac
cd "$(dirname "$0")/.."
. pipelines/setup.sh
. tests/references.sh
. tests/ray.sh
. tests/sanitizers.sh

fast=${1:-}
passed=0 failed=0 skipped=0
failures=()  # names of failed stages, for the summary

# The command that runs the steps of a stage, for another system or environment.
within=()

# Options of meson test for all tests of a stage except those that mostly wait.
choice=()

# The tests that mostly wait leave the cores idle. They run in the background, while the next stages
# are built and tested at a lower priority. The applications of one stage follow those of another,
# because some count frames per second.
waiting=() roots_pid=''
declare -A waiting_pid=() checks_pid=() checks_start=()
locks=$(mktemp -d)
trap 'kill $roots_pid ${waiting_pid[*]} "${checks_pid[@]}" 2>/dev/null || true; rm -r "$locks"' EXIT

# count_tests STAGE: counts the tests whose logs are in build-STAGE/
count_tests() {
  local p f s count line
  mapfile -t count < <(python3 tests/count.py "build-$1/meson-logs")
  read -r p f s <<<"${count[0]}"
  for line in "${count[@]:1}"; do failures+=("$1: $line"); done
  printf '%s: %d passed, %d failed, %d skipped\n' "$1" "$p" "$f" "$s"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# finish_stage STAGE: waits for its tests in the background, and counts all its tests.
finish_stage() {
  # shellcheck disable=SC2086  # two numbers
  wait ${waiting_pid[$1]} || true
  unset "waiting_pid[$1]"
  printf '\n== %s: applications\n' "$1"
  cat "build-$1"/{applications,workers}.log
  count_tests "$1"
}

# finish_stages: waits for the tests in the background.
finish_stages() {
  local name
  for name in "${waiting[@]}"; do finish_stage "$name"; done
}

# wait_in_background STAGE [OPTION...]: starts a stage's tests that mostly wait
wait_in_background() {
  local name=$1 dir=$root/build-$1
  shift
  "${within[@]}" tests/stage.sh workers "$dir" "$@" >"$dir/workers.log" 2>&1 &
  waiting_pid[$name]=$!
  flock --close "$locks/apps" "${within[@]}" tests/stage.sh apps "$dir" "$@" \
    >"$dir/applications.log" 2>&1 &
  waiting_pid[$name]+=" $!"
  waiting+=("$name")
}

# stage NAME [MESON_OPTION...]
stage() {
  local name=$1 dir=$root/build-$1 start=$SECONDS quick=()
  shift
  [ -z "$fast" ] || quick=(--no-suite long)
  printf '\n== %s: %s\n' "$name" "$*"
  mkdir -p "$dir/meson-logs"
  rm -f "$dir"/meson-logs/testlog*
  if nice "${within[@]}" tests/stage.sh build "$dir" "$@"; then
    printf '%s is built, %d s\n' "$name" $((SECONDS - start))
    nice "${within[@]}" tests/stage.sh test "$dir" "${quick[@]}" "${choice[@]}" || true
    printf '%s, %d s without the applications\n' "$name" $((SECONDS - start))
    wait_in_background "$name" "${quick[@]}"
  else
    count_tests "$name"
  fi
}

# skip WHAT WHY
skip() {
  printf '\n== %s: skipped, %s\n' "$1" "$2"
  skipped=$((skipped + 1))
}

# need_gstcuda: installs libgstcuda, and unpacks its headers in build-gstcuda/ if they are not
# installed, because their package depends on OpenCV's. Fails if there are none.
need_gstcuda() {
  local dir=$root/build-gstcuda
  need_packages libgstreamer-plugins-bad1.0-0
  if pkg-config --exists gstreamer-cuda-1.0 || [ -e "$dir/usr" ]; then return; fi
  mkdir -p "$dir"
  (cd "$dir" && quietly apt-get -q -o APT::Sandbox::User=root download \
    libgstreamer-plugins-bad1.0-dev) && dpkg -x "$dir"/*.deb "$dir"
}

# need_numpy: downloads a NumPy that supports DLPack 1.0 to build-numpy/. Fails if it cannot be
# downloaded.
need_numpy() {
  need_wheels "$root/build-numpy" numpy==2.2.6 || return 1
  CUDATENSOR_TEST_NUMPY=$(echo "$root"/build-numpy/lib/python3*/site-packages)
  export CUDATENSOR_TEST_NUMPY
}

# Builds for one GPU architecture, because others differ only in ptxas's output for the same PTX.
# Without a GPU, tests of other suites behave as in the build without CUDA.
cuda_stage() {
  local choice=(--suite kernels --suite elements --suite interop)
  local within=(env CUDATENSOR_TEST_CASES=5) options=(-Dgpu=enabled -Dgpu_architectures=75
    -Dapplications=disabled)
  if ! need_gstcuda; then
    skip 'the headers of libgstcuda' 'they cannot be fetched'
  elif [ -e build-gstcuda/usr ]; then
    options+=("-Dgstcuda_headers=$root/build-gstcuda/usr/include")
  fi
  stage cuda "${options[@]}"
}

# make_roots: makes the roots of newer releases in the background. This mostly waits for the mirror,
# and for dpkg, which uses one core. Their stages report failures.
make_roots() {
  nice sh -c 'tests/newer.sh true; tests/newer.sh --debian forky true' >/dev/null 2>&1 &
  roots_pid=$!
}

# Runs the tests that depend on GStreamer, without CUDA, whose compiler takes as long as all others.
newer_stage() {
  local within=(tests/newer.sh env CUDATENSOR_TEST_CASES=25)
  wait "$roots_pid" || true
  roots_pid=
  need_survey || skip "the survey of Transformers' classes" 'it cannot be fetched'
  if "${within[@]}" true; then
    stage newer -Dgpu=disabled -Dtests=gstreamer
  else
    skip newer 'for the reason above'
  fi
}

# The newest GStreamer release in Debian: detections and batches use its metas. The applications do
# not use them, and decoders and documents are tested with the previous release.
newest_stage() {
  local choice=(--no-suite docs --no-suite frames)
  local within=(tests/newer.sh --debian forky env CUDATENSOR_TEST_CASES=25)
  if "${within[@]}" true; then
    stage newest -Dgpu=disabled -Dtests=gstreamer -Dapplications=disabled
  else
    skip newest 'for the reason above'
  fi
}

# The documents' pipelines run without sanitizers in another stage.
sanitized_stage() {
  local choice=(--no-suite docs) within=("${sanitizers_env[@]}")
  stage sanitized "${sanitizers_options[@]}"
}

# count_checks NAME LOG: counts the checks that a script with tests/packaging/checks.sh has printed
count_checks() {
  local line name=$1 log=$2 p=0 f=0 s=0
  read -r p f s < <(tail -n 1 "$log" |
    sed -En 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p') || f=1
  while read -r line; do failures+=("$name: $line"); done < <(sed -n 's/^not ok //p' "$log")
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# begin_checks NAME COMMAND...: runs a script with tests/packaging/checks.sh in the background, one
# after the other, because it uses one core or waits for apt
begin_checks() {
  local name=$1
  shift
  nice flock --close "$locks/checks" "$@" >"build-cpu/$name.log" 2>&1 &
  checks_pid[$name]=$! checks_start[$name]=$SECONDS
}

finish_checks() {
  local name=$1
  wait "${checks_pid[$name]}" || true
  unset "checks_pid[$name]"
  printf '\n== %s\n' "$name"
  cat "build-cpu/$name.log"
  count_checks "$name" "build-cpu/$name.log"
  printf '%s, within %d s\n' "$name" $((SECONDS - checks_start[$name]))
}

# Meson compiles through ccache. Paths are relative to this clone, so objects of other clones are
# reused.
need_compiler_cache() {
  need_packages ccache
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_DIR=${CCACHE_DIR:-${HOME:-/root}/.cache/ccache}
  mkdir -p "$CCACHE_DIR"
}

need_packages "${plugin_packages[@]}" abigail-tools libgtest-dev libdlpack-dev universal-ctags valgrind \
  python3 python3-gi python3-numpy python3-venv gir1.2-gst-plugins-base-1.0 \
  gir1.2-gst-rtsp-server-1.0 libgirepository1.0-dev gi-docgen \
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav
need_compiler_cache
need_numpy || skip 'a newer NumPy' 'it cannot be fetched'
need_ray || skip Ray 'it cannot be fetched'
[ -n "$fast" ] || need_ffmpeg || skip FFmpeg 'it cannot be fetched'
[ -n "$fast" ] || need_references || skip 'the preprocessing of other projects' 'it cannot be fetched'

[ -n "$fast" ] || make_roots
stage cpu -Dgpu=disabled
if [ -z "$fast" ]; then
  # The wheel without CUDA, beside the system's GStreamer and in a bare root.
  begin_checks wheel tests/packaging/wheel.sh build-cpu
  # The first steps of a new user.
  begin_checks firsthour tests/firsthour.sh --short bookworm
  newer_stage
  sanitized_stage
  newest_stage
  if need_nvcc; then cuda_stage; else skip cuda 'there is no nvcc'; fi
  finish_checks wheel
  finish_checks firsthour
fi
finish_stages

if [ "${#failures[@]}" -gt 0 ]; then
  printf '\n== failed\n'
  printf '%s\n' "${failures[@]}"
fi
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
