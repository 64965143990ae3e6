# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# To be sourced by bash from a folder that tests/gpu/pack created. Programs then find the GStreamer
# in that folder, and the plugins in $GST_CUDATENSOR_PLUGIN_DIR.

GST_BUNDLE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
export GST_BUNDLE PATH=$GST_BUNDLE/bin:$PATH

# gst_driver_dir: prints the folder of the NVIDIA driver's libraries.
gst_driver_dir() {
  local dir
  for dir in /usr/local/nvidia/lib64 "$(dirname "$( (ldconfig -p || /sbin/ldconfig -p) 2>/dev/null |
    sed -n 's/.*libcuda\.so\.1 (.*x86-64.*=> //p' | head -n 1)")" /usr/lib/x86_64-linux-gnu \
    /usr/lib64 /usr/lib/wsl/lib; do
    [ ! -e "$dir/libcuda.so.1" ] || { echo "$dir"; return; }
  done
}
GST_BUNDLE_DRIVER_DIR=$(gst_driver_dir)
export GST_BUNDLE_DRIVER_DIR

unset GST_PLUGIN_PATH_1_0 GST_PLUGIN_SYSTEM_PATH_1_0 GST_REGISTRY_1_0 GST_PLUGIN_SCANNER
export GST_PLUGIN_PATH=$GST_BUNDLE/plugins${GST_CUDATENSOR_PLUGIN_DIR:+:$GST_CUDATENSOR_PLUGIN_DIR}
export GST_PLUGIN_SYSTEM_PATH=$GST_BUNDLE/none  # no plugins of the machine
GST_REGISTRY=${TMPDIR:-/tmp}/gst-bundle-$(id -u).registry
export GST_REGISTRY GST_REGISTRY_FORK=no  # the folder has no plugin scanner
