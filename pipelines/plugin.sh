# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the scripts in this folder, with their arguments: answers --help, builds the plugin and the
# applications in $BUILD_DIR (default: build-scripts/ in the repository) and makes GStreamer find the plugin.
# $application is the program to run, empty for one in Python; $application_packages are its additional
# packages, and $application_settings its Meson options.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

build=${BUILD_DIR:-$root/build-scripts}
application=${application-pipelines/cameratotensor}
[ -v application_packages ] || application_packages=()
[ ! -v application_settings ] || application_options+=("${application_settings[@]}")
# shellcheck disable=SC2034  # used by scripts that source this file
clip=$root/pipelines/media/pedestrians.webm

stop() { echo "${0##*/}: $*" >&2; exit 1; }

# check_arguments ARGUMENT...: ends the script for --help, and for an empty argument, which comes from an
# unset variable of the caller.
check_arguments() {
  local argument
  for argument; do
    case $argument in
      -h | --help)
        sed -n '3,/^[^#]/ s/^# \{0,1\}//p' "$0"
        # The program may have more options.
        [ -z "$application" ] || [ ! -x "$build/$application" ] ||
          { echo && exec "$build/$application" --help; }
        exit 0 ;;
      '') stop 'an argument is empty' ;;
    esac
  done
}

# check_writable: ends the script, before it installs anything, if it cannot write to the build folder. A part
# of the folder may belong to root after a call with sudo.
check_writable() {
  local denied
  if mkdir -p "$build" 2>/dev/null; then
    denied=$(find "$build" ! -type l ! -writable -print -quit 2>&1)
  else
    denied=$build
  fi
  [ -z "$denied" ] ||
    stop "cannot write to $denied: use a clone of your own, or set BUILD_DIR to a folder of your own"
}

# split_arguments ARGUMENT...: sets source, png and options to [SOURCE [PNG]] [OPTION...]. The default of
# source is the clip; png keeps its value by default.
# shellcheck disable=SC2034  # used by scripts that source this file
split_arguments() {
  source=$clip options=()
  case ${1:--} in -*) ;; *) source=$1; shift ;; esac
  case ${1:--} in -*) ;; *) png=$1; shift ;; esac
  options=("$@")
}

# need_decoders SOURCE...: installs decoders for the sources, unless these are WebM clips of this repository.
# If that fails, installed decoders may suffice.
need_decoders() {
  local source packages=()
  for source; do
    case $source in
      "$clip" | -*) continue ;;
      *.ts | *.m2ts | *.mts | *.mpg | *.mpeg | *.vob | *.mxf | *.h264 | *.264 | *.h265 | *.265 | *.hevc)
        packages+=(gstreamer1.0-plugins-bad) ;;
    esac
    packages+=(gstreamer1.0-libav)
  done
  (need_packages "${packages[@]}") || true
}

check_arguments "$@"
check_writable
need_packages "${plugin_packages[@]}" "${application_packages[@]}"
if [ ! -e "$build/build.ninja" ]; then
  echo "Building in $build (about three minutes on two cores)"
elif [ ! -e "$build/$application" ]; then
  # The build folder was set up for another application, or before all packages were installed.
  echo "Building ${application##*/} in $build (up to three minutes on two cores)"
  quietly meson setup --reconfigure "${application_options[@]}" "$build" "$root"
fi
build_plugin "$build"
[ -e "$build/$application" ] ||
  stop "the build in $build does not include ${application##*/}: remove the folder to rebuild it"
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
