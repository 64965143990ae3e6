# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the scripts that run faces: installs its Python packages.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../../setup.sh"

# mtcnn-runtime contains the detector (Apache-2.0), which needs onnxruntime and OpenCV. Pillow draws.
# scikit-image and Matplotlib contain a portrait each, in the public domain, and Matplotlib a font; neither
# is imported.
faces_wheels=(mtcnn-runtime==1.0.0 onnxruntime==1.22.1 numpy==2.2.6
  opencv-python-headless==4.12.0.88 pillow==11.3.0 scikit-image==0.25.2 matplotlib==3.10.8)

# need_faces: sets faces_python to a Python interpreter with all packages. Fails if they cannot be
# downloaded.
need_faces() {
  local version folder=$root
  need_packages python3 python3-gi gir1.2-gst-plugins-base-1.0
  version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') || return 1
  # A clone that cannot be written is built elsewhere, in $BUILD_DIR.
  [ -w "$root" ] || folder=${BUILD_DIR:-$root}
  local venv=$folder/build-faces-venv/$version
  need_wheels "$venv" "${faces_wheels[@]}" || return 1
  # shellcheck disable=SC2034  # used by scripts that source this file
  faces_python=$venv/bin/python
}
