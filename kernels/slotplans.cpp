// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/slotplans.h"

#include <algorithm>

namespace cudatensor {
namespace {

Region region_of(const Slot &slot) { return slot.region.value_or(whole(slot.source.seen())); }

}  // namespace

SlotPlans::SlotPlans(const NormalizeParams &params, const TensorDesc &out)
    : params_(params),
      tensor_(make_tensor_plan(params, out)),
      entries_(out.n),
      places_(out.n, kPad),
      geometries_(out.n) {}

bool SlotPlans::Entry::is_for(const Slot &slot) const {
  return planned && matrix == slot.matrix && source == slot.source &&
         (matrix || region == region_of(slot));
}

void SlotPlans::set_params(const NormalizeParams &params) {
  TensorDesc out = tensor_.slot;
  out.n = static_cast<int64_t>(entries_.size());
  tensor_ = make_tensor_plan(params, out);
  const bool same_plans = params.resize == params_.resize && params.color == params_.color &&
                          params.pad_outside == params_.pad_outside &&
                          params.repeat_edge == params_.repeat_edge;
  params_ = params;
  if (!same_plans) forget();
}

void SlotPlans::forget() {
  std::fill(entries_.begin(), entries_.end(), Entry());
  std::fill(places_.begin(), places_.end(), kPad);
  std::fill(geometries_.begin(), geometries_.end(), Geometry());
}

bool SlotPlans::are_as_before(const std::vector<Slot> &slots) const {
  for (size_t i = 0; i < places_.size(); ++i) {
    const bool is_pad = i >= slots.size() || slots[i].is_pad();
    if (is_pad != (places_[i] == kPad)) return false;
    if (!is_pad && !entries_[places_[i]].is_for(slots[i])) return false;
  }
  return true;
}

bool SlotPlans::has_pad() const {
  return std::find(places_.begin(), places_.end(), kPad) != places_.end();
}

/// Returns the place of the slot's plan, or kPad if there is none.
size_t SlotPlans::find(const Slot &slot) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry &entry) { return entry.is_for(slot); });
  return found != entries_.end() ? static_cast<size_t>(found - entries_.begin()) : kPad;
}

/// Sets places_ for the slots: the place of a known plan, or kPad.
void SlotPlans::keep_known(const std::vector<Slot> &slots) {
  for (Entry &entry : entries_) entry.used = false;
  for (size_t i = 0; i < places_.size(); ++i) {
    size_t &place = places_[i];
    if (i >= slots.size() || slots[i].is_pad())
      place = kPad;
    else if (place == kPad || !entries_[place].is_for(slots[i]))
      place = find(slots[i]);
    if (place != kPad) entries_[place].used = true;
  }
}

/// Makes the missing plans, in places that no slot uses any more.
std::vector<SlotPlans::NewPlan> SlotPlans::plan_new(const std::vector<Slot> &slots) {
  std::vector<NewPlan> made;
  size_t unused = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].is_pad() || places_[i] != kPad) continue;
    places_[i] = find(slots[i]);
    if (places_[i] == kPad) {
      while (entries_[unused].used) ++unused;
      const Slot &slot = slots[i];
      SlotPlan plan = slot.matrix
                          ? make_matrix_slot_plan(params_, tensor_.slot, slot.source, *slot.matrix)
                          : make_slot_plan(params_, tensor_.slot, slot.source, slot.region);
      entries_[unused] = {slot.source, region_of(slot), slot.matrix, plan.geometry, true, true};
      made.push_back({unused, std::move(plan)});
      places_[i] = unused;
    }
    entries_[places_[i]].used = true;
  }
  return made;
}

std::vector<SlotPlans::NewPlan> SlotPlans::update(const std::vector<Slot> &slots) {
  if (are_as_before(slots)) return {};
  keep_known(slots);
  std::vector<NewPlan> made = plan_new(slots);
  for (size_t i = 0; i < places_.size(); ++i)
    geometries_[i] = places_[i] != kPad ? entries_[places_[i]].geometry : Geometry();
  return made;
}

}  // namespace cudatensor
