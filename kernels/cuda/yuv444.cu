// SPDX-License-Identifier: LGPL-2.1-or-later
#include <optional>

#include "kernels/cuda/operations.h"
#include "kernels/cuda/yuv444.cuh"

namespace cudatensor::cuda {
namespace {

struct Position {
  int x, y;
};

/// Arguments of the conversion without a resize. Pointers are at the top left corner of the crop.
struct ReplicateArgs {
  const uint8_t *luma;
  const uint8_t *chroma[2];  // for interleaved chroma, the plane and null
  uint32_t luma_stride, chroma_stride[2];
  PictureArgs out;
  uint32_t select[2];  // selectors for __byte_perm: the positions of U and V in a pair
  int width, height;
  int odd;  // 1 if the first row is the second row of its chroma row
};

constexpr int kReplicated = 16;  // pixels per thread in each of two rows

/// Duplicates each of four samples.
__device__ __forceinline__ uint2 twice(uint32_t samples) {
  return {__byte_perm(samples, 0, 0x1100), __byte_perm(samples, 0, 0x3322)};
}

template <bool interleaved>
__device__ __forceinline__ void load_chroma(const ReplicateArgs &in, int x, int row,
                                            uint4 (&chroma)[2]) {
  if constexpr (interleaved) {
    const uint4 pairs =
        __ldg(reinterpret_cast<const uint4 *>(advance(in.chroma[0], row, in.chroma_stride[0]) + x));
    for (int c = 0; c < 2; ++c) {
      const uint32_t select = in.select[c];
      chroma[c] = {__byte_perm(pairs.x, 0, select), __byte_perm(pairs.y, 0, select),
                   __byte_perm(pairs.z, 0, select), __byte_perm(pairs.w, 0, select)};
    }
  } else {
    for (int c = 0; c < 2; ++c) {
      const uint2 samples = __ldg(
          reinterpret_cast<const uint2 *>(advance(in.chroma[c], row, in.chroma_stride[c]) + x / 2));
      const uint2 left = twice(samples.x), right = twice(samples.y);
      chroma[c] = {left.x, left.y, right.x, right.y};
    }
  }
}

/// Processes the pixels of a row after the last whole vector.
template <bool interleaved>
__device__ void replicate_pixels(const ReplicateArgs &in, int begin, int y, int row) {
  for (int x = begin; x < in.width; ++x) {
    store_global(advance(in.out.data[0], y, in.out.stride[0]) + x,
                 __ldg(advance(in.luma, y, in.luma_stride) + x));
    for (int c = 0; c < 2; ++c) {
      const uint32_t at = interleaved ? x / 2 * 2 + (in.select[c] & 1) : x / 2;
      const int plane = interleaved ? 0 : c;
      store_global(advance(in.out.data[1 + c], y, in.out.stride[1 + c]) + x,
                   __ldg(advance(in.chroma[plane], row, in.chroma_stride[plane]) + at));
    }
  }
}

/// Converts without a resize. All accesses are vectors. The two rows of a thread share their
/// chroma.
template <bool interleaved>
__global__ void __launch_bounds__(kReplicateBlockWidth *kReplicateBlockHeight)
    replicate(const __grid_constant__ ReplicateArgs in) {
  const int x = static_cast<int>(blockIdx.x * kReplicateBlockWidth + threadIdx.x) * kReplicated;
  const int row = static_cast<int>(blockIdx.y * kReplicateBlockHeight + threadIdx.y);
  const int first = 2 * row - in.odd;
  if (x >= in.width || first >= in.height) return;
  wait_for_previous_kernel();
  const bool whole = x + kReplicated <= in.width;
  uint4 luma[2], chroma[2];
  if (whole) load_chroma<interleaved>(in, x, row, chroma);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int y = first + i;
    if (y < 0 || y >= in.height) continue;
    if (whole)
      luma[i] = __ldg(reinterpret_cast<const uint4 *>(advance(in.luma, y, in.luma_stride) + x));
    else
      replicate_pixels<interleaved>(in, x, y, row);
  }
  if (!whole) return;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int y = first + i;
    if (y < 0 || y >= in.height) continue;
    const uint4 result[3] = {luma[i], chroma[0], chroma[1]};
#pragma unroll
    for (int c = 0; c < 3; ++c)
      store_global(reinterpret_cast<uint4 *>(advance(in.out.data[c], y, in.out.stride[c]) + x),
                   result[c]);
  }
}

