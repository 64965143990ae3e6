// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the applications: a pipeline that plays until it ends, fails or is interrupted, and
// decoding of a camera, file or URI.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "sources.h"

struct Release {
  void operator()(gchar *text) const { g_free(text); }
  void operator()(GError *error) const { g_error_free(error); }
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstBus *bus) const { gst_object_unref(bus); }
  void operator()(GstCaps *caps) const { gst_caps_unref(caps); }
  void operator()(GstElement *element) const { gst_object_unref(element); }
  void operator()(GstMessage *message) const { gst_message_unref(message); }
  void operator()(GstPad *pad) const { gst_object_unref(pad); }
  void operator()(GstSample *sample) const { gst_sample_unref(sample); }
};

/// Owns one reference.
template <class T>
using Ref = std::unique_ptr<T, Release>;

class Pipeline {
 public:
  /// `description` has the syntax of gst-launch-1.0.
  explicit Pipeline(const std::string &description);
  ~Pipeline();
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  Ref<GstElement> element(const char *name) const;

  /// Plays to the end, or until SIGINT or SIGTERM. Throws Failure if an element posts an error, or
  /// if decoder_of() produces no frame within the timeout. Ends the program with status 1 if the
  /// source is still being opened then, because nothing can stop that. `on_message` gets the
  /// structures of element messages; `on_tick` is called a few times per second.
  void play(const std::function<void(const GstStructure *)> &on_message = nullptr,
            const std::function<void()> &on_tick = nullptr);

 private:
  static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  void run(GstBus *bus, const std::function<void(const GstStructure *)> &on_message,
           const std::function<void()> &on_tick);
  void take(GstMessage *message, const std::function<void(const GstStructure *)> &on_message);
  bool has_started(gint64 patience) const;
  void expect_frames();
  std::string uri() const;
  [[noreturn]] void fail(GstMessage *message) const;

  Ref<GstElement> pipeline_, decoder_;  // decoder_ is that of decoder_of(), or null
  std::atomic<guint64> frames_ = 0;
  guint64 seen_frames_ = 0, silent_ticks_ = 0;
  std::future<void> start_;
  std::string missing_;  // what GStreamer lacks to play the source
};

/// Returns the description of elements that decode the video of `source`, which is a camera device,
/// a file or a URI, to a format that the plugin's elements accept. A pipeline may contain it only
/// once.
std::string decoder_of(const std::string &source);

/// Returns the name of the source for messages, without a password.
std::string shown_source(const std::string &source);

/// Returns `text` quoted as the value of a property in a description.
std::string quoted(const std::string &text);

/// Initializes GStreamer, parses the options and --timeout, and returns the `count` arguments.
std::vector<std::string> parse_command_line(int argc, char **argv, int count, const char *usage,
                                            const GOptionEntry *options);

struct Arguments {
  std::string source, output;
};

/// Parses SOURCE and --output. Throws Failure if the output, by default `name`, cannot be written.
Arguments parse_with_output(int argc, char **argv, const char *usage, const char *description,
                            const char *name);

/// Calls `body`. If it throws, prints the error and returns the exit status 1.
int run_application(const std::function<void()> &body);
