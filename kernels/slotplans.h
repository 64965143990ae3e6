// SPDX-License-Identifier: LGPL-2.1-or-later
// The plans of a tensor's slots, kept from frame to frame.
#pragma once

#include <vector>

#include "kernels/normalize.h"

namespace cudatensor {

/// Keeps the plans of the slots. Slots with the same region of pictures of the same format and size
/// share a plan. A plan is made only if no slot used it in the previous frame.
///
/// Each plan has a place, a number less than the number of slots. Backends use it as the index of
/// their own data for the plan.
class SlotPlans {
 public:
  static constexpr size_t kPad = SIZE_MAX;

  /// `out` is the tensor. Throws like make_tensor_plan().
  SlotPlans(const NormalizeParams &params, const TensorDesc &out);

  const TensorPlan &tensor() const { return tensor_; }

  /// Changes the parameters. Plans that do not depend on the changed ones are kept. Throws like
  /// make_tensor_plan(), without changing anything.
  void set_params(const NormalizeParams &params);

  struct NewPlan {
    size_t place;
    SlotPlan plan;
  };

  /// Finds or makes the plans of these slots. The remaining slots of the tensor are pad. Returns
  /// the new plans, sorted by place. After an exception of this function or of the backend,
  /// forget() must be called.
  std::vector<NewPlan> update(const std::vector<Slot> &slots);
  void forget();

  /// Returns the place of a slot's plan, or kPad.
  size_t place(size_t slot) const { return places_[slot]; }
  /// Whether any slot is pad.
  bool has_pad() const;
  /// Returns the geometries of all slots of the tensor; all zero for pad.
  const std::vector<Geometry> &geometries() const { return geometries_; }

 private:
  struct Entry {
    Source source;
    Region region;
    std::optional<Matrix> matrix;
    Geometry geometry;
    bool planned = false;
    bool used = false;  // whether a slot of the current frame uses it

    bool is_for(const Slot &slot) const;
  };

  bool are_as_before(const std::vector<Slot> &slots) const;
  size_t find(const Slot &slot) const;
  bool reuse(size_t place);
  void keep_known(const std::vector<Slot> &slots);
  std::vector<NewPlan> plan_new(const std::vector<Slot> &slots);

  NormalizeParams params_;
  TensorPlan tensor_;
  std::vector<Entry> entries_;  // by place
  std::vector<size_t> places_;  // by slot
  std::vector<Geometry> geometries_;
};

}  // namespace cudatensor
