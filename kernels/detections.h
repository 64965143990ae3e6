// SPDX-License-Identifier: LGPL-2.1-or-later
// Candidates for objects in the outputs of a network: the rows whose score is above a threshold.
// kernels/objects.h makes objects of them.
#pragma once

#include <string>
#include <vector>

#include "kernels/tensor.h"

namespace cudatensor {

/// What the outputs of a network mean, N slots each. Their order is the one given here.
enum class Decoder : uint8_t {
  yolo,           ///< (N, 4 + classes, A): cx, cy, w, h in pixels, then scores
  yolov5,         ///< (N, A, 5 + classes): cx, cy, w, h in pixels, objectness, then scores
  end2end,        ///< (N, K, 6): x0, y0, x1, y1 in pixels, score, class
  detr,           ///< logits (N, Q, C), boxes (N, Q, 4): cx, cy, w, h as shares of the slot
  detr_softmax,   ///< the same; the last class is "no object"
  ssd,            ///< boxes (N, K, 4): y0, x0, y1, x1 as shares, classes, scores (N, K), count (N)
  scores,         ///< logits (N, C)
  probabilities,  ///< (N, C)
};

enum class OutputType : uint8_t {
  float32,
  float16,
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
};

size_t size_of(OutputType type);

/// An output of a network, without its memory.
struct OutputDesc {
  OutputType type;
  std::vector<int64_t> shape;  ///< the outermost axis first
};

/// Returns the shape as "(1, 84, 8400)".
std::string text_of(const OutputDesc &output);

/// Returns the size in bytes. Throws if an axis is less than 0 or the size overflows.
size_t bytes_of(const OutputDesc &output);

struct CandidateParams {
  Decoder decoder;
  std::vector<OutputDesc> outputs;  ///< in the decoder's order
  double confidence;
};

constexpr int kMaxOutputs = 4;

/// Where the candidates are. A slot has `rows` rows, each of which is a candidate or none: an
/// anchor, a box, or a pair of a query and a class.
struct CandidatePlan {
  Decoder decoder;
  int64_t slots, rows;
  int64_t boxes;    ///< A, K or Q; 0 if there are no boxes
  int64_t classes;  ///< 0 if the network tells the class
  float threshold;  ///< a candidate's score or logit is greater; detr_softmax: that of its best
                    ///< class less that of the last
  bool has_count;
  OutputType types[kMaxOutputs];
};

/// Throws Error::settings, which names the decoder and the shapes, if the outputs are not those of
/// the decoder.
CandidatePlan make_candidate_plan(const CandidateParams &params);

constexpr int number_of_outputs(const CandidatePlan &plan) {
  if (plan.decoder == Decoder::ssd) return plan.has_count ? 4 : 3;
  return plan.decoder == Decoder::detr || plan.decoder == Decoder::detr_softmax ? 2 : 1;
}

/// A row of a slot.
struct Candidate {
  uint32_t row;
  int32_t type;  ///< the class
  float score;   ///< or logit
  float box[4];  ///< as the network has it
};

/// The memory of the outputs.
struct OutputData {
  const void *output[kMaxOutputs];
};

/// A class that is not a number of 32 bits.
constexpr int32_t kNoType = INT32_MIN;

// ---------------------------------------------------------------------------------- formulas

template <class T>
CUDATENSOR_HD T element_at(const void *data, int64_t index) {
  return static_cast<const T *>(data)[index];
}

/// Returns an element of type float32 or float16.
CUDATENSOR_HD float number_at(const void *data, OutputType type, int64_t index) {
  return type == OutputType::float16 ? to_float(element_at<Half>(data, index))
                                     : element_at<float>(data, index);
}

/// Returns an integer, or a float without its fraction; `none` for NaN and numbers beyond int64.
CUDATENSOR_HD int64_t integer_at(const void *data, OutputType type, int64_t index, int64_t none) {
  switch (type) {
    case OutputType::uint8: return element_at<uint8_t>(data, index);
    case OutputType::int8: return element_at<int8_t>(data, index);
    case OutputType::uint16: return element_at<uint16_t>(data, index);
    case OutputType::int16: return element_at<int16_t>(data, index);
    case OutputType::uint32: return element_at<uint32_t>(data, index);
    case OutputType::int32: return element_at<int32_t>(data, index);
    case OutputType::int64: return element_at<int64_t>(data, index);
    case OutputType::uint64: {
      const uint64_t value = element_at<uint64_t>(data, index);
      return value <= static_cast<uint64_t>(INT64_MAX) ? static_cast<int64_t>(value) : none;
    }
    default: break;
  }
  const float value = number_at(data, type, index);
  return value > -9.0e18f && value < 9.0e18f ? static_cast<int64_t>(value) : none;
}

CUDATENSOR_HD int32_t type_at(const void *data, OutputType type, int64_t index) {
  const int64_t value = integer_at(data, type, index, kNoType);
  return value > kNoType && value <= INT32_MAX ? static_cast<int32_t>(value) : kNoType;
}

/// Reads the box at `index` from an output of boxes.
CUDATENSOR_HD void read_box(const void *data, OutputType type, int64_t index, Candidate &found) {
  for (int i = 0; i < 4; ++i) found.box[i] = number_at(data, type, index * 4 + i);
}

/// Reads one row of a slot. Returns whether it is a candidate. NaN is not greater than anything.
CUDATENSOR_HD bool read_yolo(const CandidatePlan &p, const OutputData &data, int64_t slot,
                             int64_t row, Candidate &found) {
  const int64_t first = slot * (4 + p.classes) * p.boxes + row;
  found.score = p.threshold;
  found.type = kNoType;
  for (int64_t c = 0; c < p.classes; ++c) {
    const float score = number_at(data.output[0], p.types[0], first + (4 + c) * p.boxes);
    if (score > found.score) {
      found.score = score;
      found.type = static_cast<int32_t>(c);
    }
  }
  if (found.type == kNoType) return false;
  for (int i = 0; i < 4; ++i)
    found.box[i] = number_at(data.output[0], p.types[0], first + i * p.boxes);
  return true;
}

CUDATENSOR_HD bool read_yolov5(const CandidatePlan &p, const OutputData &data, int64_t slot,
                               int64_t row, Candidate &found) {
  const int64_t first = (slot * p.boxes + row) * (5 + p.classes);
  const float objectness = number_at(data.output[0], p.types[0], first + 4);
  if (!(objectness > p.threshold)) return false;
  found.score = p.threshold;
  found.type = kNoType;
  for (int64_t c = 0; c < p.classes; ++c) {
    const float score = objectness * number_at(data.output[0], p.types[0], first + 5 + c);
    if (score > found.score) {
      found.score = score;
      found.type = static_cast<int32_t>(c);
    }
  }
  if (found.type == kNoType) return false;
  for (int i = 0; i < 4; ++i) found.box[i] = number_at(data.output[0], p.types[0], first + i);
  return true;
}

CUDATENSOR_HD bool read_end2end(const CandidatePlan &p, const OutputData &data, int64_t slot,
                                int64_t row, Candidate &found) {
  const int64_t first = (slot * p.boxes + row) * 6;
  found.score = number_at(data.output[0], p.types[0], first + 4);
  found.type = type_at(data.output[0], p.types[0], first + 5);
  if (!(found.score > p.threshold) || found.type == kNoType) return false;
  for (int i = 0; i < 4; ++i) found.box[i] = number_at(data.output[0], p.types[0], first + i);
  return true;
}

CUDATENSOR_HD bool read_detr(const CandidatePlan &p, const OutputData &data, int64_t slot,
                             int64_t row, Candidate &found) {
  found.score = number_at(data.output[0], p.types[0], slot * p.rows + row);
  if (!(found.score > p.threshold)) return false;
  found.type = static_cast<int32_t>(row % p.classes);
  read_box(data.output[1], p.types[1], slot * p.boxes + row / p.classes, found);
  return true;
}

/// Returns whether a class of a query may be probable enough. A NaN is left to the softmax.
CUDATENSOR_HD bool may_be_object(const CandidatePlan &p, const OutputData &data, int64_t query) {
  const int64_t first = query * p.classes, last = p.classes - 1;
  float best = -INFINITY;
  for (int64_t c = 0; c < last; ++c) {
    const float logit = number_at(data.output[0], p.types[0], first + c);
    best = logit > best ? logit : best;
  }
  return best - number_at(data.output[0], p.types[0], first + last) > p.threshold;
}

/// All classes of a query are candidates, because the softmax needs their logits.
CUDATENSOR_HD void read_softmax(const CandidatePlan &p, const OutputData &data, int64_t slot,
                                int64_t row, Candidate &found) {
  found.score = number_at(data.output[0], p.types[0], slot * p.rows + row);
  found.type = static_cast<int32_t>(row % p.classes);
  read_box(data.output[1], p.types[1], slot * p.boxes + row / p.classes, found);
}

CUDATENSOR_HD bool read_ssd(const CandidatePlan &p, const OutputData &data, int64_t slot,
                            int64_t row, Candidate &found) {
  if (p.has_count && row >= integer_at(data.output[3], p.types[3], slot, 0)) return false;
  const int64_t index = slot * p.boxes + row;
  found.score = number_at(data.output[2], p.types[2], index);
  found.type = type_at(data.output[1], p.types[1], index);
  if (!(found.score > p.threshold) || found.type == kNoType) return false;
  read_box(data.output[0], p.types[0], index, found);
  return true;
}

/// Reads a class. The softmax needs all logits.
CUDATENSOR_HD bool read_score(const CandidatePlan &p, const OutputData &data, int64_t slot,
                              int64_t row, Candidate &found) {
  found.score = number_at(data.output[0], p.types[0], slot * p.rows + row);
  found.type = static_cast<int32_t>(row);
  for (float &side : found.box) side = 0.0f;
  return p.decoder == Decoder::scores || found.score > p.threshold;
}

CUDATENSOR_HD bool read_candidate(const CandidatePlan &p, const OutputData &data, int64_t slot,
                                  int64_t row, Candidate &found) {
  found.row = static_cast<uint32_t>(row);
  switch (p.decoder) {
    case Decoder::yolo: return read_yolo(p, data, slot, row, found);
    case Decoder::yolov5: return read_yolov5(p, data, slot, row, found);
    case Decoder::end2end: return read_end2end(p, data, slot, row, found);
    case Decoder::detr: return read_detr(p, data, slot, row, found);
    case Decoder::detr_softmax:
      if (!may_be_object(p, data, slot * p.boxes + row / p.classes)) return false;
      read_softmax(p, data, slot, row, found);
      return true;
    case Decoder::ssd: return read_ssd(p, data, slot, row, found);
    case Decoder::scores:
    case Decoder::probabilities: return read_score(p, data, slot, row, found);
  }
  return false;
}

}  // namespace cudatensor
