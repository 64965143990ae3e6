// SPDX-License-Identifier: LGPL-2.1-or-later
// deepstream [--quick] [--kernel-times LIBRARY] RESULTS Times NvBufSurfTransform of DeepStream's
// libraries, with which nvdspreprocess scales and converts frames, and prints rows for tables.py.
// The kernels with which it then normalizes them are not in these libraries, so a simple one of
// ours replaces them. Does not use Peers of peer.h, whose frames have no gaps between rows, because
// DeepStream allocates these frames, as its decoder does.
#include <utility>

#include "deepstream.h"
#include "peer.h"

using namespace bench;
using namespace bench::deepstream;

namespace {

// ------------------------------------------------------------------------------------- normalizing

constexpr int kSide = 640;  // side of the tensor
constexpr size_t kPixels = size_t{kSide} * kSide, kTensorBytes = 3 * kPixels * sizeof(float);
constexpr int kMostFrames = 64;

/// Values are (level - offset) * scale.
struct Channels {
  float offset[3] = {255 * 0.485f, 255 * 0.456f, 255 * 0.406f};
  float scale[3] = {1 / (255 * 0.229f), 1 / (255 * 0.224f), 1 / (255 * 0.225f)};
};

/// RGBA pictures of kSide × kSide.
struct Pictures {
  const uint8_t *data[kMostFrames];
  uint32_t pitch;
};

__global__ void normalize(Pictures pictures, Channels channels, float *out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kSide || y >= kSide) return;
  const uint8_t *const row = pictures.data[blockIdx.z] + size_t{y} * pictures.pitch;
  const uchar4 pixel = reinterpret_cast<const uchar4 *>(row)[x];
  float *const at = out + blockIdx.z * 3 * kPixels + y * kSide + x;
  at[0] = (pixel.x - channels.offset[0]) * channels.scale[0];
  at[kPixels] = (pixel.y - channels.offset[1]) * channels.scale[1];
  at[2 * kPixels] = (pixel.z - channels.offset[2]) * channels.scale[2];
}

void normalize_batch(const Surfaces &from, int batch, float *out, cudaStream_t stream) {
  Pictures pictures = {};
  for (int i = 0; i < batch; ++i) pictures.data[i] = from.plane(i, 0);
  pictures.pitch = from[0].planes.pitch[0];
  const dim3 threads(32, 8);
  const dim3 blocks(kSide / threads.x, kSide / threads.y, static_cast<unsigned>(batch));
  normalize<<<blocks, threads, 0, stream>>>(pictures, Channels(), out);
  check(cudaGetLastError());
}

/// Returns the tensor of a picture, computed on the CPU.
Bytes normalized(const Surfaces &from, int surface) {
  Bytes rgba(4 * kPixels), tensor(kTensorBytes);
  check(cudaMemcpy2D(rgba.data(), 4 * kSide, from.plane(surface, 0), from[surface].planes.pitch[0],
                     4 * kSide, kSide, cudaMemcpyDeviceToHost));
  auto *const values = reinterpret_cast<float *>(tensor.data());
  const Channels channels;
  for (size_t i = 0; i < 3 * kPixels; ++i) {
    const size_t c = i / kPixels;
    values[i] = (rgba[4 * (i % kPixels) + c] - channels.offset[c]) * channels.scale[c];
  }
  return tensor;
}

// ------------------------------------------------------------------------------------------- calls

/// Returns our work with a letterboxed tensor as its result.
struct Case {
  const char *work, *expected;
  int width, height, batch;
};

constexpr Case kCases[] = {{"tensor", "tensor", 1920, 1080, 1},
                           {"tensor-4k", "tensor-4k", 3840, 2160, 1},
                           {"batch", "tensor", 1920, 1080, 64},
                           {"batch-4k-64", "tensor-4k", 3840, 2160, 64}};

/// Batches of NV12 to batches of RGBA, which are then normalized or not.
class Chain {
 public:
  Chain(const DeepStream &library, const Case &of, bool normalizes, cudaStream_t stream)
      : library_(library), case_(of), normalizes_(normalizes), stream_(stream) {
    check(cudaGetDevice(&session_.gpu_id));
    session_.compute_mode = kComputeOnGpu;
    session_.stream = stream;
    make_sources();
    make_scaled();
    make_rectangles();
    const int calls = (frames_of(kTensorBytes) + of.batch - 1) / of.batch;
    tensors_count_ = std::min(calls, static_cast<int>(sources_.size()));
    tensors_ = std::make_unique<Buffer>(batch_bytes() * static_cast<size_t>(tensors_count_));
  }
  ~Chain() { finish(pending_); }

  /// Processes the frames of one turn. The session is set for each batch, as in nvdspreprocess.
  /// There, a second thread waits for a batch while the first queues the next, so this waits for
  /// the previous call.
  void call(int number) {
    const Surfaces &scaled = turn(scaled_, number);
    SyncObject *sync = nullptr;
    check_result(library_.set_session(&session_), "NvBufSurfTransformSetSessionParams");
    check_result(library_.transform(turn(sources_, number).get(), scaled.get(), &params_, &sync),
                 "NvBufSurfTransformAsync");
    if (normalizes_) normalize_batch(scaled, case_.batch, tensors(number), stream_);
    finish(std::exchange(pending_, sync));
  }

