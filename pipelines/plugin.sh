# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the scripts in this folder: builds the plugin and the applications in $BUILD_DIR
# (default: build/ in the repository) and lets GStreamer find the plugin. $application is the
# program to run.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

build=${BUILD_DIR:-$root/build}
# shellcheck disable=SC2034  # used by scripts that source this file
clip=$root/pipelines/media/pedestrians.webm

need_packages "${plugin_packages[@]}"
if [ ! -e "$build/build.ninja" ]; then
  echo "Building in $build"
elif [ ! -e "$build/${application:-pipelines/cameratotensor}" ]; then
  # The build folder was set up for another application, or before all packages were installed.
  quietly meson setup --reconfigure "${application_options[@]}" "$build" "$root"
fi
build_plugin "$build"
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
