// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/nvmm/deepstream.h"

#include "gst/util/log.h"
#include "gst/util/modulefunctions.h"
#include "gst/util/ref.h"

namespace cudatensor::nvmm {
namespace {

constexpr const char *kSurfaceLibrary = "libnvbufsurface.so";
constexpr const char *kMetaLibrary = "libnvdsgst_meta.so";
// DeepStream's plugins find their libraries by their own path, so the loader's search path need not
// contain the folder.
constexpr const char *kFolders[] = {"", "/opt/nvidia/deepstream/deepstream/lib/"};

GModule *open_resident(const char *name) {
  for (const char *folder : kFolders) {
    const Ref<gchar> path(g_strconcat(folder, name, nullptr));
    GModule *module = g_module_open(path.get(), G_MODULE_BIND_LAZY);
    if (module == nullptr) continue;
    g_module_make_resident(module);
    return module;
  }
  GST_INFO("%s: %s", name, g_module_error());
  return nullptr;
}

using GetBatchMeta = NvDsBatchMeta *(*)(GstBuffer *buffer);

GetBatchMeta find_get_batch_meta() {
  GetBatchMeta function = nullptr;
  GModule *module = open_resident(kMetaLibrary);
  if (module != nullptr) find(module, "gst_buffer_get_nvds_batch_meta", function);
  return function;
}

}  // namespace

bool is_installed() {
  static const bool installed = open_resident(kSurfaceLibrary) != nullptr;
  return installed;
}

bool is_jetson() {
  static const bool jetson = g_file_test("/etc/nv_tegra_release", G_FILE_TEST_EXISTS);
  return jetson;
}

void watch_installation(GstPlugin *plugin) {
  gst_plugin_add_dependency_simple(plugin, "LD_LIBRARY_PATH", kFolders[1], kSurfaceLibrary,
                                   GST_PLUGIN_DEPENDENCY_FLAG_NONE);
}

GType nvds_meta_api() { return g_type_from_name("NvDsMetaAPI"); }

NvDsBatchMeta *batch_meta_of(GstBuffer *buffer) {
  const GType api = nvds_meta_api();
  if (api == G_TYPE_INVALID || gst_buffer_get_meta(buffer, api) == nullptr) return nullptr;
  static const GetBatchMeta get = find_get_batch_meta();
  return get != nullptr ? get(buffer) : nullptr;
}

}  // namespace cudatensor::nvmm
