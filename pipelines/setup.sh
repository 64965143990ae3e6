# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by scripts that must work on a fresh machine: installs missing packages and builds the
# plugin. Sourced again, it changes nothing.

! declare -F build_plugin >/dev/null || return 0
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# shellcheck disable=SC2034  # used by scripts that source this file
plugin_packages=(g++ meson ninja-build pkg-config libgstreamer1.0-dev
  libgstreamer-plugins-base1.0-dev libhwy-dev libtbb-dev libcairo2-dev libdlpack-dev
  nlohmann-json3-dev libyaml-dev
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good)

# CUDA's compiler as Python wheels, for machines without a CUDA toolkit.
nvcc_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
  nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85)

# quietly COMMAND...: shows the output only of a command that fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

declare -A modules=(  # pkg-config modules by Debian package
  [libgstreamer1.0-dev]='gstreamer-1.0 gstreamer-base-1.0 gstreamer-check-1.0'
  [libgstreamer-plugins-base1.0-dev]='gstreamer-video-1.0 gstreamer-app-1.0'
  [libhwy-dev]=libhwy [libtbb-dev]=tbb [libcairo2-dev]=cairo [libgtest-dev]=gtest
  [libmicrohttpd-dev]=libmicrohttpd [libgnutls28-dev]=gnutls [libsqlite3-dev]=sqlite3
  [nlohmann-json3-dev]=nlohmann_json [prometheus-cpp-dev]=prometheus-cpp-core [libcli11-dev]=CLI11
  [libtomlplusplus-dev]=tomlplusplus
  [libyaml-dev]=yaml-0.1
  [libgirepository1.0-dev]=gobject-introspection-1.0)

# provided PACKAGE: whether the programs or libraries that this project needs from a Debian package
# are installed. Works on any distribution.
provided() {
  case $1 in
    ninja-build) command -v ninja ;;
    gstreamer1.0-tools) command -v gst-launch-1.0 && command -v gst-inspect-1.0 ;;
    gstreamer1.0-plugins-base) gst-inspect-1.0 --exists videoconvert ;;
    gstreamer1.0-plugins-good) gst-inspect-1.0 --exists matroskademux ;;
    gstreamer1.0-x) gst-inspect-1.0 --exists ximagesink ;;
    gstreamer1.0-plugins-bad) gst-inspect-1.0 --exists h264parse ;;
    python3-gi) python3 -c 'import gi' ;;
    gir1.2-gst-plugins-base-1.0) python3 -c 'import gi; gi.require_version("GstVideo", "1.0")' ;;
    python3-venv) python3 -c 'import ensurepip' ;;
    chromium-driver) command -v chromedriver ;;
    python3-selenium) /usr/bin/python3 -c 'import selenium' ;;
    python3-numpy) /usr/bin/python3 -c 'import numpy' ;;
    libdlpack-dev) echo '#include <dlpack/dlpack.h>' | g++ -fsyntax-only -x c++ - ;;
    libgstreamer-plugins-bad1.0-0) python3 -c 'import ctypes; ctypes.CDLL("libgstcuda-1.0.so.0")' ;;
    gstreamer1.0-plugins-ugly) gst-inspect-1.0 --exists x264enc ;;
    abigail-tools) command -v abidw ;;
    groff-base) command -v groff ;;
    gstreamer1.0-libav) gst-inspect-1.0 --exists avdec_h264 ;;
    *)
      if [ -n "${modules[$1]:-}" ]; then
        pkg-config --exists "${modules[$1]}"
      else
        command -v "$1"
      fi
      ;;
  esac >/dev/null 2>&1
}

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] || provided "$1"
}

