// SPDX-License-Identifier: LGPL-2.1-or-later
// npp [--quick] [--kernel-times LIBRARY] RESULTS
// Times NPP and prints rows for tables.py.
#include <npp.h>

#include <memory>

#include "peer.h"

using namespace bench;

namespace {

constexpr int kWidth = 1920, kHeight = 1080;  // the picture of a camera
constexpr int kSide = 640, kContent = 360;    // the tensor, and the rows of the picture in it
constexpr int kTop = (kSide - kContent) / 2;

void check(NppStatus status) {
  if (status < NPP_SUCCESS)  // positive values are warnings
    throw std::runtime_error("NPP failed with status " + std::to_string(static_cast<int>(status)));
}

NppStreamContext context_of(cudaStream_t stream) {
  NppStreamContext context = {};
  cudaDeviceProp properties = {};
  bench::check(cudaGetDevice(&context.nCudaDeviceId));
  bench::check(cudaGetDeviceProperties(&properties, context.nCudaDeviceId));
  context.hStream = stream;
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  bench::check(cudaStreamGetFlags(stream, &context.nStreamFlags));
  return context;
}

size_t pixels(int width, int height) {
  return static_cast<size_t>(width) * static_cast<size_t>(height);
}

/// NV12 to a letterboxed planar tensor. The intermediate results stay in the cache.
class Tensor {
 public:
  explicit Tensor(const NppStreamContext &context) : context_(context) {}

  void run(const uint8_t *in, float *out) const {
    const Npp8u *const planes[2] = {in, in + pixels(kWidth, kHeight)};
    auto *const rgb = rgb_.data(), *const small = small_.data(), *const padded = padded_.data();
    auto *const floats = floats_.data<float>();
    const NppiSize whole = {kWidth, kHeight}, content = {kSide, kContent}, square = {kSide, kSide};
    const int row = kSide * 3, float_row = row * 4;
    float *const out_planes[3] = {out, out + pixels(kSide, kSide), out + 2 * pixels(kSide, kSide)};
    check(nppiNV12ToRGB_709CSC_8u_P2C3R_Ctx(planes, kWidth, rgb, kWidth * 3, whole, context_));
    check(nppiResize_8u_C3R_Ctx(rgb, kWidth * 3, whole, {0, 0, kWidth, kHeight}, small, row,
                                content, {0, 0, kSide, kContent}, NPPI_INTER_LINEAR, context_));
    check(nppiCopyConstBorder_8u_C3R_Ctx(small, row, content, padded, row, square, kTop, 0, kPad,
                                         context_));
    check(nppiConvert_8u32f_C3R_Ctx(padded, row, floats, float_row, square, context_));
    check(nppiMulC_32f_C3IR_Ctx(kScale, floats, float_row, square, context_));
    check(nppiAddC_32f_C3IR_Ctx(kOffset, floats, float_row, square, context_));
    check(nppiCopy_32f_C3P3R_Ctx(floats, float_row, out_planes, kSide * 4, square, context_));
  }

 private:
  static constexpr Npp8u kPad[3] = {114, 114, 114};
  static constexpr Npp32f kScale[3] = {1 / (255 * 0.229f), 1 / (255 * 0.224f), 1 / (255 * 0.225f)};
  static constexpr Npp32f kOffset[3] = {-0.485f / 0.229f, -0.456f / 0.224f, -0.406f / 0.225f};

  NppStreamContext context_;
  Buffer rgb_{pixels(kWidth, kHeight) * 3}, small_{pixels(kSide, kContent) * 3};
  Buffer padded_{pixels(kSide, kSide) * 3}, floats_{pixels(kSide, kSide) * 12};
};

Peer tensor(const NppStreamContext &context, int batch) {
  const auto chain = std::make_shared<Tensor>(context);
  const size_t in_bytes = pixels(kWidth, kHeight) * 3 / 2, out_bytes = pixels(kSide, kSide) * 12;
  Peer peer;
  peer.shape = {in_bytes, out_bytes, batch, false};
  peer.frame = [](int pattern) { return nv12(kWidth, kHeight, pattern); };
  peer.call = [=](const uint8_t *in, uint8_t *out) {
    for (int i = 0; i < batch; ++i, in += in_bytes, out += out_bytes)
      chain->run(in, reinterpret_cast<float *>(out));
  };
  peer.compare = [](const Bytes &actual, const uint8_t *expected) {
    compare_about<float>(actual, expected,
                         255 * 0.226);  // the size of a level, about the same in all channels
  };
  peer.expected_bytes = out_bytes;
  return peer;
}

// --------------------------------------------------------------------------------------- pictures

constexpr int kWidth4k = 3840, kHeight4k = 2160;

Peer bgr(size_t out_bytes) {
  Peer peer;
  peer.shape = {pixels(kWidth4k, kHeight4k) * 3 / 2, out_bytes};
  peer.frame = [](int pattern) { return nv12(kWidth4k, kHeight4k, pattern); };
  peer.compare = [](const Bytes &actual, const uint8_t *expected) {
    compare_about<uint8_t>(actual, expected, 1.0);
  };
  peer.expected_bytes = out_bytes;
  return peer;
}

void to_bgr(const uint8_t *in, uint8_t *out, const NppStreamContext &context) {
  const Npp8u *const planes[2] = {in, in + pixels(kWidth4k, kHeight4k)};
  check(nppiNV12ToBGR_709CSC_8u_P2C3R_Ctx(planes, kWidth4k, out, kWidth4k * 3,
                                          {kWidth4k, kHeight4k}, context));
}

Peer bgr_4k(const NppStreamContext &context) {
  Peer peer = bgr(pixels(kWidth4k, kHeight4k) * 3);
  peer.call = [=](const uint8_t *in, uint8_t *out) { to_bgr(in, out, context); };
  return peer;
}

Peer bgr_half(const NppStreamContext &context) {
  Peer peer = bgr(pixels(kWidth, kHeight) * 3);
  const auto whole = std::make_shared<Buffer>(pixels(kWidth4k, kHeight4k) * 3);
  peer.call = [=](const uint8_t *in, uint8_t *out) {
    to_bgr(in, whole->data(), context);
    check(nppiResize_8u_C3R_Ctx(whole->data(), kWidth4k * 3, {kWidth4k, kHeight4k},
                                {0, 0, kWidth4k, kHeight4k}, out, kWidth * 3, {kWidth, kHeight},
                                {0, 0, kWidth, kHeight}, NPPI_INTER_LINEAR, context));
  };
  return peer;
}

// ------------------------------------------------------------------------------------- histograms

/// The histogram of a picture with one byte per pixel.
class Histogram {
 public:
  Histogram(int width, int height, const NppStreamContext &context)
      : context_(context), size_{width, height} {
    size_t bytes = 0;
    check(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(size_, kBins + 1, &bytes, context_));
    scratch_ = std::make_unique<Buffer>(bytes);
  }
  void run(const uint8_t *in, uint8_t *out) const {
    check(nppiHistogramEven_8u_C1R_Ctx(in, size_.width, size_, reinterpret_cast<Npp32s *>(out),
                                       kBins + 1, 0, kBins, scratch_->data(), context_));
  }

