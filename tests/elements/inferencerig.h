// SPDX-License-Identifier: LGPL-2.1-or-later
// cudainference under test, and networks for it. Tests are skipped if there is no ONNX Runtime.
#pragma once

#include <string>
#include <vector>

#include "onnxgraph.h"
#include "rig.h"
#include "tests/modelconfig/files.h"

namespace cudatensor {

/// Returns the caps of one float32 tensor, or of another type.
inline std::string tensor_caps_text(const std::string &dimensions,
                                    const std::string &type = "float32") {
  return "other/tensors,format=static,num_tensors=1,types=" + type + ",dimensions=(string)" +
         dimensions + ",framerate=30/1";
}

template <class T>
BufferRef buffer_of_numbers(const std::vector<T> &numbers) {
  const gsize size = numbers.size() * sizeof(T);
  BufferRef buffer(gst_buffer_new_allocate(nullptr, size, nullptr));
  gst_buffer_fill(buffer.get(), 0, numbers.data(), size);
  return buffer;
}

/// Returns the numbers in a memory of a buffer, after `skipped` bytes.
template <class T>
std::vector<T> numbers_in(GstBuffer *buffer, guint memory = 0, gsize skipped = 0) {
  GstMapInfo map;
  EXPECT_GT(gst_buffer_n_memory(buffer), memory);
  if (gst_buffer_n_memory(buffer) <= memory) return {};
  GstMemory *mapped = gst_buffer_peek_memory(buffer, memory);
  EXPECT_TRUE(gst_memory_map(mapped, &map, GST_MAP_READ));
  std::vector<T> numbers((map.size - skipped) / sizeof(T));
  if (!numbers.empty()) memcpy(numbers.data(), map.data + skipped, numbers.size() * sizeof(T));
  gst_memory_unmap(mapped, &map);
  return numbers;
}

/// Returns random numbers that float16 also has.
inline std::vector<float> random_numbers(Random &random, size_t count) {
  std::vector<float> numbers;
  for (size_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<float>(random.integer(-64, 64)) / 8.0f);
  return numbers;
}

/// Starts an element by itself. Returns the errors.
inline std::vector<ElementError> errors_of_start(const std::string &description) {
  Messages messages;
  const ElementRef element = make_element(description);
  gst_element_set_bus(element.get(), messages.bus());
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  std::vector<ElementError> errors = messages.errors();
  EXPECT_EQ(property_of(element.get(), "active-provider") == "auto", !errors.empty());
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
  return errors;
}

class InferenceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string model = folder_.write("identity.onnx", identity({"1", "3", "2", "2"}));
    for (const ElementError &error : errors_of_start("cudainference model=" + model))
      if (mentions(error.text, "library is not found")) GTEST_SKIP() << error.text;
  }

  static std::string identity(const OnnxGraph::Axes &axes, int type = onnx_float) {
    return OnnxGraph()
        .input("x", type, axes)
        .output("y", type, axes)
        .node("Identity", {"x"}, {"y"})
        .model();
  }

  /// y = 2·x + 1, and the mean of each channel.
  static std::string two_outputs(const OnnxGraph::Axes &axes) {
    return OnnxGraph()
        .constant("two", {2})
        .constant("one", {1})
        .input("images", onnx_float, axes)
        .node("Mul", {"images", "two"}, {"doubled"})
        .node("Add", {"doubled", "one"}, {"scaled"})
        .node("GlobalAveragePool", {"images"}, {"means"})
        .output("scaled", onnx_float, axes)
        .output("means", onnx_float, {axes[0], axes[1], "1", "1"})
        .model();
  }

  /// Writes a model. Returns a description of the element with it.
  std::string element(const std::string &model, const std::string &more = "") {
    return "cudainference model=" + folder_.write(std::to_string(++count_) + ".onnx", model) + " " +
           more;
  }

  Folder folder_;
  int count_ = 0;
};

}  // namespace cudatensor
