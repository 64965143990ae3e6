#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# bare.sh RELEASE WHEEL BUILD_DIR
# Tests the wheel in a root of Debian RELEASE that has Python with venv and nothing else,
# build-bare-RELEASE-root/. The tensors are compared with those of the plugin in BUILD_DIR and the
# GStreamer of this machine. Needs root; exits with 125 if such a root cannot be made.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: $0 RELEASE WHEEL BUILD_DIR" >&2; exit 2; }
suite=$1 wheel=$(realpath "$2") build=$(realpath "$3")
cd "$(dirname "$0")/../.."
. pipelines/setup.sh
. tests/roots.sh
. tests/packaging/checks.sh

base=$root/build-bare-$suite-root clips=$root/build-clips

in_root() {
  chroot "$base" /usr/bin/env -i --chdir=/try HOME=/root LANG=C.UTF-8 \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin timeout 600 "$@"
}

# The first clip is decoded even if nothing can be written, not even a temporary file.
works_read_only() {
  mount -o remount,bind,ro "$base" && mount -o remount,bind,ro "$base/dev" || return
  fails in_root venv/bin/python -c 'import tempfile; tempfile.gettempdir()' &&
    diff <(head -n 1 "$base/try/expected") \
      <(in_root venv/bin/python tests/packaging/decode.py "$(head -n 1 "$base/try/sources")")
}

if [ "${BARE_ENTERED:-}" = yes ]; then
  mount --bind "$base" "$base"
  show "$base" /proc /dev
  ip link set lo up 2>/dev/null || true
  in_root bash tests/packaging/inside.sh
  check 'nothing can be written' works_read_only
  exit
fi

check_rights
need_root "$suite" "$base" 'python3 python3-venv'
need_packages openssl gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav
tests/packaging/clips.sh "$clips"
rm -rf "$base/try"
mkdir -p "$base/try/tests"
cp pipelines/media/pedestrians{.webm,-1080p.mp4} "$clips"/* "$base/try/"
printf '%s\n' pedestrians.webm pedestrians-1080p.mp4 >"$base/try/sources"
ls "$clips" >>"$base/try/sources"
cp -r tests/packaging "$base/try/tests/"
cp "$wheel" "$base/try/"
quietly openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 \
  -addext subjectAltName=IP:127.0.0.1 -keyout "$base/try/key.pem" -out "$base/try/certificate.pem"
cat "$base/try/certificate.pem" "$base/try/key.pem" >"$base/try/certificate-key.pem"

mapfile -t sources <"$base/try/sources"
decode=$PWD/tests/packaging/decode.py
# Only FFmpeg decodes MPEG-1 and -2 in the wheel.
(cd "$base/try" && PYTHONPATH=$root/gst/python GST_PLUGIN_PATH=$build/gst \
  GST_CUDATENSOR_LIBRARY=$build/gst/library/libgstcudatensor-1.0.so.0 \
  GST_PLUGIN_FEATURE_RANK=mpeg2dec:NONE /usr/bin/python3 "$decode" "${sources[@]}" >expected)
BARE_ENTERED=yes exec unshare --mount --propagation private -- "$0" "$suite" "$wheel" "$build"
