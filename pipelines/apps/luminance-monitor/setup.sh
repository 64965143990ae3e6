# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2034  # used by scripts that source this file
# Sourced by the scripts of luminance-monitor, on Debian: installs the packages that its build needs, and
# builds gst-cudatensor if that is not installed.

app=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The clone of gst-cudatensor that has this folder as pipelines/apps/luminance-monitor/. Only this line
# depends on that layout.
clone=$(cd "$app/../../.." && pwd)

# Dependencies of the monitor besides GStreamer and gst-cudatensor. Scripts of the clone read the list, too.
mapfile -t monitor_packages <"$app/packages"
build_packages=(g++ meson ninja-build pkg-config libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
  gstreamer1.0-plugins-base gstreamer1.0-plugins-good "${monitor_packages[@]}")
# Further packages that the build of the plugin needs.
plugin_packages=(libhwy-dev libtbb-dev libyaml-dev)
test_packages=(ccache git libgtest-dev universal-ctags python3 python3-gi python3-numpy python3-venv
  gstreamer1.0-tools gir1.2-gst-plugins-base-1.0 gir1.2-gst-rtsp-server-1.0
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav
  python3-aiosmtpd mosquitto mosquitto-clients systemd groff-base)
browser_packages=(chromium chromium-driver python3-selenium)

# quietly COMMAND...: shows the output only of a command that fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# apt_get ARGUMENT...: runs apt-get as root. Waits while another process holds a lock of apt or dpkg, as
# apt-get itself does for dpkg's alone. Shows the output only if apt-get fails.
apt_get() {
  local log status=0 as_root=() end=$((SECONDS + 1800))
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  log=$(mktemp)
  until "${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1 </dev/null; do
    if [ "$SECONDS" -gt "$end" ] || ! grep -q '^E: Could not get lock' "$log"; then
      status=1
      cat "$log" >&2
      break
    fi
    sleep 2
  done
  rm -f "$log"
  return "$status"
}

# need_packages PACKAGE...: installs missing Debian packages. If that fails, the script exits.
need_packages() {
  local package missing=()
  for package; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "There is no apt-get: install the equivalents of these Debian packages: ${missing[*]}" >&2
    exit 1
  fi
  echo "Installing ${missing[*]}"
  apt_get update || exit 1
  apt_get -y --no-install-recommends install "${missing[@]}" || exit 1
}

# need_wheels VENV WHEEL...: makes a virtual environment with these wheels, without their dependencies, and
# with access to the system's Python packages. Fails if the wheels cannot be downloaded.
need_wheels() {
  local venv=$1
  shift
  if [ "$(cat "$venv/wheels" 2>/dev/null)" = "$*" ]; then return; fi
  echo "Downloading $1 to ${venv#"$app/"}"
  quietly /usr/bin/python3 -m venv --clear --system-site-packages "$venv" &&
    quietly "$venv/bin/pip" --disable-pip-version-check --retries 2 install --no-deps \
      --ignore-installed --ignore-requires-python "$@" &&
    echo "$*" >"$venv/wheels"
}

# build_plugin BUILD_DIR PREFIX: builds the plugin of the clone, without CUDA, and
# installs it in PREFIX.
build_plugin() {
  local build=$1 prefix=$2
  [ -e "$clone/gst/library/gstcudatensor.h" ] || {
    echo "pkg-config finds no gstcudatensor-1.0: install gst-cudatensor, or run this in a clone of it." >&2
    return 1
  }
  [ -e "$build/build.ninja" ] ||
    quietly meson setup --prefix="$prefix" --libdir=lib -Dplugin_dir="$prefix/lib/gstreamer-1.0" \
      -Dgpu=disabled -Dtests=false -Dapplications=disabled -Dpython_package=disabled \
      -Dintrospection=disabled "$build" "$clone" || return 1
  quietly meson install -C "$build" --tags runtime,devel
}

# plugin_build [SUFFIX]: prints the build folder of the clone's plugin. It is in the clone's root, because
# ccache finds objects by the path from the build folder to the sources.
plugin_build() { echo "$clone/build-plugin${1:-}"; }

# need_plugin [SUFFIX]: lets pkg-config find gstcudatensor-1.0: the installed one, or the clone's, which it
# builds and installs in build-prefixSUFFIX/. Fails if the build fails.
need_plugin() {
  local prefix=$app/build-prefix${1:-}
  ! pkg-config --exists gstcudatensor-1.0 || return 0
  need_packages "${plugin_packages[@]}"
  build_plugin "$(plugin_build "${1:-}")" "$prefix" || return 1
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
}
