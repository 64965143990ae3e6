// SPDX-License-Identifier: LGPL-2.1-or-later
// What the applications share: a pipeline that plays until it ends, fails or is interrupted, and
// the way from a camera, file or URI to decoded video.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/// Ends the application with its text.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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
  /// `description` is what gst-launch-1.0 takes.
  explicit Pipeline(const std::string &description);
  ~Pipeline();
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  Ref<GstElement> element(const char *name) const;

  /// Plays to the end, or until SIGINT or SIGTERM, which count as the end.
  /// Fails where an element does, and where decoder_of() gives no frame for too long.
  /// `on_message` gets the structures of element messages, `on_tick` is called a few times a
  /// second.
  void play(const std::function<void(const GstStructure *)> &on_message = nullptr,
            const std::function<void()> &on_tick = nullptr);

 private:
  static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  void expect_frames();
  std::string uri() const;
  [[noreturn]] void fail(GstMessage *message) const;

  Ref<GstElement> pipeline_, decoder_;  // the latter of decoder_of(), if it is there
  std::atomic<guint64> frames_ = 0;
  guint64 seen_frames_ = 0, silent_ticks_ = 0;
};

/// Elements that decode the video of `source`, a camera device, a file or a URI, into a format that
/// the plugin's elements take. At most one of them in a pipeline.
std::string decoder_of(const std::string &source);

/// The same for people: without a password.
std::string shown_source(const std::string &source);

/// `text` for use as a property's value in a description.
std::string quoted(const std::string &text);

/// Initialises GStreamer, reads the options, to which it adds --timeout, and returns the `count`
/// arguments.
std::vector<std::string> parse_command_line(int argc, char **argv, int count, const char *usage,
                                            const GOptionEntry *options);

/// Calls `body`; a Failure becomes a message and the exit status 1.
int run_application(const std::function<void()> &body);
