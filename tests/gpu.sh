#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# gpu.sh [--build DIR] [--runtime DIR] [--deepstream DIR] [--report FILE] [--stages LIST] [--quick]
# Runs all tests on this machine's GPU, then the benchmarks. Builds first, for this GPU and with the
# installed GStreamer, or uses the folders that tests/gpu/pack created on another machine:
#   --build DIR     folder with the plugin and the test programs
#   --runtime DIR   folder with GStreamer
#   --deepstream DIR  folder with DeepStream's libraries and plugins, as in the folder _libs of the
#                   wheel nvidia-deepstream-videodecode-cu13; without it, stand-ins of the tests
#                   replace them, and tests that need its decoder are skipped
#   --report FILE   Markdown file with a section for each release of GStreamer, in which the stages
#                   of this run are replaced (default: tests/gpu-report.md)
#   --stages LIST   run only these stages, from kernels,elements,sanitizers,bench
#   --quick         skip tests that need gigabytes; run one sanitizer, and few rounds of benchmarks
# The last line is "N passed, N failed, N skipped". The programs' output is in build-gpu-results/.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/gpu/machine.sh

build='' runtime='' deepstream='' report=$root/tests/gpu-report.md quick=''
stages=kernels,elements,sanitizers,bench
monitor=pipelines/apps/luminance-monitor
results=$root/build-gpu-results
bad_usage() { sed -n '3,/^set/s/^# //p' "$root/tests/gpu.sh" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=yes; shift; continue ;;
    --build | --runtime | --deepstream | --report | --stages) [ $# -gt 1 ] || bad_usage ;;
    *) bad_usage ;;
  esac
  case $1 in
    --build) build=$(realpath -e "$2") ;;
    --runtime) runtime=$(realpath -e "$2") ;;
    --deepstream) deepstream=$(realpath -e "$2") ;;
    --report) report=$(realpath -m "$2") ;;
    --stages)
      stages=$2
      ! grep -qvxE 'kernels|elements|sanitizers|bench' <<<"${stages//,/$'\n'}" || bad_usage ;;
  esac
  shift 2
done

# Sanitizers are slow, so they run every kernel at the edges of pictures, and few random cases.
# racecheck runs only kernels whose threads share memory.
sanitizer_filter='CudaEdges*:CudaInFlight*:CudaCopy*:*.VideoFrames/cuda'
race_filter='CudaEdgesTest.Histogram:CudaEdgesAlignmentTest.SumsOfHistograms'
race_filter+=':CudaInFlightTest.HistogramsOnTwoStreams'
race_filter+=':HistogramTest.EveryFrameIsCountedAnew/cuda'
sanitizer_programs=(equivalence cudamemory regions cudainterop nvmm nvmmbatches)
# Sanitizers serialize the work, so tests that need delayed work are left out.
declare -A sanitizer_filters=([cudainterop]='*Hundred*:*Outlive*:*IsTheDevices*')

# Lets GStreamer find the plugin. The registry is separate, because a registry stores that there was
# no driver.
prepare() {
  need_build "$build" "$runtime"
  [ -n "$runtime" ] || export GST_PLUGIN_PATH_1_0=$build/gst
  use_deepstream "$results"
  export GST_REGISTRY=$results/registry.bin CK_FORK=no CK_DEFAULT_TIMEOUT=300
  export G_DEBUG=fatal-criticals CUDATENSOR_TEST_CLIP=$root/pipelines/media/pedestrians-1080p.mp4
  export CUDATENSOR_TEST_RAMP=$root/tests/elements/media/ramp-10bit.h265
}

# Writes the descriptions for the report.
write_description() {
  describe "$build"
  gst-inspect-1.0 --version | grep -m 1 '^GStreamer' >"$results/release"
  echo "$commit" >"$results/commit"
  echo "$machine" >"$results/machine"
}

# check STAGE NAME SECONDS COMMAND...: runs COMMAND and writes its output and exit status to the
# results.
check() {
  local at=$results/$1/$2 seconds=$3 begin=$SECONDS status=0
  shift 3
  timeout -k 10 "$seconds" "$@" >"$at.log" 2>&1 </dev/null || status=$?
  echo "$status" >"$at.status"
  if [ "$status" -ne 0 ]; then
    printf -- '--- %s: exit status %d; the last lines of its output:\n' "${at##*/}" "$status"
    tail -n 60 "$at.log"
    echo '---'
  fi
  printf '%s: %d s\n' "${at##*/}" $((SECONDS - begin))
}

# cases STAGE NAME SECONDS COMMAND...: check() for a program that uses GoogleTest
cases() {
  GTEST_OUTPUT=xml:$results/$1/$2.xml check "$@"
}

