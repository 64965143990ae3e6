# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the scripts that run on a machine with a GPU.
# shellcheck source=tests/gpu/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

# gpu FIELD: prints a field of nvidia-smi for the first GPU
gpu() { nvidia-smi --id=0 --query-gpu="$1" --format=csv,noheader; }

# need_gpu NAME: exits with an error if there is no GPU; NAME says what needs it.
need_gpu() {
  ! nvidia-smi -L 2>/dev/null | grep -q '^GPU 0' || return 0
  echo "nvidia-smi lists no GPU, so the $1 cannot run." >&2
  exit 1
}

# need_build BUILD RUNTIME: sets `build`, and `start`, the command that starts its programs. If
# BUILD is empty, builds for this GPU with the installed GStreamer. If RUNTIME is empty, programs
# use the installed GStreamer.
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
    # shellcheck disable=SC2034  # used by scripts that source this file
    start=("$2/bin/run-in")
  fi
}

# use_deepstream FOLDER: lets the plugin find the libraries in $deepstream, or those in $build that
# stand in for them, and lets GStreamer find DeepStream's plugins. These are linked into
# FOLDER/deepstream, because GStreamer must not scan a folder with copies of GLib. Call it after
# need_build.
# shellcheck disable=SC2154  # of the scripts that source this file
use_deepstream() {
  local libraries=$build/tests/elements/deepstream plugin
  if [ -n "$deepstream" ]; then
    libraries=$deepstream
    mkdir -p "$1/deepstream"
    for plugin in nvvideo4linux2 nvvideoconvert; do
      ln -sfn "$deepstream/libgst$plugin.so" "$1/deepstream/"
    done
    # GStreamer prefers the first of these variables.
    [ -z "${GST_PLUGIN_PATH_1_0:-}" ] || GST_PLUGIN_PATH_1_0+=:$1/deepstream
    export GST_PLUGIN_PATH=${GST_PLUGIN_PATH:+$GST_PLUGIN_PATH:}$1/deepstream
    export LIBV4L2_PLUGIN_DIR=$deepstream/v4l_plugins
    # decodebin would prefer it to all others, even if its surfaces cannot be used.
    export GST_PLUGIN_FEATURE_RANK=nvv4l2decoder:NONE CUDATENSOR_TEST_DEEPSTREAM=yes
  fi
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries
}

# shellcheck disable=SC2034  # used by scripts that source this file
# describe BUILD: sets `commit`, the commit of BUILD, and `machine`, a line about this GPU and
# BUILD.
describe() {
  local cuda=unknown
  commit=unknown
  [ ! -e "$1/origin" ] || { read -r commit && read -r cuda; } <"$1/origin"
  machine="$(gpu name), compute capability $(gpu compute_cap), driver $(gpu driver_version);"
  machine+=" built with CUDA $cuda"
}
