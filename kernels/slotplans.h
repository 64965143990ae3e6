// SPDX-License-Identifier: LGPL-2.1-or-later
// The plans of a tensor's slots, from frame to frame.
#pragma once

#include <vector>

#include "kernels/normalize.h"

namespace cudatensor {

/// Keeps the plans of the slots. Slots that show the same region of pictures of one kind share a plan,
/// and a plan is made only when no slot had it the frame before.
///
/// A plan has a place, a number below the count of slots, under which a backend keeps what it makes of
/// it.
class SlotPlans {
 public:
  static constexpr size_t kPad = SIZE_MAX;

  /// Throws as make_tensor_plan() does.
  SlotPlans(const NormalizeParams &params, const TensorDesc &out);

  const TensorPlan &tensor() const { return tensor_; }

  /// Changes the parameters; the plans are kept where they do not depend on what has changed. Throws as
  /// make_tensor_plan() does, and then changes nothing.
  void set_params(const NormalizeParams &params);

  struct NewPlan {
    size_t place;
    SlotPlan plan;
  };

  /// Finds the plans of these slots, of which there are at most as many as the tensor has; those behind
  /// the last are pad. Returns the plans that were made, places ascending. After an exception, of this
  /// function or of the backend, forget() must be called.
  std::vector<NewPlan> update(const std::vector<Slot> &slots);
  void forget();

  /// The place of a slot's plan; kPad for a slot that is pad.
  size_t place(size_t slot) const { return places_[slot]; }
  /// Whether any slot is pad.
  bool has_pad() const;
  /// Of all slots of the tensor; all zero for those that are pad.
  const std::vector<Geometry> &geometries() const { return geometries_; }

 private:
  struct Entry {
    Source source;
    Region region;
    Geometry geometry;
    bool planned = false;
    bool used = false;  // by a slot of the frame at hand

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