kernels_stage() {
  local settings=(CUDATENSOR_TEST_LARGE=1)
  [ -z "$quick" ] || settings=(GTEST_FILTER='-*/cpu')
  cases kernels kernels-test 900 env "${settings[@]}" "${start[@]}" \
    "$build/tests/kernels/kernels-test"
}

# Runs the tests of the elements on the CPU and on the GPU, and those that need a GPU once.
elements_stage() {
  local program name backend
  for program in $(test_programs "$build" elements); do
    name=${program##*/}
    for backend in cpu cuda; do
      case $name-$backend in
        elements-cuda*-cpu | elements-nvdec-cpu | elements-gstcudaabi-cuda) continue ;;
      esac
      cases elements "$name-$backend" 300 env CUDATENSOR_TEST_BACKEND=$backend "${start[@]}" \
        "$build/$program"
    done
  done
  # Built with -Dmonitor=enabled.
  [ ! -x "$build/$monitor/luminance-monitor" ] ||
    check elements luminance-monitor 300 python3 "$monitor/tests/gpu.py" "$CUDATENSOR_TEST_CLIP" \
      "$build/still.mp4" "${start[@]}" "$build/$monitor/luminance-monitor"
  python_checks
}

# Tests tensors in PyTorch and CuPy, if $CUDATENSOR_TORCH_PYTHON (default: python3) has them.
python_checks() {
  local python run
  if ! python=$(command -v "${CUDATENSOR_TORCH_PYTHON:-python3}") || ! "$python" -c 'import torch'; then
    echo 'PyTorch is not installed' >"$results/elements/pytorch.skipped"
    return
  fi
  run=(env PYTHONPATH="$root/gst/python"
    GST_CUDATENSOR_LIBRARY="$build/gst/library/libgstcudatensor-1.0.so.0" "${start[@]}" "$python")
  check elements frames 300 "${run[@]}" tests/gpu/frames.py "$CUDATENSOR_TEST_CLIP"
  check elements consumers 300 "${run[@]}" tests/interop/consumers.py gpu
  check elements pytorch 300 "${run[@]}" tests/gpu/pytorch.py "$CUDATENSOR_TEST_CLIP" \
    "$results/elements/pytorch.png"
}

sanitizers_stage() {
  local kinds=(memcheck racecheck initcheck synccheck) kind program tool filter
  if ! tool=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer); then
    echo 'compute-sanitizer was not found' >"$results/sanitizers/compute-sanitizer.skipped"
    return
  fi
  sanitizer=("$tool" --error-exitcode 1 --target-processes all --tool)
  [ -z "$quick" ] || kinds=(memcheck)
  for kind in "${kinds[@]}"; do
    filter=$sanitizer_filter
    [ "$kind" != racecheck ] || filter=$race_filter
    cases sanitizers "$kind-kernels" 400 "${sanitizer[@]}" "$kind" "${start[@]}" \
      "$build/tests/kernels/kernels-test" --gtest_filter="$filter"
    # racecheck would take minutes for extreme ratios.
    filter='CudaFilterTest.*'
    [ "$kind" != racecheck ] || filter+='-*.ExtremeRatios'
    cases sanitizers "$kind-filters" 400 env CUDATENSOR_TEST_CASES=2 "${sanitizer[@]}" "$kind" \
      "${start[@]}" "$build/tests/kernels/kernels-test" --gtest_filter="$filter"
  done
  for program in "${sanitizer_programs[@]}"; do
    [ ! -e "$build/tests/elements/elements-$program" ] ||
      cases sanitizers "memcheck-elements-$program" 400 "${sanitizer[@]}" memcheck "${start[@]}" \
        "$build/tests/elements/elements-$program" --gtest_filter="${sanitizer_filters[$program]:-*}"
  done
}

# Writes tables for the report.
bench_stage() {
  local kernels=(tests/bench/gpu.sh --quick --build "$build")
  [ -z "$runtime" ] || kernels+=(--runtime "$runtime")
  [ ! -x "$build/tests/bench/bench-gpu" ] || check bench bench-gpu 400 "${kernels[@]}"
  check bench nvdec 300 python3 tests/bench/nvdec.py "$CUDATENSOR_TEST_CLIP" ${quick:+--rounds 1}
}

need_gpu tests
rm -rf "$results"
mkdir "$results"
prepare
write_description
for stage in ${stages//,/ }; do
  printf '\n== %s\n' "$stage"
  mkdir "$results/$stage"
  begin=$SECONDS
  "${stage}_stage"
  echo $((SECONDS - begin)) >"$results/$stage/seconds"
  python3 tests/gpu/report.py "$results/$stage"
done
echo
python3 tests/gpu/report.py "$results" "$report"
