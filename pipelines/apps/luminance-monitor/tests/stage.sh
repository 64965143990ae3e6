#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a step of a stage of run.sh, in its environment or root. count.py reads the logs of the tests.
#   stage.sh build NAME PLUGIN [MESON_OPTION...]    builds in build-NAME/ with the installed plugin, or with
#                                                   the clone's, which it installs in build-prefixPLUGIN/
#   stage.sh test NAME [OPTION...]                  runs the tests; the options are those of meson test
set -euo pipefail
cd "$(dirname "$0")"
. ../setup.sh

step=$1 name=$2
# shellcheck disable=SC2154  # app is set by setup.sh
build=$app/build-$name
shift 2
case $step in
  build)
    need_plugin "$1"
    if [ -e "$build/build.ninja" ]; then
      quietly meson setup --reconfigure "${@:2}" "$build" "$app"
    else
      quietly meson setup "${@:2}" "$build" "$app"
    fi
    quietly meson compile -C "$build" ;;
  test)
    # Most tests wait: for cameras, clocks and connections. With sanitizers, they need the cores.
    case $name in sanitized) at_once=2 ;; *) at_once=5 ;; esac
    meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 3 \
      --num-processes $((at_once * $(nproc))) "$@" ;;
esac
