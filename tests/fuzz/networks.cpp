// SPDX-License-Identifier: LGPL-2.1-or-later
#include "networks.h"

#include <glib/gstdio.h>

#include "gst/caps/flexibletensor.h"
#include "kernels/error.h"
#include "tests/elements/onnxgraph.h"
#include "tests/modelconfig/corpus.h"

namespace fuzz {
namespace {

using cudatensor::OnnxGraph;

/// The file, which is removed when the process ends.
class File {
 public:
  File() {
    const int file = g_file_open_tmp("fuzz-network-XXXXXX.onnx", &path_, nullptr);
    if (file < 0) g_error("a temporary file cannot be made");
    g_close(file, nullptr);
  }
  ~File() {
    g_unlink(path_);
    g_free(path_);
  }
  const char *path() const { return path_; }

 private:
  gchar *path_ = nullptr;
};

std::string model(Random &random) {
  using cudatensor::onnx_float;
  const int type =
      random.pick<int>({onnx_float, onnx_float, cudatensor::onnx_uint8, cudatensor::onnx_float16});
  const std::string batch = random.pick<std::string>({"1", "2", "batch", ""});
  const std::string height = random.pick<std::string>({"16", "h", "?"});
  const std::string width = random.pick<std::string>({"24", "w", "?"});
  const bool planar = random.one_in(2);
  const OnnxGraph::Axes axes = planar ? OnnxGraph::Axes{batch, "3", height, width}
                                      : OnnxGraph::Axes{batch, height, width, "3"};
  OnnxGraph graph;
  graph.input("x", type, axes).node("Identity", {"x"}, {"y"}).output("y", type, axes);
  if (random.one_in(2))
    graph.node("NonZero", {"x"}, {"positions"})
        .output("positions", cudatensor::onnx_int64, {"4", "found"});
  if (random.one_in(2))
    graph.node("Shape", {"x"}, {"shape"}).output("shape", cudatensor::onnx_int64, {"4"});
  return graph.model();
}

}  // namespace

std::string network_file(Run &run) {
  static const File file;
  std::string contents = model(run.random);
  if (!run.sane && run.random.one_in(3)) {
    cudatensor::RandomBits bits(run.random.bits());
    cudatensor::damage(bits, contents);
  }
  const auto size = static_cast<gssize>(contents.size());
  if (!g_file_set_contents(file.path(), contents.data(), size, nullptr))
    g_error("%s cannot be written", file.path());
  return file.path();
}

bool are_outputs(const GstCaps *caps) {
  return gst_structure_has_field(gst_caps_get_structure(caps, 0), "names");
}

void check_outputs(Run &run, GstBuffer *buffer, GstCaps *caps) {
  ++totals().outputs;
  try {
    const auto list = cudatensor::parse_tensor_list(gst_caps_get_structure(caps, 0));
    if (gst_buffer_n_memory(buffer) != list.count) run.finding("not one memory for each output");
    for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
      GstMapInfo map;
      if (!gst_memory_map(gst_buffer_peek_memory(buffer, i), &map, GST_MAP_READ))
        return run.finding("an output that cannot be mapped");
      if (list.is_flexible)
        cudatensor::read_flexible_header(map.data, map.size);
      else if (map.size != list.shapes[i].bytes())
        run.finding("an output of another size than its caps");
      gst_memory_unmap(map.memory, &map);
    }
  } catch (const cudatensor::Error &error) {
    run.finding(std::string("an output that is no list of tensors: ") + error.what());
  }
}

}  // namespace fuzz
