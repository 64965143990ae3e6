# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154  # app is set by setup.sh
# Sourced after roots.sh: fetches programs and schemas that check the files for deployment, each into its own
# folder. Each function fails if that is not possible.

# fetch_package PACKAGE DIR [OPTION...]: unpacks a Debian package in DIR. To install it would start services,
# or require other packages. The options are those of apt-get.
fetch_package() {
  local package=$1 dir=$2
  shift 2
  [ ! -e "$dir/usr/share/doc/$package" ] || return 0
  mkdir -p "$dir"
  (cd "$dir" && quietly apt-get -q -o APT::Sandbox::User=root "$@" download "$package") &&
    dpkg -x "$dir/$package"_*.deb "$dir"
}

# need_prometheus: uses Prometheus and Alertmanager's amtool in PATH, or fetches Debian's to
# build-prometheus/
need_prometheus() {
  local dir=$app/build-prometheus
  if command -v prometheus && command -v promtool && command -v amtool; then return; fi >/dev/null
  fetch_package prometheus "$dir" && fetch_package prometheus-alertmanager "$dir" || return 1
  export PATH=$dir/usr/bin:$PATH
}

# need_kubectl: uses the kubectl in PATH if it supports kustomize's components, or fetches Debian 13's to
# build-kubectl/. Debian 12's does not support them; Debian 13's also runs on Debian 12.
need_kubectl() {
  local dir=$app/build-kubectl options mirror
  ! kubectl version --client 2>/dev/null | grep -Eq 'v1\.(2[1-9]|[3-9][0-9])\.' || return 0
  if [ ! -x "$dir/usr/bin/kubectl" ]; then
    mkdir -p "$dir/lists/partial" "$dir/cache"
    (find_mirror && echo "deb $mirror trixie main" >"$dir/sources.list") || return 1
    options=(-o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null
      -o Dir::State::Lists="$dir/lists" -o Dir::State::Status=/dev/null -o Dir::Cache="$dir/cache"
      -o Acquire::Languages=none)
    quietly apt-get -q "${options[@]}" -o APT::Sandbox::User=root update &&
      fetch_package kubectl "$dir" "${options[@]}" || return 1
  fi
  export PATH=$dir/usr/bin:$PATH
}

# need_schemas: downloads the schemas of Kubernetes and of the Prometheus Operator
need_schemas() {
  need_wheels "$app/build-kubernetes" kubernetes-validate==1.37.0 jsonschema==4.26.0 \
    jsonschema-specifications==2025.9.1 referencing==0.37.0 rpds-py==2026.9.1 attrs==26.1.0 \
    importlib_resources==7.1.0 packaging==26.3 PyYAML==6.0.3 cloudcoil==0.6.0 \
    cloudcoil.models.prometheus_operator==0.80.1.0 pydantic==2.14.3 pydantic_core==2.50.4 \
    annotated-types==0.8.0 typing-inspection==0.4.5 typing_extensions==4.16.0 || return 1
  LUMINANCE_TEST_KUBERNETES=$(echo "$app"/build-kubernetes/lib/python3*/site-packages)
  export LUMINANCE_TEST_KUBERNETES
}
