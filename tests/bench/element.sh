#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# element.sh [--build DIR] [--runtime DIR] [--deepstream DIR] [--cupti FILE] [--quick]
# Measures the overhead of a frame besides its kernel, on this machine's GPU, and prints Markdown:
# - CPU time and allocations of each element
# - frames per second of 1 to 8 NVDEC streams, with and without cudanormalize
# - frames per second, CPU time and work of the GPU from the decoders of GStreamer and, if it is
#   installed, of DeepStream to a tensor, 1 and 8 streams
# - calls to the driver and gaps on the GPU's timeline, if CUPTI is found
# - the time that a complete set of live frames takes through cudatensormux
# This takes about three minutes.
#   --build DIR, --runtime DIR, --deepstream DIR   as for tests/gpu.sh
#   --cupti FILE                 path of libcupti.so, if it is not in the CUDA toolkit
#   --quick                      measure one short round
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/gpu/machine.sh

build='' runtime='' deepstream='' cupti='' quick=()
bad_usage() { sed -n '3,/^set/s/^# //p' tests/bench/element.sh >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=(--quick); shift; continue ;;
    --build | --runtime | --deepstream | --cupti) [ $# -gt 1 ] || bad_usage ;;
    *) bad_usage ;;
  esac
  case $1 in
    --build) build=$(realpath -e "$2") ;;
    --runtime) runtime=$(realpath -e "$2") ;;
    --deepstream) deepstream=$(realpath -e "$2") ;;
    --cupti) cupti=$(realpath -e "$2") ;;
  esac
  shift 2
done

# find_cupti: prints the path of libcupti.so in the CUDA toolkit
find_cupti() {
  local toolkit file
  toolkit=$(dirname "$(dirname "$(realpath "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")
  for file in "$toolkit"/extras/CUPTI/lib64/libcupti.so "$toolkit"/lib64/libcupti.so \
    "$toolkit"/targets/x86_64-linux/lib/libcupti.so; do
    [ ! -e "$file" ] || { echo "$file"; return; }
  done
}

need_build "$build" "$runtime"
[ -n "$runtime" ] || export GST_PLUGIN_PATH_1_0=$build/gst
plugins=$(mktemp -d)
use_deepstream "$plugins"
# A separate registry, because a registry stores that there was no driver. GLib up to 2.74 has its
# own allocator, whose allocations cannot be counted.
registry=$(mktemp)
trap 'rm -rf "$registry" "$plugins"' EXIT
export GST_REGISTRY=$registry G_SLICE=always-malloc
[ -n "$cupti" ] || cupti=$(find_cupti)

bench() { "${start[@]}" "$build/tests/bench/bench-element" "$@" "${quick[@]}"; }
clip=$root/pipelines/media/pedestrians-1080p.mp4

nvidia-smi --id=0 --query-gpu=name,driver_version --format=csv,noheader
gst-inspect-1.0 --version | grep -m 1 '^GStreamer'
printf '\nOne frame of 1080p NV12 in CUDAMemory through an element\n'
bench alone
[ -z "$cupti" ] || bench alone --cupti "$cupti"
printf '\nnvh264dec decodes %s repeatedly\n' "${clip##*/}"
bench streams --clip "$clip"
[ -z "$cupti" ] || bench streams --clip "$clip" --cupti "$cupti"
printf '\nFrom the clip to a tensor, with the decoders of GStreamer and of DeepStream\n'
bench chains --clip "$clip"
[ -z "$cupti" ] || bench chains --clip "$clip" --cupti "$cupti"
printf '\nA complete set of live 1080p NV12 frames in CUDAMemory through cudatensormux\n'
"${start[@]}" "$build/tests/bench/bench-mux" cuda
