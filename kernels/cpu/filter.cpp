// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/filter.h"

#include <algorithm>

namespace cudatensor::cpu {
namespace {

/// Memory for the rows between the passes: as much as stays in a core's cache if possible, and
/// never more than kMostBytes.
constexpr size_t kBytesPerThread = size_t{1} << 20;
constexpr size_t kMostBytes = size_t{16} << 20;
/// Minimum columns of a strip: narrower strips would read each cache line of the picture several
/// times.
constexpr int kMinStrip = 16;

int padded(int columns) { return (columns + 15) & ~15; }

int largest_window(const FilterAxis &axis) {
  int most = 0;
  for (const FilterWindow &window : axis.windows) most = std::max(most, window.count);
  return most;
}

/// A range of source columns, extended to whole groups of four where the plan has them.
struct Columns {
  int begin, end;
};

Columns columns_of(const FilterAxis &axis, int begin, int end) {
  int first = axis.src_end, last = axis.src_begin;
  for (int k = begin; k < end; ++k) {
    const FilterWindow &window = axis.windows[k];
    first = std::min(first, window.first);
    last = std::max(last, window.first + window.count);
  }
  return {std::max(axis.src_begin, first & ~3), std::min(axis.src_end, (last + 3) & ~3)};
}

void keep_part(std::vector<Tap> &taps, int begin, int end) {
  if (!taps.empty()) taps = {taps.begin() + begin, taps.begin() + end};
}

ResamplePlan pixels_of(const FilterPlan &plan, Columns columns) {
  ResamplePlan pixels = plan.pixels;
  const int begin = columns.begin - plan.x.src_begin, end = columns.end - plan.x.src_begin;
  keep_part(pixels.sampling.x.luma, begin, end);
  keep_part(pixels.sampling.x.chroma, begin, end);
  pixels.geometry.dst_width = end - begin;
  return pixels;
}

FilterColumns make_columns(const FilterAxis &axis, int begin, int end, Columns source) {
  FilterColumns columns;
  columns.width = source.end - source.begin;
  for (int k = begin; k < end; ++k) {
    const FilterWindow &window = axis.windows[k];
    columns.windows.push_back(
        {window.first - source.begin, window.count, static_cast<int32_t>(columns.weights.size())});
    const auto weights = axis.weights.begin() + window.weight;
    columns.weights.insert(columns.weights.end(), weights, weights + window.count);
  }
  return columns;
}

}  // namespace

// ---------------------------------------------------------------------------------------- strips

FilterStrip::FilterStrip(const FilterPlan &plan, int begin, int end)
    : components_(plan.pixels.produced),
      width_(end - begin),
      first_row_(plan.y.src_begin),
      copied_from_(-1),
      pixels_(pixels_of(plan, columns_of(plan.x, begin, end))),
      columns_(make_columns(plan.x, begin, end, columns_of(plan.x, begin, end))) {
  if (plan.x.copies)
    copied_from_ = columns_.windows.front().first;
  else
    filter_kernels().prepare(columns_);
}

void FilterStrip::filter(const ConstImage &in, int row, int count, Scratch &scratch,
                         uint8_t *samples, uint8_t *const *out, int stride) const {
  uint8_t *rows[kMostRows], *to[kMostRows];
  const ptrdiff_t step = columns_.width + columns_.slack;
  for (int i = 0, at = 0; i < count; ++i) {
    for (int c = 0; c < components_; ++c, ++at) {
      rows[at] = samples + at * step;
      to[at] = out[i] + ptrdiff_t{c} * stride;
    }
    pixels_.produce(in, row + i - first_row_, scratch, rows + at - components_);
  }
  const int all = count * components_;
  const Ahead ahead = pixels_.ahead(in, row + count - first_row_);
  if (copied_from_ < 0) return filter_kernels().columns(columns_, rows, all, ahead, to);
  for (int i = 0; i < all; ++i) std::copy_n(rows[i] + copied_from_, width_, to[i]);
}

// ---------------------------------------------------------------------------------------- filter

Filter::Filter(FilterPlan plan, Workers &workers, FilterMemory &memory)
    : x_begin_(plan.x.begin),
      x_end_(plan.x.end),
      components_(plan.pixels.produced),
      kernels_(filter_kernels()),
      workers_(workers),
      memory_(memory) {
  make_strips(plan);
  y_ = std::move(plan.y);
  make_bands();
  make_digits();
  make_scratch();
}

void Filter::make_strips(const FilterPlan &plan) {
  if (x_begin_ == x_end_) return;
  const auto width = static_cast<size_t>(x_end_ - x_begin_);
  const auto window = static_cast<size_t>(largest_window(plan.y));
  const size_t columns = std::max<size_t>(kMinStrip, kMostBytes / (window * components_));
  const size_t strips = (width + columns - 1) / columns;
  for (size_t i = 0; i < strips; ++i) {
    strips_.emplace_back(plan, x_begin_ + static_cast<int>(width * i / strips),
                         x_begin_ + static_cast<int>(width * (i + 1) / strips));
    stride_ = std::max(stride_, padded(strips_.back().width()));
  }
  const size_t bytes =
      std::min(kMostBytes, kBytesPerThread * static_cast<size_t>(workers_.slots()));
  const size_t rows = std::max(window, bytes / row_bytes());
  capacity_ = static_cast<int>(std::min<size_t>(rows, plan.y.src_end - plan.y.src_begin));
}

void Filter::make_bands() {
  Band band = {0, 0, 0, 0};
  if (strips_.empty()) {
    band.end = static_cast<int>(y_.windows.size());
    bands_.push_back(band);
    return;
  }
  int oldest = band.src_begin = band.src_end = y_.windows[y_.begin].first;
  for (int y = y_.begin; y < y_.end; ++y) {
    const FilterWindow &window = y_.windows[y];
    const int end = window.first + window.count;
    if (end - oldest > capacity_) {
      bands_.push_back({band.begin, y, band.src_begin, band.src_end});
      band = {y, y, band.src_end, band.src_end};
      oldest = window.first;
    }
    band.src_end = std::max(band.src_end, end);
  }
  band.end = static_cast<int>(y_.windows.size());
  bands_.push_back(band);
}

void Filter::make_scratch() {
  if (strips_.empty()) {
    scratch_.resize(workers_.slots());
    return;
  }
  for (int i = 0; i < workers_.slots(); ++i) {
    Scratch scratch;
    for (const FilterStrip &strip : strips_) scratch.strips.push_back(strip.make_scratch());
    scratch.row.resize(row_bytes() + kFilterSlack);
    scratch.lines.resize(largest_window(y_));
    scratch_.push_back(std::move(scratch));
  }
}

void Filter::make_digits() {
  for (const FilterWindow &window : y_.windows) {
    first_digit_.push_back(static_cast<int32_t>(digits_.size()));
    const auto digits = digits_of(y_.weights.data() + window.weight, window.count);
    if (digits.empty() && window.count > 0) return digits_.clear();
    digits_.insert(digits_.end(), digits.begin(), digits.end());
  }
}

/// Returns the memory of a source row filtered along x. The rows are a ring buffer.
uint8_t *Filter::filtered_row(int row) const {
  return memory_.filtered.data() + static_cast<size_t>(row % capacity_) * row_bytes();
}

/// Returns the memory of a finished output row. The rows of its components follow each other.
uint8_t *Filter::finished_row(int y) const {
  const auto width = static_cast<size_t>(x_end_ - x_begin_);
  return memory_.finished.data() + static_cast<size_t>(y - y_.begin) * components_ * width;
}

void Filter::allocate() {
  const auto at_least = [](std::vector<uint8_t> &memory, size_t size) {
    if (memory.size() < size) memory.resize(size);
  };
  at_least(memory_.filtered, row_bytes() * capacity_ + kFilterSlack);
  memory_.samples.resize(workers_.slots());
  for (const FilterStrip &strip : strips_)
    for (auto &samples : memory_.samples) at_least(samples, strip.samples_size());
  if (strips_.size() < 2) return;
  at_least(memory_.finished, static_cast<size_t>(y_.end - y_.begin) * components_ *
                                 static_cast<size_t>(x_end_ - x_begin_));
}

void Filter::filter_columns(const ConstImage &in, size_t strip, const Band &band) {
  const FilterStrip &filter = strips_[strip];
  const int rows = band.src_end - band.src_begin;
  workers_.for_rows(rows, filter.least_rows(), [&](int64_t begin, int64_t end, int slot) {
    FilterStrip::Scratch &scratch = scratch_[slot].strips[strip];
    scratch.begin_picture();
    const int last = band.src_begin + static_cast<int>(end);
    for (int row = band.src_begin + static_cast<int>(begin), count; row < last; row += count) {
      count = std::min(filter.rows_together(), last - row);
      uint8_t *out[8];
      for (int i = 0; i < count; ++i) out[i] = filtered_row(row + i);
      filter.filter(in, row, count, scratch, memory_.samples[slot].data(), out, stride_);
    }
  });
}

/// Filters a strip's rows of a band along y and copies them to the finished rows, from
/// `first_column` on.
void Filter::finish_rows(size_t strip, const Band &band, int first_column) {
  const int begin = std::max(band.begin, y_.begin), end = std::min(band.end, y_.end);
  workers_.for_rows(end - begin, [&](int64_t first, int64_t last, int slot) {
    for (int y = begin + static_cast<int>(first); y < begin + last; ++y) {
      const uint8_t *const from = filter_row(y, scratch_[slot]);
      for (int c = 0; c < components_; ++c)
        std::copy_n(from + ptrdiff_t{c} * stride_, strips_[strip].width(),
                    finished_row(y) + ptrdiff_t{c} * (x_end_ - x_begin_) + first_column);
    }
  });
}

void Filter::finish_strips(const ConstImage &in) {
  int column = 0;
  for (size_t strip = 0; strip < strips_.size(); column += strips_[strip++].width())
    for (const Band &band : bands_) {
      filter_columns(in, strip, band);
      finish_rows(strip, band, column);
    }
}

bool Filter::finish(int y, int slot, const uint8_t **samples) {
  if (is_pad(y)) return false;
  const bool finished = strips_.size() > 1;
  const uint8_t *const row = finished ? finished_row(y) : filter_row(y, scratch_[slot]);
  const int step = finished ? x_end_ - x_begin_ : stride_;
  for (int c = 0; c < components_; ++c) samples[c] = row + ptrdiff_t{c} * step;
  return true;
}

/// Returns output row `y` of the current strip. Its components are stride_ bytes apart.
const uint8_t *Filter::filter_row(int y, Scratch &scratch) {
  const FilterWindow &window = y_.windows[y];
  if (y_.copies) return filtered_row(window.first);
  for (int i = 0; i < window.count; ++i) scratch.lines[i] = filtered_row(window.first + i);
  const FilterDigits *const digits = digits_.empty() ? nullptr : digits_.data() + first_digit_[y];
  kernels_.rows(scratch.lines.data(), {y_.weights.data() + window.weight, digits, window.count},
                static_cast<int>(row_bytes()), scratch.row.data());
  return scratch.row.data();
}

}  // namespace cudatensor::cpu
