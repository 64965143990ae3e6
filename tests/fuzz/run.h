// SPDX-License-Identifier: LGPL-2.1-or-later
// One random pipeline: its dice, what was done to it, and what was found.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

/// All chance comes from the number of the pipeline.
class Random {
 public:
  explicit Random(guint64 number);

  /// low..high, both included.
  long between(long low, long high) {
    return low + static_cast<long>(bits() % (static_cast<guint64>(high - low) + 1));
  }
  /// True once in `times`.
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

/// Text as printf makes it.
std::string text(const char *format, ...) G_GNUC_PRINTF(1, 2);

class Run {
 public:
  explicit Run(guint64 number);
  ~Run();
  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;

  Random random;

  /// Half of the pipelines have only what elements promise to work with.
  const bool sane;

  /// Notes what comes next, for whoever reads a finding.
  void say(const std::string &line);
  /// Something that must not be.
  void finding(const std::string &what);
  int findings() const { return findings_; }

 private:
  guint64 number_;
  int findings_ = 0;
};

/// Numbers of what was done in all runs, so that a run that does nothing shows.
struct Totals {
  std::atomic<long> frames{0}, outputs{0}, errors{0}, refusals{0}, compared{0}, restarts{0};
};
Totals &totals();

/// Ends the process, with the trace, where a run lasts longer than this, and where a signal or a
/// sanitizer ends it.
void watch(int seconds);
void stop_watching();

struct Unref {
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps *caps) const { gst_caps_unref(caps); }
  void operator()(GstElement *element) const { gst_object_unref(element); }
  void operator()(GstPad *pad) const { gst_object_unref(pad); }
  void operator()(GstBus *bus) const { gst_object_unref(bus); }
  void operator()(GstBufferPool *pool) const { gst_object_unref(pool); }
  void operator()(GstQuery *query) const { gst_query_unref(query); }
  void operator()(GstMessage *message) const { gst_message_unref(message); }
};
template <class T>
using Ref = std::unique_ptr<T, Unref>;

/// What has been made of these in a run and is not gone yet.
class Living {
 public:
  void add(GstBuffer *buffer);
  void add(GObject *object);
  int count() const { return *count_; }

 private:
  std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

/// The elements of a bin that are ours.
std::vector<GstElement *> elements_of(GstElement *bin);
bool is_ours(GstElement *element);

/// The errors on a bus, in one line. Each must have a cause, and no element more of them than there
/// were attempts: a flush or another start is a new one.
std::string take_errors(Run &run, GstBus *bus, int attempts = 1);

void run_filters(Run &run);
void run_mux(Run &run);
void run_playing(Run &run);

}  // namespace fuzz
