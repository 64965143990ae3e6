// SPDX-License-Identifier: LGPL-2.1-or-later
// Timing and output of the benchmark programs in C++. They print one line of JSON for each row of a
// table (tables.py). peers/common.py is the counterpart for Python.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorName(error));
}

/// The options of a program: [--quick] [--kernel-times LIBRARY] RESULTS
struct Options {
  bool quick = false;
  std::string kernel_times;  ///< library that times kernels; if empty, calls are timed
  std::string results;       ///< folder with the expected results in expected/
};

inline Options parse_options(int argc, char **argv) {
  Options options;
  int i = 1;
  for (; i < argc - 1; ++i) {
    const std::string option = argv[i];
    if (option == "--quick")
      options.quick = true;
    else if (option == "--kernel-times" && i < argc - 2)
      options.kernel_times = argv[++i];
    else
      break;
  }
  if (i != argc - 1)
    throw std::runtime_error("usage: " + std::string(argv[0]) +
                             " [--quick] [--kernel-times LIBRARY] RESULTS");
  options.results = argv[i];
  return options;
}

/// Microseconds per call.
struct Times {
  double median, least, most;
};

inline Times times_of(std::vector<double> rounds) {
  std::sort(rounds.begin(), rounds.end());
  return {rounds[rounds.size() / 2], rounds.front(), rounds.back()};
}

/// Times consecutive calls on a stream with an event before and after many calls.
class Clock {
 public:
  Clock(cudaStream_t stream, bool quick) : stream_(stream), rounds_(quick ? 3 : 11) {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  ~Clock() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Clock(const Clock &) = delete;
  Clock &operator=(const Clock &) = delete;

  /// Rounds take about 20 ms and have at most 2000 calls.
  template <class Call>
  Times time(const Call &call) const {
    const double once = microseconds(10, call);  // also warms up
    const int calls = std::clamp(static_cast<int>(20000.0 / once), 5, 2000);
    std::vector<double> all;
    for (int i = 0; i < rounds_; ++i) all.push_back(microseconds(calls, call));
    return times_of(all);
  }

 private:
  template <class Call>
  double microseconds(int calls, const Call &call) const {
    check(cudaEventRecord(begin_, stream_));
    for (int i = 0; i < calls; ++i) call();
    check(cudaEventRecord(end_, stream_));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0.0f;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1000.0 * static_cast<double>(milliseconds) / calls;
  }

  cudaStream_t stream_;
  int rounds_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// Measures with CUPTI how long kernels, copies and memsets of a call keep the GPU busy. Not for
/// use in a process that times calls, because profiling makes calls slower.
class KernelClock {
 public:
  KernelClock(const std::string &library, bool quick) : rounds_(quick ? 3 : 5) {
    void *const handle = dlopen(library.c_str(), RTLD_NOW);
    if (!handle) throw std::runtime_error(dlerror());
    start_ = reinterpret_cast<int (*)()>(dlsym(handle, "kernel_times_start"));
    stop_ = reinterpret_cast<double (*)()>(dlsym(handle, "kernel_times_stop"));
    if (!start_ || !stop_)
      throw std::runtime_error(library + " was not built from kerneltimes.cpp");
  }

  template <class Call>
  Times time(const Call &call) const {
    const int calls = 20;
    std::vector<double> all;
    for (int i = 0; i < rounds_ + 1; ++i) {
      check(cudaDeviceSynchronize());
      if (start_() != 0) throw std::runtime_error("CUPTI fails to start");
      for (int j = 0; j < calls; ++j) call();
      check(cudaDeviceSynchronize());
      all.push_back(stop_() / calls);
    }
    all.erase(all.begin());  // the warm-up
    if (*std::min_element(all.begin(), all.end()) <= 0.0)
      throw std::runtime_error("CUPTI recorded no kernel");
    return times_of(all);
  }

 private:
  int rounds_;
  int (*start_)();
  double (*stop_)();
};

// ----------------------------------------------------------------------------------------- rows

/// A line of JSON.
class Line {
 public:
  Line &text(const std::string &name, const std::string &value) {
    std::string quoted = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c >= 0 && c < ' ' ? ' ' : c;
    }
    return add(name, quoted + '"');
  }
  Line &number(const std::string &name, size_t value) { return add(name, std::to_string(value)); }
  Line &times(const std::string &name, Times t, int per) {
    char array[100];
    std::snprintf(array, sizeof(array), "[%.4f, %.4f, %.4f]", t.median / per, t.least / per,
                  t.most / per);
    return add(name, array);
  }
  void print() const {
    std::printf("{%s}\n", text_.c_str());
    std::fflush(stdout);
  }

 private:
  Line &add(const std::string &name, const std::string &value) {
    text_ += (text_.empty() ? "\"" : ", \"") + name + "\": " + value;
    return *this;
  }

  std::string text_;
};

/// Times `call`, which processes `batch` frames: the call or its kernels, depending on the options.
template <class Call>
void add_times(Line &line, const Options &options, cudaStream_t stream, int batch,
               const Call &call) {
  if (options.kernel_times.empty())
    line.times("called", Clock(stream, options.quick).time(call), batch);
  else
    line.times("kernel", KernelClock(options.kernel_times, options.quick).time(call), batch);
}

}  // namespace bench