 private:
  NppStreamContext context_;
  NppiSize size_;
  std::unique_ptr<Buffer> scratch_;
};

Peer histogram_peer(int width, int height, int channels) {
  Peer peer;
  const size_t bytes = pixels(width, height) * static_cast<size_t>(channels);
  peer.shape = {bytes, kBins * sizeof(Npp32s)};
  peer.frame = [=](int pattern) { return noise(bytes, pattern); };
  peer.compare = compare_bins;
  peer.expected_bytes = kBins * sizeof(uint64_t);
  return peer;
}

Peer histogram(int width, int height, bool is_flat, const NppStreamContext &context) {
  Peer peer = histogram_peer(width, height, 1);
  const auto operation = std::make_shared<Histogram>(width, height, context);
  peer.call = [=](const uint8_t *in, uint8_t *out) { operation->run(in, out); };
  if (is_flat) peer.frame = [bytes = peer.shape.in_bytes](int) { return flat(bytes); };
  return peer;
}

/// The histogram of BGR or RGBx, which is converted to gray first.
Peer color_histogram(int channels, const NppStreamContext &context) {
  Peer peer = histogram_peer(kWidth, kHeight, channels);
  const auto operation = std::make_shared<Histogram>(kWidth, kHeight, context);
  const auto gray = std::make_shared<Buffer>(pixels(kWidth, kHeight));
  const auto make_gray =
      channels == 3 ? nppiColorToGray_8u_C3C1R_Ctx : nppiColorToGray_8u_AC4C1R_Ctx;
  peer.call = [=](const uint8_t *in, uint8_t *out) {
    const Npp32f bgr[3] = {0.114f, 0.587f, 0.299f}, rgb[3] = {0.299f, 0.587f, 0.114f};
    check(make_gray(in, kWidth * channels, gray->data(), kWidth, {kWidth, kHeight},
                    channels == 3 ? bgr : rgb, context));
    operation->run(gray->data(), out);
  };
  peer.compare = compare_bins_about;
  return peer;
}

void add_all(Peers &peers, const NppStreamContext &context) {
  const std::string seven = "NPP, 7 calls", two = "NPP, 2 calls", one = "NPP";
  peers.add("tensor", seven, "tensor", [&] { return tensor(context, 1); });
  peers.add("batch", seven + " per frame", "tensor", [&] { return tensor(context, 64); });
  peers.add("bgr-4k", one, "bgr-4k", [&] { return bgr_4k(context); });
  peers.add("bgr-half", two, "bgr-half", [&] { return bgr_half(context); });
  for (const bool is_flat : {false, true}) {
    const std::string end = is_flat ? "-flat" : "";
    peers.add("histogram" + end, one, "histogram" + end,
              [&] { return histogram(kWidth, kHeight, is_flat, context); });
    peers.add("histogram-4k" + end, one, "histogram-4k" + end,
              [&] { return histogram(kWidth4k, kHeight4k, is_flat, context); });
  }
  peers.add("histogram-bgr", two, "histogram-bgr", [&] { return color_histogram(3, context); });
  peers.add("histogram-rgbx", two, "histogram-rgbx", [&] { return color_histogram(4, context); });
}

}  // namespace

int main(int argc, char **argv) try {
  const Options options = parse_options(argc, argv);
  const NppLibraryVersion *const version = nppGetLibVersion();
  Line()
      .text("program", "NPP")
      .text("version", std::to_string(version->major) + '.' + std::to_string(version->minor) + '.' +
                           std::to_string(version->build))
      .print();
  cudaStream_t stream = nullptr;
  bench::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Peers peers(options, stream);
  add_all(peers, context_of(stream));
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