# apt_get ARGUMENT...: runs apt-get as root. While another process holds a lock of apt or dpkg,
# prints a message and waits; apt-get itself would fail. Shows the output only if apt-get fails.
apt_get() {
  local log status as_root=() said='' end=$((SECONDS + 1800))
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  log=$(mktemp)
  while :; do
    status=0
    "${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -q "$@" \
      >"$log" 2>&1 </dev/null || status=$?
    if [ "$status" -eq 0 ] || [ "$SECONDS" -gt "$end" ] ||
      ! grep -q '^E: Could not get lock' "$log"; then break; fi
    [ -n "$said" ] || sed -En '/^E: Could not get lock/ {
      s/^E: Could not get lock ([^ ]*[^ .])\.?/Waiting for another process that uses apt: \1/p; q }' "$log"
    said=1
    sleep 2
  done
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# need_packages PACKAGE...: installs missing Debian packages. If that fails, the script exits.
need_packages() {
  local package missing=() as_root=()
  for package; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  if ! command -v apt-get >/dev/null || ! command -v "${as_root[@]:-true}" >/dev/null; then
    echo "Install these missing packages (Debian names), then run the script again:" >&2
    for package in "${missing[@]}"; do
      echo "  $package${modules[$package]:+ (pkg-config: ${modules[$package]})}" >&2
    done
    exit 1
  fi
  echo "Installing ${missing[*]} (one to five minutes)"
  apt_get update || exit 1
  apt_get -y --no-install-recommends install "${missing[@]}" || exit 1
}

# need_wheels VENV WHEEL...: creates a virtual environment with access to the system's Python
# packages and installs these wheels without their dependencies. Fails if they cannot be downloaded.
need_wheels() {
  local venv=$1 python=/usr/bin/python3
  shift
  if [ "$(cat "$venv/wheels" 2>/dev/null)" = "$*" ]; then return; fi

  need_packages python3 python3-venv
  [ -x "$python" ] || python=python3  # Debian's Python has the bindings; another one in PATH may not
  echo "Downloading $1 to ${venv#"$root/"} (about a minute)"
  quietly "$python" -m venv --clear --system-site-packages "$venv" &&
    quietly "$venv/bin/pip" --disable-pip-version-check --retries 2 install --no-deps \
      --ignore-installed --ignore-requires-python "$@" &&
    echo "$*" >"$venv/wheels"
}

# need_nvcc: adds a CUDA compiler to PATH, the installed one or one in build-nvcc/. Fails if there
# is none and it cannot be downloaded.
need_nvcc() {
  local venv=$root/build-nvcc cuda
  if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
    export PATH=/usr/local/cuda/bin:$PATH
  fi
  ! command -v nvcc >/dev/null || return 0

  need_wheels "$venv" "${nvcc_wheels[@]}" || return 1
  cuda=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)
  ln -sfn lib "$cuda/lib64" || return 1  # nvcc links with lib64
  export PATH=$cuda/bin:$PATH CUDA_PATH=$cuda
}

# The Meson options for these scripts: applications, but no tests. luminance-monitor adds its own.
application_options=(-Dapplications=enabled)

# gpu_options: prints the Meson option for CUDA code for this machine's GPU only; code for all GPUs takes
# minutes to compile.
gpu_options() {
  if nvidia-smi -L 2>/dev/null | grep -q '^GPU '; then
    echo -Dgpu_architectures=native
  elif [ "$(uname -m)" = x86_64 ]; then
    echo -Dgpu=disabled
  fi
}

# build_plugin BUILD_DIR [MESON_OPTION...]: builds the plugin and all other default targets.
# Without options, an existing build keeps its options, and a new one has the applications but no
# tests, and CUDA code for this machine.
build_plugin() {
  local dir=$1 setup=(meson setup)
  local options=("${@:2}")
  if [ -e "$dir/build.ninja" ]; then
    setup+=(--reconfigure)
  elif [ ${#options[@]} -eq 0 ]; then
    mapfile -t options < <(gpu_options)
    options+=(-Dtests=false "${application_options[@]}")
  fi
  if [ ${#options[@]} -gt 0 ]; then
    quietly "${setup[@]}" "${options[@]}" "$dir" "$root" || return 1
  fi
  quietly meson compile -C "$dir"
}
