// SPDX-License-Identifier: LGPL-2.1-or-later
// The readers, one function for each kind of file. They throw Error for requirements that the
// properties cannot meet exactly; the text names the key and its value, but not the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gst/modelconfig/file.h"
#include "gst/modelconfig/modelconfig.h"
#include "gst/modelconfig/value.h"

namespace cudatensor::modelconfig {

/// An input of the graph in an ONNX model.
struct OnnxInput {
  std::string name;
  uint64_t type = 0;          ///< TensorProto.DataType
  std::vector<int64_t> dims;  ///< 0 = open
};

struct OnnxModel {
  Value metadata;                 ///< a map of strings
  std::vector<OnnxInput> inputs;  ///< without weights; none if the graph cannot be read
};

/// Reads a model. Skips operations and weights.
OnnxModel read_onnx(const File &file);
/// Returns the only input of four dimensions; no value if there is none or more than one.
std::optional<OnnxInput> picture_of(const OnnxModel &model);
std::optional<DType> dtype_of(const OnnxInput &input);
/// Returns the name and shape of an input, for an error.
std::string text_of(const OnnxInput &input);

/// Reads preprocessor_config.json or processor_config.json.
ModelConfig read_transformers(const Node &root);
/// Reads config.json.
ModelConfig read_timm(const Node &root);
/// Reads metadata.yaml, or the metadata of an exported ONNX model. `input` is the model's input, if
/// it is known; `folder` is that of metadata.yaml.
ModelConfig read_ultralytics(const Node &root, const std::optional<OnnxInput> &input,
                             const std::string &folder);
/// Reads a .modelinfo file.
ModelConfig read_model_info(const Node &root);
/// Reads config_infer*.txt and config_preprocess*.txt. `folder` is that of the file.
ModelConfig read_deepstream(const Node &root, const std::string &folder);

/// Whether a file has keys that only files of this kind have.
bool is_transformers(const Node &root);
bool is_timm(const Node &root);
bool is_ultralytics(const Node &root);
bool is_model_info(const Node &root);
bool is_deepstream(const Node &root);

}  // namespace cudatensor::modelconfig
