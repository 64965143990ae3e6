// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <optional>

#include "kernels/cpu/filter.h"
#include "kernels/cpu/matrixrows.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/resample.h"
#include "kernels/cpu/yuv444.h"

namespace cudatensor::cpu {
namespace {

/// The fixed-point path. It widens its results to float rows, as the float path returns them.
class FixedRows {
 public:
  explicit FixedRows(Yuv444Plan plan) : rows_(std::move(plan)), kernels_(row_kernels()) {}

  struct Scratch {
    Yuv444Rows::Scratch fixed;
    std::vector<uint8_t> samples[3];
    std::vector<float> component[3];

    void begin_picture() { fixed.begin_picture(); }
  };

  Scratch make_scratch() const {
    Scratch scratch = {rows_.make_scratch(), {}, {}};
    for (auto &row : scratch.samples) row.resize(rows_.width());
    for (auto &row : scratch.component) row.resize(rows_.width());
    return scratch;
  }

  bool produce(const ConstImage &in, int y, Scratch &scratch) const {
    uint8_t *samples[3];
    for (int c = 0; c < 3; ++c) samples[c] = scratch.samples[c].data();
    rows_.produce(in, y, scratch.fixed, samples);
    for (int c = 0; c < 3; ++c)
      kernels_.widen(samples[c], rows_.width(), scratch.component[c].data());
    return true;
  }

  /// The columns that are not pad.
  int begin() const { return 0; }
  int end() const { return rows_.width(); }
  int least_rows() const { return rows_.least_rows(); }

 private:
  Yuv444Rows rows_;
  const RowKernels &kernels_;
};

/// The rows of a slot without a picture.
struct NoRows {
  struct Scratch {
    std::vector<float> component[3];

    void begin_picture() {}
  };

  Scratch make_scratch() const { return {}; }
  bool produce(const ConstImage &, int, Scratch &) const { return false; }
  int begin() const { return 0; }
  int end() const { return 0; }
  int least_rows() const { return 1; }
};

/// Fills one slot of a tensor.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void run(const ConstImage &in, uint8_t *out) = 0;
};

/// Stores rows of components as rows of a tensor.
class RowStore {
 public:
  /// Columns outside [begin, end) are pad.
  RowStore(const TensorPlan &plan, int begin, int end)
      : out_(plan.slot),
        swap_(plan.swap),
        pad_is_zero_(plan.pad_is_zero),
        begin_(begin),
        end_(end),
        kernels_(row_kernels()),
        packed_(plan.slot.layout == Layout::nhwc && plan.slot.c == 3),
        row_(plan.slot.w * size_of(plan.slot.dtype)),
        channel_step_(plan.slot.channel_step() * size_of(plan.slot.dtype)),
        pad_(row_ * plan.slot.c) {
    std::copy(plan.channel, plan.channel + 3, channel_);
    if (pad_is_zero_) return;
    std::vector<float> component[3];
    for (int c = 0; c < 3; ++c) component[c].assign(plan.slot.w, plan.pad[c]);
    Elements elements = make_elements();
    put(component, elements, 0, row_, pad_.data());
  }

  /// Scratch of one thread: the channels of a row, before they are interleaved.
  using Elements = std::vector<uint8_t>;
  Elements make_elements() const { return Elements(packed_ ? 3 * row_ : 0); }

  void put(const std::vector<float> *component, Elements &elements, int y, uint8_t *data) const {
    put(component, elements, y, channel_step_, data);
  }

  void put_pad(int y, uint8_t *data) const {
    if (packed_) {
      std::copy(pad_.begin(), pad_.end(), data + y * pad_.size());
      return;
    }
    for (int64_t c = 0; c < out_.c; ++c)
      std::copy_n(pad_.begin() + c * row_, row_, data + c * channel_step_ + y * row_);
  }

 private:
  void put(const std::vector<float> *component, Elements &elements, int y, size_t channel_step,
           uint8_t *data) const {
    const auto normalize = kernels_.normalize[static_cast<int>(out_.dtype)];
    const void *rows[3] = {};
    for (int64_t c = 0; c < out_.c; ++c) {
      uint8_t *to = packed_ ? elements.data() + c * row_ : data + c * channel_step + y * row_;
      normalize(channel_[c], component[swap_ ? 2 - c : c].data(), static_cast<int>(out_.w), to);
      if (pad_is_zero_) clear_pad(to);
      rows[c] = to;
    }
    if (packed_) kernels_.interleave[size_of(out_.dtype)](rows, 3, out_.w, data + y * 3 * row_);
  }

  /// Sets the pad columns to zero: in all types, the bits of zero are 0.
  void clear_pad(uint8_t *row) const {
    const size_t size = size_of(out_.dtype);
    std::fill(row, row + begin_ * size, uint8_t{0});
    std::fill(row + end_ * size, row + row_, uint8_t{0});
  }

  TensorDesc out_;
  ChannelScale channel_[3];
  bool swap_;  // channels 0 and 2 change places
  bool pad_is_zero_;
  size_t begin_, end_;
  const RowKernels &kernels_;
  bool packed_;          // three channels side by side
  size_t row_;           // bytes of a channel's row
  size_t channel_step_;  // bytes from channel to channel, unless packed
  Elements pad_;         // a row that is all pad, channel after channel unless packed
};

template <class Rows>
class RowNormalizer final : public Normalizer {
 public:
  RowNormalizer(const TensorPlan &plan, Rows rows, Workers &workers)
      : rows_(std::move(rows)),
        store_(plan, rows_.begin(), rows_.end()),
        kernels_(row_kernels()),
        round_(plan.round),
        out_(plan.slot),
        workers_(workers) {
    for (int i = 0; i < workers.slots(); ++i)
      scratch_.push_back({rows_.make_scratch(), store_.make_elements()});
  }

