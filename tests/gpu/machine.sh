# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by what runs on a machine with a GPU.
# shellcheck source=tests/gpu/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

# gpu FIELD: of the first GPU
gpu() { nvidia-smi --id=0 --query-gpu="$1" --format=csv,noheader; }

# need_gpu WHAT: ends the script where there is no GPU.
need_gpu() {
  ! nvidia-smi -L 2>/dev/null | grep -q '^GPU 0' || return 0
  echo "There is no GPU here, says nvidia-smi: nothing is $1." >&2
  exit 1
}

# need_build BUILD RUNTIME: sets `build`, and `start`, what its programs are started by. Where BUILD
# is empty it builds, for this GPU and with the GStreamer that is here. RUNTIME may be empty, too.
need_build() {
  build=$1 start=()
  if [ -z "$build" ]; then
    build=$root/build-gpu
    build_for_gpu "$build" -Dgpu_architectures="$(gpu compute_cap | tr -d .)"
  fi
  if [ -n "$2" ]; then
    export GST_CUDATENSOR_PLUGIN_DIR=$build/gst
    # shellcheck source=tests/gpu/env.sh
    . "$2/env.sh"
    # shellcheck disable=SC2034  # for those who source this
    start=("$2/bin/run-in")
  fi
}

# shellcheck disable=SC2034  # for those who source this
# describe BUILD: sets `commit`, that BUILD is of, and `machine`, a line on this GPU and BUILD.
describe() {
  local cuda=unknown
  commit=unknown
  [ ! -e "$1/origin" ] || { read -r commit && read -r cuda; } <"$1/origin"
  machine="$(gpu name), compute capability $(gpu compute_cap), driver $(gpu driver_version);"
  machine+=" built with CUDA $cuda"
}
