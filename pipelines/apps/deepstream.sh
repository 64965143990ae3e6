#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# deepstream.sh [FILE|URI... [--streammux] [--tensor=PROPERTIES] [--batches=N] [--decoder=ELEMENT]]
# Decodes files or streams with DeepStream's nvv4l2decoder, combines the surfaces into batches
# without copying a frame, and passes them to a thread as DLPack tensors. The default is twice a
# short clip. Prints what each slot of a batch holds. --help lists all options.
set -euo pipefail
application=pipelines/deepstream/deepstream
application_packages=(gstreamer1.0-plugins-bad)
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../plugin.sh"

for argument; do
  case $argument in -*) ;; *) exec "$build/$application" "$@" ;; esac
done
clip=$root/pipelines/media/pedestrians-1080p.mp4
exec "$build/$application" "$clip" "$clip" "$@"
