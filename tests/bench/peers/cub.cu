// SPDX-License-Identifier: LGPL-2.1-or-later
// cub [--quick] [--kernel-times LIBRARY] RESULTS
// Times CUB's histogram and prints rows for tables.py.
#include <cub/device/device_histogram.cuh>
#include <cub/version.cuh>
#include <memory>

#include "peer.h"

using namespace bench;

namespace {

Peer histogram(int width, int height, bool is_flat, cudaStream_t stream) {
  Peer peer;
  const int pixels = width * height;
  const auto bytes = static_cast<size_t>(pixels);
  size_t scratch_bytes = 0;
  check(cub::DeviceHistogram::HistogramEven(
      nullptr, scratch_bytes, static_cast<const uint8_t *>(nullptr), static_cast<int *>(nullptr),
      kBins + 1, 0, kBins, pixels, stream));
  const auto scratch = std::make_shared<Buffer>(std::max<size_t>(scratch_bytes, 1));
  peer.shape = {bytes, kBins * sizeof(int)};
  peer.frame = [=](int pattern) { return is_flat ? flat(bytes) : noise(bytes, pattern); };
  peer.call = [=](const uint8_t *in, uint8_t *out) {
    size_t size = scratch_bytes;
    check(cub::DeviceHistogram::HistogramEven(scratch->data(), size, in,
                                              reinterpret_cast<int *>(out), kBins + 1, 0, kBins,
                                              pixels, stream));
  };
  peer.compare = compare_bins;
  peer.expected_bytes = kBins * sizeof(uint64_t);
  return peer;
}

}  // namespace

int main(int argc, char **argv) try {
  const Options options = parse_options(argc, argv);
  Line()
      .text("program", "CUB")
      .text("version", std::to_string(CUB_MAJOR_VERSION) + '.' + std::to_string(CUB_MINOR_VERSION) +
                           '.' + std::to_string(CUB_SUBMINOR_VERSION))
      .print();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Peers peers(options, stream);
  for (const bool is_flat : {false, true}) {
    const std::string end = is_flat ? "-flat" : "";
    peers.add("histogram" + end, "CUB", "histogram" + end,
              [&] { return histogram(1920, 1080, is_flat, stream); });
    peers.add("histogram-4k" + end, "CUB", "histogram-4k" + end,
              [&] { return histogram(3840, 2160, is_flat, stream); });
  }
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
