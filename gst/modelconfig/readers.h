// SPDX-License-Identifier: LGPL-2.1-or-later
// One function for each kind of file. They throw Error for what the properties cannot give exactly;
// the text names the key and its value, but not the file.
#pragma once

#include <string>

#include "gst/modelconfig/file.h"
#include "gst/modelconfig/modelconfig.h"
#include "gst/modelconfig/value.h"

namespace cudatensor::modelconfig {

/// preprocessor_config.json, or processor_config.json.
ModelConfig read_transformers(const Node &root);
/// config.json.
ModelConfig read_timm(const Node &root);
/// metadata.yaml, or the metadata of an exported ONNX model.
ModelConfig read_ultralytics(const Node &root);
/// .modelinfo.
ModelConfig read_model_info(const Node &root);
/// config_infer*.txt and config_preprocess*.txt.
ModelConfig read_deepstream(const Node &root);

/// Whether these files have keys that only theirs have.
bool is_transformers(const Node &root);
bool is_timm(const Node &root);
bool is_ultralytics(const Node &root);
bool is_model_info(const Node &root);
bool is_deepstream(const Node &root);

/// The metadata of an ONNX model as strings. Reads no other part of the file.
Value read_onnx_metadata(const File &file);

}  // namespace cudatensor::modelconfig
