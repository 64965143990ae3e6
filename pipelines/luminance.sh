#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# luminance.sh [SOURCE [--interval=MILLISECONDS] [--timeout=SECONDS]]
# Prints the luminance of a camera (/dev/video0, until Ctrl-C), a file or a URI. The default SOURCE
# is a short clip of pedestrians. Prints a line for each half second: the histogram from black to
# white, its mean, percentiles 1 and 99, and the shares of black and of white pixels. Fails if no
# frame arrives for SECONDS (15; 0: no limit).
set -euo pipefail
application=pipelines/luminance
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"

case ${1:--} in -*) set -- "$clip" "$@" ;; esac
need_decoders "$1"
exec "$build/$application" "$@"
