// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/detections.h"

#include <algorithm>
#include <limits>

#include "kernels/detectiondecoder.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Returns a number that is at most the logit of every float32 that a sigmoid or softmax, rounded to
/// float32, can have above `score`. The host compares what it computes in float64.
float logit_below(float score) {
  const double lower = std::nextafter(std::nextafter(score, -1.0f), -1.0f);
  if (lower <= 0.0) return -kInfinity;
  const double logit = std::log(lower / (1.0 - lower));
  return std::nextafter(static_cast<float>(logit - 1e-6 * std::abs(logit)), -kInfinity);
}

[[noreturn]] void refuse(const CandidateParams &params, const std::string &reason) {
  std::string shapes;
  for (const OutputDesc &output : params.outputs)
    shapes += (shapes.empty() ? "" : ", ") + text_of(output);
  throw Error(Error::Code::settings, "decoder=" + std::string(name_of(params.decoder)) +
                                         " cannot read the outputs " + shapes + ": " + reason);
}

/// Checks the outputs of one decoder.
class Planner {
 public:
  explicit Planner(const CandidateParams &params) : params_(params) {
    plan_ = {params.decoder, 0, 0, 0, 0, static_cast<float>(params.confidence), false, {}};
  }

  CandidatePlan make() {
    const size_t count = params_.outputs.size();
    const Decoder decoder = params_.decoder;
    if (decoder == Decoder::ssd) {
      expect(count == 3 || count == 4, "boxes, classes, scores and perhaps count are expected");
    } else {
      const bool two = decoder == Decoder::detr || decoder == Decoder::detr_softmax;
      expect(count == (two ? 2 : 1), two ? "logits and boxes are expected" : "one is expected");
    }
    for (size_t i = 0; i < count; ++i) plan_.types[i] = params_.outputs[i].type;
    plan_output();
    expect(plan_.slots >= 1 && plan_.rows >= 0, "there are no slots");
    expect(plan_.rows < (int64_t{1} << 31) && plan_.classes < (int64_t{1} << 31),
           "there are too many boxes or classes");
    for (const OutputDesc &output : params_.outputs) bytes_of(output);
    return plan_;
  }

 private:
  void expect(bool condition, const char *reason) const {
    if (!condition) refuse(params_, reason);
  }

  /// Returns the shape of an output of floats, which must have `rank` axes.
  const std::vector<int64_t> &floats(size_t output, size_t rank) const {
    const OutputDesc &desc = params_.outputs[output];
    expect(desc.type == OutputType::float32 || desc.type == OutputType::float16,
           "boxes and scores must be float32 or float16");
    return shape(output, rank);
  }
  const std::vector<int64_t> &shape(size_t output, size_t rank) const {
    const OutputDesc &desc = params_.outputs[output];
    expect(desc.shape.size() == rank, "an output has too many or too few axes");
    for (const int64_t side : desc.shape) expect(side >= 0, "an axis is negative");
    return desc.shape;
  }

  void plan_output() {
    switch (params_.decoder) {
      case Decoder::yolo: return plan_yolo(floats(0, 3));
      case Decoder::yolov5: return plan_yolov5(floats(0, 3));
      case Decoder::end2end: return plan_end2end(floats(0, 3));
      case Decoder::detr:
      case Decoder::detr_softmax: return plan_detr(floats(0, 3), floats(1, 3));
      case Decoder::ssd: return plan_ssd(floats(0, 3));
      case Decoder::scores:
      case Decoder::probabilities: return plan_scores(floats(0, 2));
    }
  }

  void plan_yolo(const std::vector<int64_t> &s) {
    expect(s[1] >= 5, "the second axis must be 4 and the classes");
    set(s[0], s[2], s[2], s[1] - 4);
  }
  void plan_yolov5(const std::vector<int64_t> &s) {
    expect(s[2] >= 6, "the last axis must be 5 and the classes");
    set(s[0], s[1], s[1], s[2] - 5);
  }
  void plan_end2end(const std::vector<int64_t> &s) {
    expect(s[2] == 6, "the last axis must be 6");
    set(s[0], s[1], s[1], 0);
  }
  void plan_detr(const std::vector<int64_t> &logits, const std::vector<int64_t> &boxes) {
    const bool softmax = params_.decoder == Decoder::detr_softmax;
    expect(boxes[2] == 4, "the last axis of the boxes must be 4");
    expect(logits[0] == boxes[0] && logits[1] == boxes[1], "their numbers of boxes differ");
    expect(logits[2] >= (softmax ? 2 : 1), "there are no classes");
    int64_t rows = 0;
    expect(!__builtin_mul_overflow(logits[1], logits[2], &rows), "there are too many boxes");
    set(logits[0], rows, logits[1], logits[2]);
    plan_.threshold = logit_below(plan_.threshold);
  }
  void plan_ssd(const std::vector<int64_t> &boxes) {
    expect(boxes[2] == 4, "the last axis of the boxes must be 4");
    const auto &classes = shape(1, 2), &scores = floats(2, 2);
    expect(classes == scores && classes[0] == boxes[0] && classes[1] == boxes[1],
           "their numbers of boxes differ");
    plan_.has_count = params_.outputs.size() == 4;
    if (plan_.has_count)
      expect(
          bytes_of(params_.outputs[3]) == static_cast<size_t>(boxes[0]) * size_of(plan_.types[3]),
          "count must have an element a slot");
    set(boxes[0], boxes[1], boxes[1], 0);
  }
  void plan_scores(const std::vector<int64_t> &s) {
    expect(s[1] >= 1, "there are no classes");
    set(s[0], s[1], 0, s[1]);
  }

  void set(int64_t slots, int64_t rows, int64_t boxes, int64_t classes) {
    plan_.slots = slots;
    plan_.rows = rows;
    plan_.boxes = boxes;
    plan_.classes = classes;
  }

  const CandidateParams &params_;
  CandidatePlan plan_;
};

}  // namespace

size_t size_of(OutputType type) {
  switch (type) {
    case OutputType::uint8:
    case OutputType::int8: return 1;
    case OutputType::float16:
    case OutputType::uint16:
    case OutputType::int16: return 2;
    case OutputType::float32:
    case OutputType::uint32:
    case OutputType::int32: return 4;
    case OutputType::uint64:
    case OutputType::int64: break;
  }
  return 8;
}

std::string text_of(const OutputDesc &output) {
  std::string text;
  for (const int64_t side : output.shape) text += (text.empty() ? "" : ", ") + std::to_string(side);
  return "(" + text + ")";
}

size_t bytes_of(const OutputDesc &output) {
  auto bytes = static_cast<int64_t>(size_of(output.type));
  for (const int64_t side : output.shape)
    if (side < 0 || __builtin_mul_overflow(bytes, side, &bytes))
      throw Error(Error::Code::settings,
                  "an output of the shape " + text_of(output) + " is not possible");
  return static_cast<size_t>(bytes);
}

CandidatePlan make_candidate_plan(const CandidateParams &params) {
  if (!(params.confidence >= 0.0 && params.confidence <= 1.0))
    throw Error(Error::Code::settings, "confidence must be from 0 to 1");
  return Planner(params).make();
}

}  // namespace cudatensor
