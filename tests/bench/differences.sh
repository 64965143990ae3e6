#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# differences.sh --deepstream DIR [--build DIR] [--runtime DIR]
# Compares DeepStream's pictures and tensors of the clip's frames with those of our elements and with
# float64, on this machine's GPU, and prints Markdown. Takes half a
# minute, 1 GB in the folder for temporary files, and NumPy.
#   --build DIR, --runtime DIR, --deepstream DIR   as for tests/gpu.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/gpu/machine.sh

build='' runtime='' deepstream=''
bad_usage() { sed -n '3,/^set/s/^# //p' tests/bench/differences.sh >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in --build | --runtime | --deepstream) [ $# -gt 1 ] || bad_usage ;; *) bad_usage ;; esac
  case $1 in
    --build) build=$(realpath -e "$2") ;;
    --runtime) runtime=$(realpath -e "$2") ;;
    --deepstream) deepstream=$(realpath -e "$2") ;;
  esac
  shift 2
done
[ -n "$deepstream" ] || bad_usage

need_gpu comparison
need_build "$build" "$runtime"
[ -n "$runtime" ] || export GST_PLUGIN_PATH_1_0=$build/gst
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
use_deepstream "$work"
export GST_REGISTRY=$work/registry.bin
python3 tests/bench/differences.py pipelines/media/pedestrians-1080p.mp4 "$work"
