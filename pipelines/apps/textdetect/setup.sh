# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by the scripts that run text-detect: installs its Python packages.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../../setup.sh"

# rapidocr-onnxruntime contains the model. The other wheels are its dependencies, with the wheel of
# OpenCV that needs no display.
text_detect_wheels=(rapidocr-onnxruntime==1.4.4 onnxruntime==1.22.1 numpy==2.2.6
  opencv-python-headless==4.12.0.88 pyclipper==1.3.0.post6 shapely==2.1.1 pyyaml==6.0.2
  pillow==11.3.0)

# need_text_detect: sets text_detect_python to a Python interpreter with all packages. Fails if they
# cannot be downloaded.
need_text_detect() {
  local version folder=$root
  need_packages python3 python3-gi gir1.2-gst-plugins-base-1.0
  version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') || return 1
  # A clone that cannot be written is built elsewhere, in $BUILD_DIR.
  [ -w "$root" ] || folder=${BUILD_DIR:-$root}
  local venv=$folder/build-text-detect-venv/$version
  need_wheels "$venv" "${text_detect_wheels[@]}" || return 1
  # shellcheck disable=SC2034  # used by scripts that source this file
  text_detect_python=$venv/bin/python
}
