#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wheel.sh BUILD_DIR [WHEEL [RELEASE...]]
# Tests a wheel of packaging/wheel.sh: beside the system's GStreamer, and in bare roots of Debian, by
# default bookworm. Without WHEEL, it builds one without CUDA in build-wheel-cpu/. The tensors are
# compared with those of the plugin in BUILD_DIR. The last line is "N passed, N failed, N skipped".
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 BUILD_DIR [WHEEL [RELEASE...]]" >&2; exit 2; }
cd "$(dirname "$0")/../.."
. pipelines/setup.sh
. tests/packaging/checks.sh
build=$(realpath "$1") wheel=${2:-} releases=("${@:3}")
[ ${#releases[@]} -gt 0 ] || releases=(bookworm)
venv=$root/build-wheel-venv
clip=pipelines/media/pedestrians-1080p.mp4

from_system() { GST_CUDATENSOR_SYSTEM=1 "$venv/bin/python" -m gst_cudatensor; }
from_build() {
  LD_LIBRARY_PATH=$build/gst/library GST_PLUGIN_PATH=$build/gst from_system | grep 'of the system'
}

# A build with tests reads CUDATENSOR_FAULT; the wheel must not.
no_call_can_be_made_to_fail() {
  local found
  grep -rq CUDATENSOR_FAULT "$build/gst"
  found=$(grep -rl CUDATENSOR_FAULT "$venv"/lib/python3*/site-packages/gst_cudatensor) || [ $? -eq 1 ]
  [ -z "$found" ]
}

# check.py must find a library that the SBOM of the wheel does not name.
finds_what_the_sbom_lacks() {
  local dir file=gst_cudatensor/runtime/lib/libunnamed.so
  dir=$(mktemp -d)
  cp "$wheel" "$dir/"
  python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "a").write(*sys.argv[2:])' \
    "$dir"/*.whl "$build/gst/libgstcudatensor.so" "$file"
  PATH=$root/build-wheel-tools/bin:$PATH fails python packaging/wheel/check.py "$dir"/*.whl 100 >"$dir/report"
  grep "^the SBOM does not name $file$" "$dir/report" || { cat "$dir/report"; return 1; }
  rm -r "$dir"
}

beside_the_system() {
  need_packages python3-venv python3-gi gir1.2-gst-plugins-base-1.0 gstreamer1.0-libav
  quietly /usr/bin/python3 -m venv --clear --system-site-packages "$venv"
  quietly "$venv/bin/pip" --disable-pip-version-check install --no-index --no-deps --ignore-installed "$wheel"
  check 'PyGObject before the package' timeout 120 "$venv/bin/python" tests/packaging/coexist.py before "$clip"
  check 'PyGObject after the package' timeout 120 "$venv/bin/python" tests/packaging/coexist.py after "$clip"
  check 'GST_CUDATENSOR_SYSTEM=1 with a library of the system' from_build
  check 'no injected faults' no_call_can_be_made_to_fail
  check 'pip installs the SBOM' ls "$venv"/lib/python3*/site-packages/gst_*.dist-info/sboms/*.cdx.json
}

# in_root RELEASE: tests in a bare root
in_root() {
  local status=0
  printf 'A bare root of %s\n' "$1"
  tests/packaging/bare.sh "$1" "$wheel" "$build" || status=$?
  case $status in
    0) ;;
    125) echo "skipped: there is no root of $1" ;;
    *) echo "not ok bare.sh $1 ends with $status" ;;
  esac
}

# packaging/wheel.sh checks the wheel's guarantees when it builds it.
wheel() {
  local release
  . /etc/os-release
  if [ -z "$wheel" ] && [ "${VERSION_CODENAME:-}" != bookworm ]; then
    echo 'skipped: the wheel is built on Debian 12'
    return
  fi
  [ -n "$wheel" ] || packaging/wheel.sh build-wheel-cpu -Dgpu=disabled
  wheel=${wheel:-$(echo build-wheel-cpu/wheel/*.whl)}
  if [ -e "$root/build-wheel-tools" ]; then
    check 'a library that is not in the SBOM is found' finds_what_the_sbom_lacks
  else
    echo 'skipped: the tools of packaging/wheel.sh are not installed'
  fi
  beside_the_system
  for release in "${releases[@]}"; do in_root "$release"; done
}

counted wheel
