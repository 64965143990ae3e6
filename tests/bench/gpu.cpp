// SPDX-License-Identifier: LGPL-2.1-or-later
// bench-gpu [--quick] [--kernel-times LIBRARY] RESULTS
// Times the CUDA operations on this machine's GPU and prints rows for tables.py. Before an
// operation is timed, its results are compared with those of the CPU backend, which are also
// written to RESULTS/expected for the programs of other software. Fails if results differ or an
// operation cannot be timed. With a LIBRARY, which is built from kerneltimes.cpp, times kernels
// instead of calls and compares nothing.
#include <filesystem>
#include <fstream>

#include "empty.h"
#include "rotation.h"
#include "works.h"

using namespace bench;
using namespace cudatensor;

namespace {

cudaStream_t handle_of(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

std::vector<Bytes> expected_of(const Work &work, const std::vector<Bytes> &patterns) {
  std::vector<Bytes> expected;
  for (const Bytes &pattern : patterns) {
    expected.emplace_back(work.shape.out_bytes);
    work.cpu(pattern.data(), expected.back().data(), {});
  }
  return expected;
}

/// Writes the results for other software, one after the other, or their digests if they are large.
void share(const Work &work, const std::vector<Bytes> &expected, const std::string &results) {
  const std::filesystem::path folder = results + "/expected";
  std::filesystem::create_directories(folder);
  const bool large = work.shape.out_bytes > size_t{64} << 20;
  std::ofstream file(folder / (work.key + (large ? ".digest" : "")), std::ios::binary);
  for (const Bytes &bytes : expected) {
    const uint64_t sum = digest(bytes);
    if (large)
      file.write(reinterpret_cast<const char *>(&sum), sizeof(sum));
    else
      file.write(reinterpret_cast<const char *>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
  }
  if (!file.flush()) throw std::runtime_error("cannot write to " + folder.string());
}

void compare(const Work &work, const Rotation &rotation, const std::vector<Bytes> &expected) {
  rotation.for_each_result([&](const uint8_t *in, uint8_t *out) { work.cuda(in, out, {}); },
                           [&](int frame, const Bytes &actual) {
                             if (actual != expected[static_cast<size_t>(frame) % expected.size()])
                               throw std::runtime_error("the result of frame " +
                                                        std::to_string(frame) +
                                                        " differs from the CPU's");
                           });
}

class Program {
 public:
  Program(const Options &options, Device &device)
      : options_(options), owned_(device.make_stream()), stream_(owned_->get()) {}

  bool failed() const { return failed_; }

  void run(const Work &work) {
    const bool row = !work.table.empty();
    if (!row && times_kernels()) return;
    Line line;
    line.text("work", work.key).text("who", "ours").text("table", work.table);
    line.text("title", work.title).number("bytes", work.moved);
    guard(line, [&] { time(work, line); });
    if (row) line.print();
  }

  /// The limits of all operations: the time of a launch and the rate of a copy.
  void run_limits() {
    time_limit("empty", "an empty kernel", 0, [this] { launch_empty(stream_.handle); });
    const size_t bytes = size_t{1} << 30;
    const Buffer in(bytes), out(bytes);
    check(cudaMemset(in.data(), 0xa5, bytes));
    time_limit("copy", "a copy of 1 GiB on the device", 2 * bytes, [&] {
      check(cudaMemcpyAsync(out.data(), in.data(), bytes, cudaMemcpyDeviceToDevice,
                            handle_of(stream_)));
    });
  }

 private:
  bool times_kernels() const { return !options_.kernel_times.empty(); }

  /// If `fill` fails, the row contains the reason.
  template <class Fill>
  void guard(Line &line, const Fill &fill) {
    try {
      fill();
    } catch (const std::exception &error) {
      line.text("why", error.what());
      std::fprintf(stderr, "%s\n", error.what());
      failed_ = true;
    }
  }

  void time(const Work &work, Line &line) {
    const std::vector<Bytes> patterns = patterns_of(work.shape, work.frame);
    std::vector<Bytes> expected;
    if (!times_kernels()) expected = expected_of(work, patterns);
    if (work.shared && !times_kernels()) share(work, expected, options_.results);
    if (work.table.empty()) return;
    const Rotation rotation(work.shape, patterns);
    if (!times_kernels()) compare(work, rotation, expected);
    int frame = 0;
    add_times(line, options_, handle_of(stream_), work.shape.batch, [&] {
      work.cuda(rotation.in(frame), rotation.out(frame), stream_);
      frame = rotation.next(frame);
    });
  }

  template <class Call>
  void time_limit(const std::string &key, const std::string &title, size_t bytes,
                  const Call &call) {
    Line line;
    line.text("work", key).text("who", "CUDA").text("table", "limits").text("title", title);
    line.number("bytes", bytes);
    guard(line, [&] { add_times(line, options_, handle_of(stream_), 1, call); });
    line.print();
  }

  const Options &options_;
  std::unique_ptr<OwnedStream> owned_;
  Stream stream_;
  bool failed_ = false;
};

}  // namespace

int main(int argc, char **argv) try {
  const Options options = parse_options(argc, argv);
  const auto cuda = open_cuda_backend();
  const auto cpu = open_cpu_backend(0);
  Program program(options, *cuda->device());
  program.run_limits();
  for_each_work(*cuda, *cpu, [&](const Work &work) { program.run(work); });
  return program.failed() ? 1 : 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
