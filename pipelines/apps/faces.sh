#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# faces.sh [SOURCE] [OPTION...]
# Finds the faces in a picture, and aligns them in cudanormalize as networks that recognize faces expect
# them: upright, with the eyes, the nose and the mouth at the places of ArcFace's template. SOURCE is a
# picture, a video, a URI or a camera (/dev/video0), of which the first frame with a face is taken; the
# default is a table with prints of two portraits.
# Prints for each face its score, the degrees by which it is turned clockwise, its scale, and how far its
# landmarks lie from the template. Writes a contact sheet: the picture and the aligned faces.
#   --output FILE      write the contact sheet to this .jpg or .png (build-scripts/faces.png)
#   --start SECONDS    position in a file at which to start
#   --timeout SECONDS  fail if SOURCE sends no frame for this time (15; 0: no limit)
set -euo pipefail
application=
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../plugin.sh"
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/faces/setup.sh"

need_decoders "$@"
need_faces || stop 'cannot download its Python packages'
export PYTHONPATH=$root/gst/python${PYTHONPATH:+:$PYTHONPATH}
export GST_CUDATENSOR_LIBRARY=$build/gst/library/libgstcudatensor-1.0.so.0
BUILD_DIR=$build exec "$faces_python" "$root/pipelines/apps/faces" "$@"
