# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the scripts beside it: builds the plugin and the applications in $BUILD_DIR (build/ of
# the repository) and lets GStreamer find them. $application is the one that is wanted.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

build=${BUILD_DIR:-$root/build}
# shellcheck disable=SC2034  # for those who source this
clip=$root/pipelines/media/pedestrians.webm

need_packages "${plugin_packages[@]}"
if [ ! -e "$build/build.ninja" ]; then
  echo "Building in $build"
elif [ ! -e "$build/${application:-pipelines/cameratotensor}" ]; then
  # It was set up for another application, or before all packages were there.
  quietly meson setup --reconfigure "${application_options[@]}" "$build" "$root"
fi
build_plugin "$build"
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
