// SPDX-License-Identifier: LGPL-2.1-or-later
// bench-gpu [--quick]
// Times the CUDA operations on this machine's GPU and prints a Markdown table. Frames take turns in
// more memory than the L2 cache holds, and what is made of them is compared with the CPU backend's
// before it is timed. Fails where that differs; no time is a failure.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "empty.h"
#include "imagenet.h"

using namespace cudatensor;

namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorName(error));
}

cudaStream_t handle_of(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

/// Something to time: `frames` calls that take turns.
struct Work {
  std::string name;
  int frames;
  size_t bytes;  ///< that a call reads and writes at least; 0: not worth a rate
  std::function<void(int frame, Stream stream)> queue;
};

// ----------------------------------------------------------------------------------------- time

/// Microseconds a call.
struct Times {
  double median, least, most;
};

class Clock {
 public:
  Clock(Stream stream, bool quick) : stream_(stream), repeats_(quick ? 3 : 11) {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  ~Clock() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Clock(const Clock &) = delete;
  Clock &operator=(const Clock &) = delete;

  Stream stream() const { return stream_; }

  /// Of `batch` calls that `queue` queues at once.
  template <class Queue>
  Times time(int batch, const Queue &queue) const {
    const double once = microseconds(10, queue) / batch;  // warms up, too
    // About 20 ms, and at most 2000 calls.
    const int calls = std::clamp(static_cast<int>(20000.0 / once), 10, 2000);
    const int rounds = std::max(1, calls / batch);
    std::vector<double> all;
    for (int i = 0; i < repeats_; ++i) all.push_back(microseconds(rounds, queue) / batch);
    std::sort(all.begin(), all.end());
    return {all[all.size() / 2], all.front(), all.back()};
  }

 private:
  template <class Queue>
  double microseconds(int rounds, const Queue &queue) const {
    check(cudaEventRecord(begin_, handle_of(stream_)));
    for (int i = 0; i < rounds; ++i) queue();
    check(cudaEventRecord(end_, handle_of(stream_)));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0.0f;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1000.0 * static_cast<double>(milliseconds) / rounds;
  }

  Stream stream_;
  int repeats_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

Times time_calls(const Clock &clock, const Work &work) {
  int frame = 0;
  return clock.time(1, [&] {
    work.queue(frame, clock.stream());
    frame = (frame + 1) % work.frames;
  });
}

/// All frames as one graph: what a call costs the host does not show.
Times time_graph(const Clock &clock, const Work &work) {
  const cudaStream_t stream = handle_of(clock.stream());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < work.frames; ++i) work.queue(i, clock.stream());
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  const Times times = clock.time(work.frames, [&] { check(cudaGraphLaunch(executable, stream)); });
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  return times;
}

void print_head() {
  int device = 0, cuda = 0;
  cudaDeviceProp properties = {};
  check(cudaGetDevice(&device));
  check(cudaGetDeviceProperties(&properties, device));
  check(cudaDriverGetVersion(&cuda));
  std::string driver = "unknown";
  std::ifstream file("/proc/driver/nvidia/version");
  // NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  …
  for (std::string word; file >> word && driver == "unknown";)
    if (word.find_first_not_of("0123456789.") == std::string::npos) driver = word;
  std::printf(
      "%s, driver %s (CUDA %d.%d), L2 cache of %d MB. Microseconds a call, median (minimum to "
      "maximum): called one by one on a stream, and as a graph of all frames.\n\n",
      properties.name, driver.c_str(), cuda / 1000, cuda % 1000 / 10, properties.l2CacheSize >> 20);
  std::printf("| work | called | in a graph | GB/s |\n|---|---|---|---|\n");
}

void print(const Clock &clock, const Work &work) {
  const Times called = time_calls(clock, work), replayed = time_graph(clock, work);
  std::printf("| %s | %.2f (%.2f to %.2f) | %.2f (%.2f to %.2f) |", work.name.c_str(),
              called.median, called.least, called.most, replayed.median, replayed.least,
              replayed.most);
  if (work.bytes == 0)
    std::printf(" |\n");
  else
    std::printf(" %.0f |\n", static_cast<double>(work.bytes) / replayed.median / 1000.0);
  std::fflush(stdout);
}

// --------------------------------------------------------------------------------------- frames

/// Memory of the device, and what it was filled with.
struct Filled {
  std::vector<uint8_t> host;
  std::unique_ptr<Memory> memory;
};

void copy(Device &device, uint8_t *to, const uint8_t *from, size_t bytes) {
  const auto row = static_cast<ptrdiff_t>(bytes);
  device.copy({to, row}, {from, row}, bytes, 1, {});
  device.synchronize({});
}

Filled upload(Device &device, std::vector<uint8_t> bytes) {
  auto memory = device.allocate(bytes.size());
  copy(device, memory->data(), bytes.data(), bytes.size());
  return {std::move(bytes), std::move(memory)};
}

std::vector<uint8_t> noise(size_t bytes) {
  std::vector<uint8_t> data(bytes);
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i + sizeof(state) <= bytes; i += sizeof(state)) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::memcpy(data.data() + i, &state, sizeof(state));
  }
  return data;
}