  void run(const ConstImage &in, uint8_t *data) override {
    workers_.for_rows(out_.h, rows_.least_rows(), [&](int64_t begin, int64_t end, int slot) {
      Scratch &scratch = scratch_[slot];
      scratch.rows.begin_picture();
      for (int y = static_cast<int>(begin); y < end; ++y) {
        if (!rows_.produce(in, y, scratch.rows)) {
          store_.put_pad(y, data);
          continue;
        }
        if (round_) round(scratch.rows);
        store_.put(scratch.rows.component, scratch.elements, y, data);
      }
    });
  }

 private:
  struct Scratch {
    typename Rows::Scratch rows;
    RowStore::Elements elements;
  };

  void round(typename Rows::Scratch &scratch) const {
    for (int64_t c = 0; c < out_.c; ++c)
      kernels_.round(static_cast<int>(out_.w), scratch.component[c].data());
  }

  Rows rows_;
  RowStore store_;
  const RowKernels &kernels_;
  bool round_;
  TensorDesc out_;
  Workers &workers_;
  std::vector<Scratch> scratch_;
};

class FilterNormalizer final : public Normalizer {
 public:
  FilterNormalizer(const TensorPlan &plan, const FilterPlan &filter, Workers &workers,
                   FilterMemory &memory)
      : filter_(filter, workers, memory),
        store_(plan, filter_.begin(), filter_.end()),
        kernels_(row_kernels()),
        channels_(static_cast<int>(plan.slot.c)) {
    for (int i = 0; i < workers.slots(); ++i) {
      scratch_.push_back({{}, store_.make_elements()});
      for (int c = 0; c < 3; ++c) scratch_.back().component[c].assign(plan.slot.w, plan.pad[c]);
    }
  }

  void run(const ConstImage &in, uint8_t *data) override {
    filter_.run(in, [&](int y, const uint8_t *const *samples, int slot) {
      if (samples == nullptr) return store_.put_pad(y, data);
      Scratch &scratch = scratch_[slot];
      for (int c = 0; c < channels_; ++c)
        kernels_.widen(samples[c], filter_.end() - filter_.begin(),
                       scratch.component[c].data() + filter_.begin());
      store_.put(scratch.component, scratch.elements, y, data);
    });
  }

 private:
  struct Scratch {
    std::vector<float> component[3];  // holds the pad color where no row is written
    RowStore::Elements elements;
  };

  Filter filter_;
  RowStore store_;
  const RowKernels &kernels_;
  int channels_;
  std::vector<Scratch> scratch_;
};

std::unique_ptr<Normalizer> make_normalizer(const TensorPlan &tensor, const SlotPlan &plan,
                                            Workers &workers, FilterMemory &memory) {
  if (const auto *fixed = std::get_if<Yuv444Plan>(&plan.sampling))
    return std::make_unique<RowNormalizer<FixedRows>>(tensor, FixedRows(*fixed), workers);
  if (const auto *filter = std::get_if<FilterPlan>(&plan.sampling))
    return std::make_unique<FilterNormalizer>(tensor, *filter, workers, memory);
  if (const auto *matrix = std::get_if<MatrixPlan>(&plan.sampling))
    return std::make_unique<RowNormalizer<MatrixRows>>(tensor, MatrixRows(*matrix), workers);
  return std::make_unique<RowNormalizer<ResampleRows>>(
      tensor, ResampleRows(std::get<ResamplePlan>(plan.sampling)), workers);
}

class Normalize final : public NormalizeOperation {
 public:
  Normalize(const NormalizeParams &params, const TensorDesc &out, Workers &workers)
      : NormalizeOperation(params, out), workers_(workers), normalizers_(out.n) {
    update_params();
  }

 private:
  /// Discards all plans, because their RowStores depend on the tensor's plan.
  void update_params() override {
    plans().forget();
    pad_.emplace(plans().tensor(), NoRows(), workers_);
  }

  void execute(const std::vector<Slot> &slots, const Tensor &out, Stream) override {
    for (const auto &[place, plan] : plans().update(slots))
      normalizers_[place] = make_normalizer(plans().tensor(), plan, workers_, memory_);
    auto *data = static_cast<uint8_t *>(out.data);
    const auto step = out.desc.slot_step() * size_of(out.desc.dtype);
    for (int64_t i = 0; i < out.desc.n; ++i, data += step) {
      const size_t place = plans().place(i);
      if (place == SlotPlans::kPad)
        pad_->run({}, data);
      else
        normalizers_[place]->run(slots[i].image, data);
    }
  }

  Workers &workers_;
  FilterMemory memory_;
  std::optional<RowNormalizer<NoRows>> pad_;
  std::vector<std::unique_ptr<Normalizer>> normalizers_;  // by the place of the plan
};

}  // namespace

std::unique_ptr<NormalizeOperation> make(const NormalizeParams &params, const TensorDesc &out,
                                         Workers &workers) {
  return std::make_unique<Normalize>(params, out, workers);
}

}  // namespace cudatensor::cpu
