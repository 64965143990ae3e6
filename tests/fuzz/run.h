// SPDX-License-Identifier: LGPL-2.1-or-later
// A random pipeline: its random numbers, the log of operations, and the findings.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gst/util/ref.h"

namespace fuzz {

using cudatensor::Ref;

/// Random numbers that depend only on the number of the pipeline.
class Random {
 public:
  explicit Random(guint64 number);

  /// A number from low to high, both inclusive.
  long between(long low, long high) {
    return low + static_cast<long>(bits() % (static_cast<guint64>(high - low) + 1));
  }
  /// True with a probability of 1/`times`.
  bool one_in(int times) { return between(1, times) == 1; }
  guint64 bits() { return generator_(); }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + between(0, static_cast<long>(choices.size()) - 1));
  }
  template <class T>
  const T &pick(const std::vector<T> &choices) {
    return choices[between(0, static_cast<long>(choices.size()) - 1)];
  }

 private:
  std::mt19937_64 generator_;
};

/// Formats like printf.
std::string text(const char *format, ...) G_GNUC_PRINTF(1, 2);

class Run {
 public:
  explicit Run(guint64 number);
  ~Run();
  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;

  Random random;

  /// Half of the pipelines use only input that the elements support.
  const bool sane;

  /// Logs the next operation. The log is printed with a finding.
  void say(const std::string &line);
  /// Reports a wrong behavior.
  void finding(const std::string &what);
  int findings() const { return findings_; }

 private:
  guint64 number_;
  int findings_ = 0;
};

/// Totals of all runs, which reveal a fuzzer that does nothing.
struct Totals {
  std::atomic<long> frames{0}, outputs{0}, errors{0}, refusals{0}, compared{0}, restarts{0};
};
Totals &totals();

/// Ends the process and prints the log if a run takes longer than `seconds`. Also prints the log if
/// a signal or a sanitizer ends the process.
void watch(int seconds);
void stop_watching();

/// Counts the buffers and objects of a run that have not been freed.
class Living {
 public:
  void add(GstBuffer *buffer);
  void add(GObject *object);
  int count() const { return *count_; }

 private:
  std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

/// The elements of this plugin in a bin.
std::vector<GstElement *> elements_of(GstElement *bin);
bool is_ours(GstElement *element);

/// The errors on a bus, in one line. It is a finding if an error has no cause, or if an element
/// posts more errors than there were attempts. A flush or a restart begins a new attempt.
std::string take_errors(Run &run, GstBus *bus, int attempts = 1);

void run_filters(Run &run);
void run_mux(Run &run);
void run_playing(Run &run);

}  // namespace fuzz
