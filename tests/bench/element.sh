#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# element.sh [--build DIR] [--runtime DIR] [--cupti FILE] [--quick]
# What a frame costs beside its kernel, on this machine's GPU, as Markdown: CPU time and allocations
# of each element; frames a second of 1 to 8 NVDEC streams with and without cudanormalize; then, by
# CUPTI, calls to the driver and gaps on the GPU's timeline; and how long a full set of live frames
# takes through cudatensormux. Takes about two minutes.
#   --build DIR, --runtime DIR   as of tests/gpu.sh
#   --cupti FILE                 libcupti.so, where it is not in the CUDA toolkit
#   --quick                      one short round
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/gpu/build.sh

build='' runtime='' cupti='' quick=()
bad_usage() { sed -n '3,/^set/s/^# //p' tests/bench/element.sh >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=(--quick); shift; continue ;;
    --build | --runtime | --cupti) [ $# -gt 1 ] || bad_usage ;;
    *) bad_usage ;;
  esac
  case $1 in
    --build) build=$(realpath -e "$2") ;;
    --runtime) runtime=$(realpath -e "$2") ;;
    --cupti) cupti=$(realpath -e "$2") ;;
  esac
  shift 2
done

# find_cupti: in the toolkit
find_cupti() {
  local toolkit file
  toolkit=$(dirname "$(dirname "$(realpath "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")
  for file in "$toolkit"/extras/CUPTI/lib64/libcupti.so "$toolkit"/lib64/libcupti.so \
    "$toolkit"/targets/x86_64-linux/lib/libcupti.so; do
    [ ! -e "$file" ] || { echo "$file"; return; }
  done
}

if [ -z "$build" ]; then
  build=$root/build-gpu
  build_for_gpu "$build" \
    -Dgpu_architectures="$(nvidia-smi --id=0 --query-gpu=compute_cap --format=csv,noheader | tr -d .)"
fi
start=()
if [ -n "$runtime" ]; then
  export GST_CUDATENSOR_PLUGIN_DIR=$build/gst
  # shellcheck source=tests/gpu/env.sh
  . "$runtime/env.sh"
  start=("$runtime/bin/run-in")
else
  export GST_PLUGIN_PATH_1_0=$build/gst
fi
# A registry of its own: they remember that there was no driver. GLib until 2.74 has allocations of
# its own, which nobody can count.
registry=$(mktemp)
trap 'rm -f "$registry"' EXIT
export GST_REGISTRY=$registry G_SLICE=always-malloc
[ -n "$cupti" ] || cupti=$(find_cupti)

bench() { "${start[@]}" "$build/tests/bench/bench-element" "$@" "${quick[@]}"; }
clip=$root/pipelines/media/pedestrians-1080p.mp4

nvidia-smi --id=0 --query-gpu=name,driver_version --format=csv,noheader
gst-inspect-1.0 --version | grep -m 1 '^GStreamer'
printf '\nA frame of 1080p NV12 in CUDAMemory through an element\n'
bench alone
[ -z "$cupti" ] || bench alone --cupti "$cupti"
printf '\n%s by nvh264dec, over and over\n' "${clip##*/}"
bench streams --clip "$clip"
[ -z "$cupti" ] || bench streams --clip "$clip" --cupti "$cupti"
printf '\nA full set of live 1080p NV12 frames in CUDAMemory through cudatensormux\n'
"${start[@]}" "$build/tests/bench/bench-mux" cuda
