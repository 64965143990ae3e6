// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/pinnedring.h"

#include <utility>

namespace cudatensor {
namespace {

constexpr size_t kMostBlocks = 32;

}  // namespace

PinnedRing::Block &PinnedRing::next(size_t size) {
  const size_t oldest = blocks_.empty() ? 0 : (current_ + 1) % blocks_.size();
  const bool has_free = !blocks_.empty() && blocks_[oldest].done->passed();
  if (!has_free && blocks_.size() < kMostBlocks) {
    Block block = {device_.allocate_pinned(size), device_.make_event()};
    current_ = blocks_.empty() ? 0 : current_ + 1;
    return *blocks_.insert(blocks_.begin() + current_, std::move(block));
  }
  if (!has_free) blocks_[oldest].done->wait();
  current_ = oldest;
  return blocks_[current_];
}

uint8_t *PinnedRing::take(size_t size) {
  Block &block = next(size);
  if (block.memory->size() < size) block.memory = device_.allocate_pinned(size);
  return block.memory->data();
}

void PinnedRing::done_after(Stream stream) { blocks_[current_].done->record(stream); }

}  // namespace cudatensor
