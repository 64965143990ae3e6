// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/networkdecoder.h"

#include <algorithm>
#include <array>

#include "gst/caps/flexibletensor.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

OutputType output_type_of(const TensorShape &shape) {
  switch (shape.type) {
    case ElementType::float32: return OutputType::float32;
    case ElementType::float16: return OutputType::float16;
    case ElementType::uint8: return OutputType::uint8;
    case ElementType::int8: return OutputType::int8;
    case ElementType::uint16: return OutputType::uint16;
    case ElementType::int16: return OutputType::int16;
    case ElementType::uint32: return OutputType::uint32;
    case ElementType::int32: return OutputType::int32;
    case ElementType::uint64: return OutputType::uint64;
    case ElementType::int64: return OutputType::int64;
    case ElementType::float64:
    case ElementType::bfloat16: break;
  }
  throw Error(Error::Code::settings, "a tensor of " + text_of(shape) +
                                         " cannot be decoded: scores and boxes must be "
                                         "float32 or float16");
}

std::vector<NamedOutput> outputs_of(const std::vector<TensorShape> &shapes,
                                    const std::vector<std::string> &names) {
  std::vector<NamedOutput> outputs;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto &dimensions = shapes[i].dimensions;
    outputs.push_back({i < names.size() ? names[i] : "",
                       {output_type_of(shapes[i]), {dimensions.rbegin(), dimensions.rend()}}});
  }
  return outputs;
}

}  // namespace

void NetworkDecoder::set(const TensorList &list, std::optional<Decoder> decoder,
                         const ModelTask &task, double confidence) {
  list_ = list;
  decoder_ = decoder;
  task_ = task;
  confidence_ = confidence;
  plan_.reset();
  if (!list.is_flexible) plan(list.shapes);
}

/// Plans for these shapes. The decoder that the first shapes need stays, because shapes that depend
/// on the data may look like another one's.
void NetworkDecoder::plan(const std::vector<TensorShape> &shapes) {
  if (plan_ && shapes == shapes_) return;
  const bool is_first = !plan_;
  try {
    const DecoderChoice choice = choose_decoder(decoder_, outputs_of(shapes, list_.names), task_);
    plan_ = make_candidate_plan({choice.decoder, choice.descs, confidence_});
    decoder_ = choice.decoder;
    outputs_ = choice.outputs;
    shapes_ = shapes;
  } catch (const Error &error) {
    if (is_first) throw;
    throw Error(Error::Code::frame, error.what());
  }
}

std::vector<TensorShape> NetworkDecoder::shapes_in_headers() const {
  std::vector<TensorShape> shapes;
  for (size_t i = 0; i < pass_->count(); ++i) {
    std::array<uint8_t, kFlexibleHeader> header = {};
    if (pass_->size(i) >= kFlexibleHeader) pass_->read(i, header.data(), header.size());
    shapes.push_back(read_flexible_header(header.data(), pass_->size(i)));
  }
  return shapes;
}

void NetworkDecoder::check_sizes() const {
  for (size_t i = 0; i < pass_->count(); ++i)
    if (pass_->size(i) != list_.shapes[i].bytes())
      throw Error(Error::Code::frame, "a tensor of " + text_of(list_.shapes[i]) + " has " +
                                          std::to_string(pass_->size(i)) + " bytes");
}

const CandidatePlan *NetworkDecoder::open(Session &session, GstBuffer *buffer) {
  const size_t count = list_.count != 0 ? list_.count : gst_buffer_n_memory(buffer);
  pass_.emplace(session, buffer, count);
  if (!list_.is_flexible) {
    check_sizes();
    return &*plan_;
  }
  const std::vector<TensorShape> shapes = shapes_in_headers();
  const bool is_empty = std::any_of(shapes.begin(), shapes.end(),
                                    [](const TensorShape &shape) { return shape.elements() == 0; });
  if (is_empty) return nullptr;
  plan(shapes);
  return &*plan_;
}

OutputData NetworkDecoder::data() const {
  const gsize header = list_.is_flexible ? kFlexibleHeader : 0;
  OutputData data = {};
  for (size_t i = 0; i < outputs_.size(); ++i) data.output[i] = pass_->data(outputs_[i]) + header;
  return data;
}

void NetworkDecoder::gather(const std::vector<bool> &wanted) {
  operation_->run(*plan_, data(), wanted, pass_->stream());
  pass_->finish();
}

const std::vector<FoundObject> &NetworkDecoder::objects(int64_t slot, const ObjectParams &params) {
  operation_->take(slot, candidates_);
  find_objects(*plan_, params, candidates_, objects_);
  return objects_;
}

}  // namespace cudatensor
