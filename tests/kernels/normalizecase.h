// SPDX-License-Identifier: LGPL-2.1-or-later
// The normalize operation for tests of one picture, of batches and of regions.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/ops.h"

namespace cudatensor {

/// The parameters of an operation, and the picture or region that it runs on.
struct NormalizeCase : NormalizeParams {
  Source source = {};
  TensorDesc out = {};
  std::optional<Region> region = {};  ///< of the stored picture
  std::optional<Matrix> matrix = {};  ///< in place of a region
};

/// Returns a region of the stored picture in coordinates of the seen one.
inline std::optional<Region> turned(const std::optional<Region> &region, const Source &source) {
  if (!region) return std::nullopt;
  return seen(*region, source.image, source.direction);
}

/// One picture, or its region.
class NormalizePicture {
 public:
  /// Throws the error of a plan that cannot be made, which a run would throw.
  NormalizePicture(Backend &backend, const NormalizeCase &c)
      : slots_({{c.source, {}, turned(c.region, c.source), c.matrix}}),
        operation_(backend.normalize(c, c.out)) {
    if (c.matrix)
      make_matrix_slot_plan(c, c.out, c.source, *c.matrix);
    else
      make_slot_plan(c, c.out, c.source, turned(c.region, c.source));
  }

  void set_params(const NormalizeParams &params) { operation_->set_params(params); }
  void run(const ConstImage &in, const Tensor &out, Stream stream = {}) {
    slots_[0].image = in;
    operation_->run(slots_, out, stream);
  }

 private:
  std::vector<Slot> slots_;
  std::unique_ptr<NormalizeOperation> operation_;
};

/// One picture per slot. A picture without memory leaves its slot with the pad colour.
class NormalizePictures {
 public:
  NormalizePictures(Backend &backend, std::vector<Source> sources, const NormalizeCase &c)
      : sources_(std::move(sources)), operation_(backend.normalize(c, c.out)) {
    for (const Source &source : sources_) make_slot_plan(c, c.out, source, {});
  }

  void run(const std::vector<ConstImage> &in, const Tensor &out, Stream stream = {}) {
    slots_.clear();
    for (size_t i = 0; i < in.size(); ++i)
      slots_.push_back({sources_[i % sources_.size()], in[i], {}});
    operation_->run(slots_, out, stream);
  }

 private:
  std::vector<Source> sources_;
  std::vector<Slot> slots_;
  std::unique_ptr<NormalizeOperation> operation_;
};

/// Regions of one picture.
class NormalizeRegions {
 public:
  NormalizeRegions(Backend &backend, const NormalizeCase &c)
      : source_(c.source), operation_(backend.normalize(c, c.out)) {}

  void run(const ConstImage &in, const std::vector<Region> &regions, const Tensor &out,
           Stream stream = {}) {
    std::vector<Slot> slots;
    for (const Region &region : regions) slots.push_back({source_, in, turned(region, source_)});
    operation_->run(slots, out, stream);
  }

 private:
  Source source_;
  std::unique_ptr<NormalizeOperation> operation_;
};

inline Backend &backend_of(Backend &backend) { return backend; }
/// The same for an object that works like a pointer to a backend.
template <class Pointer>
Backend &backend_of(const Pointer &pointer) {
  return *pointer.operator->();
}

template <class B>
std::unique_ptr<NormalizePicture> normalize_picture(B &&backend, const NormalizeCase &c) {
  return std::make_unique<NormalizePicture>(backend_of(backend), c);
}
template <class B>
std::unique_ptr<NormalizePictures> normalize_pictures(B &&backend,
                                                      const std::vector<Source> &sources,
                                                      const NormalizeCase &c) {
  return std::make_unique<NormalizePictures>(backend_of(backend), sources, c);
}
template <class B>
std::unique_ptr<NormalizeRegions> normalize_regions(B &&backend, const NormalizeCase &c) {
  return std::make_unique<NormalizeRegions>(backend_of(backend), c);
}

}  // namespace cudatensor
