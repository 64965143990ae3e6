# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by what builds luminance-monitor: names the Debian packages that it takes beyond those of
# the plugin.

# shellcheck disable=SC2034  # for those who source this
monitor_packages=(libmicrohttpd-dev libgnutls28-dev nlohmann-json3-dev prometheus-cpp-dev
  libcli11-dev libsqlite3-dev libtomlplusplus-dev libyaml-cpp-dev
  libcurl4-openssl-dev libmosquitto-dev)
