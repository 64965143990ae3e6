// SPDX-License-Identifier: LGPL-2.1-or-later
// A complete pipeline, with threads and queues.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "picture.h"
#include "refs.h"

namespace cudatensor {

/// A pipeline from a description, which records what its element `out` receives.
class Pipeline {
 public:
  explicit Pipeline(const std::string &description);
  ~Pipeline();
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  GstElement *get() const { return pipeline_.get(); }
  ElementRef find(const char *name) const;
  void set(const char *name, const char *property, const char *value);

  bool reaches(GstState state);
  void start() { gst_element_set_state(get(), GST_STATE_PLAYING); }
  void stop() { gst_element_set_state(get(), GST_STATE_NULL); }

  /// Runs until EOS or an error. Returns the first error's text, empty at EOS.
  std::string run();
  std::string wait();

  /// Returns the samples of each buffer by its time.
  std::map<GstClockTime, Bytes> outputs();
  size_t count();
  std::vector<MessageRef> element_messages();

 private:
  Ref<GstBus> bus() const { return Ref<GstBus>(gst_element_get_bus(get())); }
  static GstBusSyncReply keep_elements(GstBus *bus, GstMessage *message, gpointer self);
  static GstPadProbeReturn collect(GstPad *pad, GstPadProbeInfo *info, gpointer self);

  ElementRef pipeline_;
  std::mutex mutex_;
  std::map<GstClockTime, Bytes> outputs_;
  std::vector<MessageRef> messages_;
  size_t count_ = 0;
};

}  // namespace cudatensor