std::unique_ptr<Memory> poisoned(Device &device, size_t bytes) {
  auto memory = device.allocate(bytes);
  check(cudaMemset(memory->data(), 0xa5, bytes));
  check(cudaDeviceSynchronize());
  return memory;
}

void expect(Device &device, const Work &work, const uint8_t *actual,
            const std::vector<uint8_t> &expected) {
  std::vector<uint8_t> bytes(expected.size());
  copy(device, bytes.data(), actual, bytes.size());
  if (bytes != expected) throw std::runtime_error(work.name + ": not what the CPU makes of it");
}

/// Enough frames that neither they nor the results stay in any cache.
int frames_of(size_t bytes) {
  return static_cast<int>(std::clamp<size_t>((160u << 20) / bytes, 4, 64));
}

ConstImage picture_at(const ImageDesc &desc, const uint8_t *data) {
  const ptrdiff_t stride = desc.width;
  return {desc, {{data, stride}, {data + stride * desc.height, stride}, {}}};
}

size_t bytes_of(const ImageDesc &desc) {
  const auto luma = static_cast<size_t>(desc.width) * static_cast<size_t>(desc.height);
  return desc.format == PixelFormat::NV12 ? luma + luma / 2 : luma;
}

// ---------------------------------------------------------------------------------------- works

Work normalize_work(Backend &cuda, Backend &cpu, const std::string &name,
                    const NormalizeParams &params) {
  struct State {
    std::unique_ptr<ImageToTensor> operation;
    Filled in;
    std::unique_ptr<Memory> out;
  };
  Device &device = *cuda.device();
  const ImageDesc in = params.source.image;
  const size_t in_bytes = bytes_of(in), out_bytes = params.out.bytes();
  const int frames = frames_of(in_bytes);
  const auto count = static_cast<size_t>(frames);
  const std::shared_ptr<State> state(new State{cuda.normalize(params),
                                               upload(device, noise(in_bytes * count)),
                                               poisoned(device, out_bytes * count)});
  Work work = {name, frames, in_bytes + out_bytes, [=](int frame, Stream stream) {
                 const auto i = static_cast<size_t>(frame);
                 state->operation->run(picture_at(in, state->in.memory->data() + i * in_bytes),
                                       {params.out, state->out->data() + i * out_bytes}, stream);
               }};
  const auto reference = cpu.normalize(params);
  std::vector<uint8_t> expected(out_bytes);
  for (int frame = 0; frame < frames; ++frame) {
    const auto i = static_cast<size_t>(frame);
    work.queue(frame, {});
    reference->run(picture_at(in, state->in.host.data() + i * in_bytes),
                   {params.out, expected.data()});
    expect(device, work, state->out->data() + i * out_bytes, expected);
  }
  return work;
}

