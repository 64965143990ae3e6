// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/inferencesettings.h"

#include "gst/util/ref.h"

namespace cudatensor {
namespace {

using Table = Properties<InferenceSettings>;

void add_network_properties(Table &t) {
  using S = InferenceSettings;
  t.add(until_ready(string_property(
            "model", "Model", "File of the network, in ONNX's format; it is read from READY on")),
        Effect::renegotiates, [](S &s) -> std::string & { return s.model; });
  t.add(until_ready(string_list_property(
            "outputs", "Outputs",
            "Names of the network's outputs that are sent, in this order (default: all, in the "
            "network's order)")),
        Effect::renegotiates, [](S &s) -> std::vector<std::string> & { return s.outputs; });
  t.add(bool_property("warm-up", "Warm-up",
                      "Run the network once on zeros before the first buffer after new caps, so "
                      "that ONNX Runtime's preparations do not delay that buffer",
                      true),
        Effect::next_frame, [](S &s) -> bool & { return s.warm_up; });
}

void add_runtime_properties(Table &t) {
  using S = InferenceSettings;
  t.add(until_ready(enum_property("provider", "Provider",
                                  "ONNX Runtime's execution provider that runs the network",
                                  provider_get_type(), static_cast<int>(Provider::automatic))),
        Effect::next_frame, [](S &s) -> Provider & { return s.provider; });
  t.add(until_ready(string_property(
            "library", "Library",
            "File of ONNX Runtime's library, 1.17 or newer; empty = GST_CUDATENSOR_ONNXRUNTIME of "
            "the environment, otherwise the one that the system or Python's package has")),
        Effect::next_frame, [](S &s) -> std::string & { return s.library; });
  t.add(until_ready(int_property("cuda-device-id", "CUDA device id",
                                 "Index of the GPU that CUDA and TensorRT use; -1 = the first one",
                                 -1, G_MAXINT, -1)),
        Effect::next_frame, [](S &s) -> int & { return s.device; });
  t.add(until_ready(uint_property("n-threads", "Threads",
                                  "Number of CPU threads of ONNX Runtime; 0 = one per core", 0,
                                  1024, 0)),
        Effect::next_frame, [](S &s) -> guint & { return s.threads; });
  t.add(until_ready(string_property("cache-dir", "Cache folder",
                                    "Folder for what TensorRT and OpenVINO compile; empty = "
                                    "gst-cudatensor in the user's cache folder")),
        Effect::next_frame, [](S &s) -> std::string & { return s.cache; });
}

}  // namespace

std::string InferenceSettings::cache_folder() const {
  if (!cache.empty()) return cache;
  const Ref<gchar> folder(g_build_filename(g_get_user_cache_dir(), "gst-cudatensor", nullptr));
  return folder.get();
}

const Properties<InferenceSettings> &inference_properties() {
  static const Table &table = immortal([] {
    Table t;
    add_network_properties(t);
    add_runtime_properties(t);
    return t;
  });
  return table;
}

}  // namespace cudatensor