/// Returns the corner of the crop if the plan only crops 4:2:0 at an even column; otherwise no
/// value.
std::optional<Position> find_crop_corner(const Yuv444Plan &plan) {
  const auto neighbours = [](const std::vector<FixedTap> &taps) {
    for (size_t i = 0; i < taps.size(); ++i)
      if (taps[i].i0 != taps[0].i0 + static_cast<int32_t>(i) || blends(taps[i])) return false;
    return true;
  };
  const Position corner = {plan.x.luma[0].i0, plan.y.luma[0].i0};
  const bool crops = neighbours(plan.x.luma) && neighbours(plan.y.luma);
  if (plan.source.direction != Direction::identity) return std::nullopt;
  if (!plan.layout.is_420() || !crops || corner.x % 2 != 0) return std::nullopt;
  return corner;
}

ReplicateArgs replicate_args(const ConstImage &in, const FormatLayout &layout, Position corner,
                             const PictureArgs &out) {
  ReplicateArgs args = {};
  const auto &luma = in.planes[layout.component[0].plane];
  args.luma = luma.data + luma.stride * corner.y + corner.x;
  args.luma_stride = stride_of(luma.stride);
  for (int c = 0; c < 2; ++c) {
    const Component &component = layout.component[1 + c];
    const auto &plane = in.planes[component.plane];
    args.chroma[c] = plane.data + plane.stride * (corner.y / 2) + corner.x / 2 * component.step;
    args.chroma_stride[c] = stride_of(plane.stride);
    args.select[c] = 0x2200u + 0x1111u * component.offset;
  }
  args.out = out;
  args.odd = corner.y % 2;
  return args;
}

/// Whether all planes can be read and written in vectors.
bool fits_vectors(const ReplicateArgs &a, bool interleaved) {
  const auto fits = [](const uint8_t *data, uint32_t stride, size_t vector) {
    return reinterpret_cast<uintptr_t>(data) % vector == 0 && stride % vector == 0;
  };
  const size_t chroma = interleaved ? sizeof(uint4) : sizeof(uint2);
  bool all = fits(a.luma, a.luma_stride, sizeof(uint4));
  for (int c = 0; c < 2; ++c) all &= fits(a.chroma[c], a.chroma_stride[c], chroma);
  for (int c = 0; c < 3; ++c) all &= fits(a.out.data[c], a.out.stride[c], sizeof(uint4));
  return all;
}

void launch_replicate(const Queue &queue, const ReplicateArgs &args, bool interleaved) {
  const dim3 block(kReplicateBlockWidth, kReplicateBlockHeight);
  const dim3 grid(blocks_for(args.width, kReplicateBlockWidth * kReplicated),
                  blocks_for((args.height + args.odd + 1) / 2, kReplicateBlockHeight));
  launch("yuv444 kernel", interleaved ? replicate<true> : replicate<false>, {grid, block}, queue,
         args);
}

class Yuv444 final : public ImageToImage {
 public:
  Yuv444(const Yuv444Params &params, const Yuv444Plan &plan, CudaDevice &device)
      : ImageToImage(params.in, params.out, plan.geometry),
        device_(device),
        resample_(device, plan),
        in_layout_(plan.layout),
        layout_(layout_of(params.out.format)),
        replicated_from_(find_crop_corner(plan)),
        words_(Launchers::pick(plan)),
        any_(Launchers::pick_any(plan)) {}

 private:
  using Launchers = Yuv444Launchers<PictureSink, 1>;

  void execute(const ConstImage &in, const Image &out, Stream stream) override {
    queue_on(device_, stream, [&](const Queue &queue) {
      if (!replicate_to(queue, in, out)) resample(queue, in, out);
    });
  }

  bool replicate_to(const Queue &queue, const ConstImage &in, const Image &out) const {
    if (!replicated_from_) return false;
    const bool interleaved = in_layout_.family == SampleFamily::semiplanar;
    ReplicateArgs args =
        replicate_args(in, in_layout_, *replicated_from_, picture_args(out, layout_));
    args.width = out.desc.width;
    args.height = out.desc.height;
    if (!fits_vectors(args, interleaved)) return false;
    launch_replicate(queue, args, interleaved);
    return true;
  }

  void resample(const Queue &queue, const ConstImage &in, const Image &out) const {
    const bool words = resample_.fits_words(in);
    const Launchers::Work work = {
        {resample_.args(in, words)}, picture_args(out, layout_), out.desc.width, out.desc.height};
    (words ? words_ : any_)("yuv444 kernel", queue, work, 1);
  }

  const CudaDevice &device_;
  UploadedYuv444 resample_;
  FormatLayout in_layout_, layout_;
  std::optional<Position> replicated_from_;
  Launchers::Result words_, any_;
};

}  // namespace

std::unique_ptr<ImageToImage> make(const Yuv444Params &params, CudaDevice &device) {
  return std::make_unique<Yuv444>(params, make_yuv444_plan(params), device);
}

}  // namespace cudatensor::cuda