Work histogram_work(Backend &cuda, Backend &cpu, const std::string &name, int width, int height,
                    bool flat) {
  struct State {
    std::unique_ptr<HistogramOperation> operation;
    Filled in;
    std::unique_ptr<Memory> bins;
  };
  Device &device = *cuda.device();
  const HistogramParams params = {{PixelFormat::GRAY8, width, height}, {0, 0, width, height}};
  const size_t bytes = bytes_of(params.in);
  const int frames = frames_of(bytes);
  const auto count = static_cast<size_t>(frames);
  auto pictures = flat ? std::vector<uint8_t>(bytes * count, 114) : noise(bytes * count);
  const std::shared_ptr<State> state(new State{cuda.histogram(params),
                                               upload(device, std::move(pictures)),
                                               device.allocate_pinned(count * sizeof(Bins))});
  auto *const bins = reinterpret_cast<Bins *>(state->bins->data());
  Work work = {name, frames, bytes, [=](int frame, Stream stream) {
                 const auto i = static_cast<size_t>(frame);
                 state->operation->run(picture_at(params.in, state->in.memory->data() + i * bytes),
                                       bins[i], stream);
               }};
  const auto reference = cpu.histogram(params);
  for (int frame = 0; frame < frames; ++frame) {
    Bins expected = {};
    work.queue(frame, {});
    reference->run(
        picture_at(params.in, state->in.host.data() + static_cast<size_t>(frame) * bytes),
        expected);
    if (bins[frame] != expected) throw std::runtime_error(name + ": not what the CPU counts");
  }
  return work;
}

Work shuffle_work(Backend &cuda, Backend &cpu, const std::string &name,
                  const PixelShuffleParams &params) {
  struct State {
    std::unique_ptr<TensorToTensor> operation;
    Filled in;
    std::unique_ptr<Memory> out;
  };
  Device &device = *cuda.device();
  const size_t bytes = params.in.bytes();
  const TensorDesc shape = shuffled(params);
  const std::shared_ptr<State> state(
      new State{cuda.pixelshuffle(params), upload(device, noise(bytes)), poisoned(device, bytes)});
  Work work = {name, 1, 2 * bytes, [=](int, Stream stream) {
                 state->operation->run({params.in, state->in.memory->data()},
                                       {shape, state->out->data()}, stream);
               }};
  std::vector<uint8_t> expected(bytes);
  work.queue(0, {});
  cpu.pixelshuffle(params)->run({params.in, state->in.host.data()}, {shape, expected.data()});
  expect(device, work, state->out->data(), expected);
  return work;
}

Work copy_work(Device &device, size_t bytes) {
  const std::shared_ptr<Memory> in = poisoned(device, bytes), out = poisoned(device, bytes);
  return {"copy of 1 GiB on the device", 1, 2 * bytes, [=](int, Stream stream) {
            check(cudaMemcpyAsync(out->data(), in->data(), bytes, cudaMemcpyDeviceToDevice,
                                  handle_of(stream)));
          }};
}

Work empty_work() {
  return {"empty kernel", 40, 0, [](int, Stream stream) { launch_empty(stream.handle); }};
}

NormalizeParams as_float16(NormalizeParams params) {
  params.out.dtype = DType::float16;
  return params;
}

/// A work's memory goes when it is timed.
void run(const Clock &clock, Backend &cuda, Backend &cpu) {
  const NormalizeParams full_hd = imagenet_letterbox(1920, 1080, 640);
  print(clock, empty_work());
  print(clock, copy_work(*cuda.device(), size_t{1} << 30));
  print(clock,
        normalize_work(cuda, cpu, "NV12 1920×1080 → letterboxed 640×640 float32, NCHW", full_hd));
  print(clock, normalize_work(cuda, cpu, "the same, float16", as_float16(full_hd)));
  print(clock, normalize_work(cuda, cpu, "NV12 3840×2160 → letterboxed 640×640 float32, NCHW",
                              imagenet_letterbox(3840, 2160, 640)));
  for (const bool flat : {false, true}) {
    const std::string content = flat ? ", flat" : ", random";
    print(clock,
          histogram_work(cuda, cpu, "histogram of luma, 1920×1080" + content, 1920, 1080, flat));
    print(clock,
          histogram_work(cuda, cpu, "histogram of luma, 3840×2160" + content, 3840, 2160, flat));
  }
  print(clock, shuffle_work(cuda, cpu, "pixel shuffle of (1, 256, 1088, 1920) float16, r = 2",
                            {{DType::float16, Layout::nchw, 1, 256, 1088, 1920}, 2}));
}

}  // namespace

int main(int argc, char **argv) try {
  const bool quick = argc == 2 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 && !quick) throw std::runtime_error("usage: bench-gpu [--quick]");
  const auto cuda = open_cuda_backend();
  const auto cpu = open_cpu_backend(0);
  const auto stream = cuda->device()->make_stream();
  const Clock clock(stream->get(), quick);
  print_head();
  run(clock, *cuda, *cpu);
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
