// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/detections.h"

#include <algorithm>

#include "kernels/cpu/operations.h"

namespace cudatensor::cpu {
namespace {

constexpr int64_t kPart = 512;  // rows that one task reads

/// Reads the rows from `begin` on. The loops over rows are the inner ones, which compilers
/// vectorize.
template <class Element>
void read_yolo_part(const CandidatePlan &p, const OutputData &data, int64_t slot, int64_t begin,
                    int64_t end, std::vector<Candidate> &found) {
  const auto *const first =
      static_cast<const Element *>(data.output[0]) + slot * (4 + p.classes) * p.boxes + begin;
  const int64_t rows = end - begin;
  float best[kPart];
  int32_t type[kPart];
  std::fill_n(best, rows, p.threshold);
  std::fill_n(type, rows, kNoType);
  for (int64_t c = 0; c < p.classes; ++c) {
    const Element *const scores = first + (4 + c) * p.boxes;
    const auto number = static_cast<int32_t>(c);
    for (int64_t i = 0; i < rows; ++i) {
      const float score = to_float(scores[i]);
      const bool is_greater = score > best[i];
      best[i] = is_greater ? score : best[i];
      type[i] = is_greater ? number : type[i];
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    if (type[i] == kNoType) continue;
    Candidate each = {static_cast<uint32_t>(begin + i), type[i], best[i], {}};
    for (int side = 0; side < 4; ++side) each.box[side] = to_float(first[side * p.boxes + i]);
    found.push_back(each);
  }
}

/// Reads the rows of the queries that begin in this part.
void read_softmax_part(const CandidatePlan &p, const OutputData &data, int64_t slot, int64_t begin,
                       int64_t end, std::vector<Candidate> &found) {
  const int64_t classes = p.classes;
  for (int64_t query = (begin + classes - 1) / classes; query * classes < end; ++query) {
    if (!may_be_object(p, data, slot * p.boxes + query)) continue;
    for (int64_t row = query * classes; row < (query + 1) * classes; ++row) {
      Candidate each = {static_cast<uint32_t>(row), 0, 0.0f, {}};
      read_softmax(p, data, slot, row, each);
      found.push_back(each);
    }
  }
}

void read_part(const CandidatePlan &p, const OutputData &data, int64_t slot, int64_t begin,
               int64_t end, std::vector<Candidate> &found) {
  found.clear();
  if (p.decoder == Decoder::detr_softmax)
    return read_softmax_part(p, data, slot, begin, end, found);
  if (p.decoder == Decoder::yolo)
    return p.types[0] == OutputType::float16
               ? read_yolo_part<Half>(p, data, slot, begin, end, found)
               : read_yolo_part<float>(p, data, slot, begin, end, found);
  Candidate each;
  for (int64_t row = begin; row < end; ++row)
    if (read_candidate(p, data, slot, row, each)) found.push_back(each);
}

class Detections final : public DetectionOperation {
 public:
  explicit Detections(Workers &workers) : workers_(workers) {}

  void take(int64_t slot, std::vector<Candidate> &found) const override {
    found.clear();
    for (int64_t i = slot * parts_; i < (slot + 1) * parts_; ++i)
      found.insert(found.end(), found_[i].begin(), found_[i].end());
  }

 private:
  void execute(const CandidatePlan &plan, const OutputData &data, const std::vector<bool> &wanted,
               Stream) override {
    parts_ = (plan.rows + kPart - 1) / kPart;
    const int64_t count = plan.slots * parts_;
    if (static_cast<int64_t>(found_.size()) < count) found_.resize(count);
    workers_.for_rows(count, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t slot = i / parts_, row = i % parts_ * kPart;
        if (wanted.empty() || wanted[slot])
          read_part(plan, data, slot, row, std::min(row + kPart, plan.rows), found_[i]);
      }
    });
  }

  Workers &workers_;
  int64_t parts_ = 0;                          // of a slot
  std::vector<std::vector<Candidate>> found_;  // by slot and part
};

}  // namespace

std::unique_ptr<DetectionOperation> make_detections(Workers &workers) {
  return std::make_unique<Detections>(workers);
}

}  // namespace cudatensor::cpu
