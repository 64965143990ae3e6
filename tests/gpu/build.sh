# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the scripts that build or run tests for a GPU.
# shellcheck source=pipelines/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../pipelines/setup.sh"

# still_clip FILE: writes a minute of video of one picture. The encoder makes each frame slightly
# different.
still_clip() {
  [ ! -e "$1" ] || return 0
  quietly gst-launch-1.0 filesrc location="$root/pipelines/media/pedestrians-1080p.mp4" ! \
    decodebin ! videoconvert ! videoscale ! video/x-raw,format=I420,width=640,height=360 ! \
    imagefreeze num-buffers=1500 ! video/x-raw,framerate=25/1 ! \
    x264enc bitrate=300 tune=zerolatency speed-preset=ultrafast ! h264parse ! mp4mux ! \
    filesink location="$1.part" && mv "$1.part" "$1"
}

# build_for_gpu BUILD_DIR [MESON_OPTION...]: builds the plugin, its tests and the benchmarks, and
# installs missing packages. If that fails, the script exits.
build_for_gpu() {
  local dir=$1 bench more=()
  # Packages that luminance-monitor needs, if it is built.
  [[ " $* " != *' -Dmonitor=enabled '* ]] || mapfile -t more <"$root/pipelines/apps/luminance-monitor/packages"
  need_packages "${plugin_packages[@]}" "${more[@]}" libgtest-dev libdlpack-dev python3 \
    libgstreamer-plugins-bad1.0-0 gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly
  need_nvcc || { echo 'nvcc was not found and could not be installed.' >&2; exit 1; }
  build_plugin "$@" -Dgpu=enabled || exit 1
  for bench in tests/bench/bench-{gpu,element,mux}; do
    ! ninja -C "$dir" -t query "$bench" >/dev/null 2>&1 || quietly ninja -C "$dir" "$bench" || exit 1
  done
  still_clip "$dir/still.mp4" || exit 1
  {
    echo "${COMMIT:-$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)}"
    nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'
  } >"$dir/origin"
}

# test_programs BUILD_DIR FOLDER: prints the paths of the programs in tests/FOLDER, in BUILD_DIR
test_programs() {
  (cd "$1" && find "tests/$2" -maxdepth 1 -type f -executable ! -name '*.so' | sort)
}