  void compare(const std::string &path) {
    const Bytes expected = read_file(path);
    const size_t count = expected.size() / kTensorBytes;
    if (count == 0) throw std::runtime_error("the result of bench-gpu is too short");
    const int calls =
        std::min(std::max(1, 4 * kPatterns / case_.batch), static_cast<int>(sources_.size()));
    for (int number = 0; number < calls; ++number) {
      check(cudaMemset(tensors(number), 0xa5, batch_bytes()));
      check(cudaDeviceSynchronize());
      call(number);
      check(cudaDeviceSynchronize());
      for (int i = 0; i < case_.batch; ++i) {
        const auto frame = static_cast<size_t>(number * case_.batch + i);
        // 255 * 0.226 is the size of a level, about the same in all channels.
        compare_about<float>(result(number, i), expected.data() + frame % count * kTensorBytes,
                             255 * 0.226);
      }
    }
  }

 private:
  size_t batch_bytes() const { return kTensorBytes * static_cast<size_t>(case_.batch); }
  float *tensors(int number) const {
    const auto place = static_cast<size_t>(number % tensors_count_);
    return tensors_->data<float>() + place * batch_bytes() / sizeof(float);
  }

  Bytes result(int number, int i) const {
    if (!normalizes_) return normalized(turn(scaled_, number), i);
    Bytes tensor(kTensorBytes);
    check(cudaMemcpy(tensor.data(), tensors(number) + static_cast<size_t>(i) * 3 * kPixels,
                     kTensorBytes, cudaMemcpyDeviceToHost));
    return tensor;
  }

  void make_sources() {
    const int width = case_.width, height = case_.height, batch = case_.batch;
    const int frames = frames_of(static_cast<size_t>(width) * static_cast<size_t>(height) * 3 / 2);
    std::vector<Bytes> patterns;
    for (int i = 0; i < kPatterns; ++i) patterns.push_back(nv12(width, height, i));
    for (int i = 0; i < frames; i += batch) {
      sources_.push_back(
          std::make_unique<Surfaces>(library_, nvmm::ColorFormat::nv12_709, width, height, batch));
      for (int j = 0; j < batch; ++j)
        sources_.back()->write_nv12(j, patterns[static_cast<size_t>((i + j) % kPatterns)]);
    }
  }

  /// The number of batches is the element's default. Its padding is black; ours equals that of the
  /// compared results, which takes the same time. It is set once, not for each frame.
  void make_scaled() {
    for (int i = 0; i < 6; ++i) {
      scaled_.push_back(
          std::make_unique<Surfaces>(library_, nvmm::ColorFormat::rgba, kSide, kSide, case_.batch));
      scaled_.back()->fill(kPad);
    }
  }

  void make_rectangles() {
    Rect whole = {}, content = {};
    whole.width = static_cast<uint32_t>(case_.width);
    whole.height = static_cast<uint32_t>(case_.height);
    content.width = kSide;
    content.height = kSide * whole.height / whole.width;  // all pictures are wide
    content.top = (kSide - content.height) / 2;
    from_.assign(static_cast<size_t>(case_.batch), whole);
    to_.assign(static_cast<size_t>(case_.batch), content);
    params_.flags = kCropSource | kCropDestination | kSetFilter;
    params_.flip = kNoFlip;
    params_.filter = kBilinear;
    params_.source = from_.data();
    params_.destination = to_.data();
  }

  void finish(SyncObject *sync) const {
    if (!sync) return;
    library_.wait(sync, ~uint32_t{0});
    library_.destroy_sync(&sync);
  }

  static constexpr uint8_t kPad = 114;

  const DeepStream &library_;
  const Case &case_;
  bool normalizes_;
  cudaStream_t stream_;
  SessionParams session_ = {};
  TransformParams params_ = {};
  std::vector<Rect> from_, to_;
  Pool sources_, scaled_;
  std::unique_ptr<Buffer> tensors_;
  int tensors_count_ = 0;
  SyncObject *pending_ = nullptr;  ///< the previous call's
};

void add(const Options &options, const DeepStream &library, const Case &of, bool normalizes,
         cudaStream_t stream) {
  Line line;
  line.text("work", of.work)
      .text("who", normalizes ? "DeepStream's NvBufSurfTransform to RGBA, then a normalizing "
                                "kernel of ours"
                              : "DeepStream's NvBufSurfTransform alone, to RGBA");
  try {
    Chain chain(library, of, normalizes, stream);
    if (options.kernel_times.empty()) chain.compare(options.results + "/expected/" + of.expected);
    int number = 0;
    add_times(line, options, stream, of.batch, [&] { chain.call(number++); });
  } catch (const std::exception &error) {
    line.text("why", error.what());
  }
  cudaGetLastError();  // clears the error for the next row
  line.print();
}

}  // namespace

int main(int argc, char **argv) try {
  const Options options = parse_options(argc, argv);
  const DeepStream library;
  Line().text("program", "DeepStream").text("version", library.version()).print();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const Case &of : kCases)
    for (const bool normalizes : {false, true}) add(options, library, of, normalizes, stream);
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
