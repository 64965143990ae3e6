#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# luminance-monitor.sh [SOURCE...] [OPTION...]
# Monitors the luminance of cameras (/dev/video0), files and URIs. A web page at
# http://127.0.0.1:8080/ shows which of them are too dark, too bright, covered, frozen or
# flickering, and since when. Without SOURCE and --config, plays a short clip repeatedly. --help
# lists the options.
set -euo pipefail
mapfile -t monitor_packages <"$(dirname "${BASH_SOURCE[0]}")/luminance-monitor/packages"
application=pipelines/apps/luminance-monitor/luminance-monitor
# gstreamer1.0-libav decodes H.264 and H.265, which most cameras send.
application_packages=("${monitor_packages[@]}" gstreamer1.0-libav)
application_settings=(-Dmonitor=enabled)
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../plugin.sh"

[ $# -gt 0 ] || set -- --loop "$clip"
exec "$build/$application" "$@"
