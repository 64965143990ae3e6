// SPDX-License-Identifier: LGPL-2.1-or-later
// A file or stream that is decoded as DeepStream does: urisourcebin ! parsebin ! decoder.
#pragma once

#include <gst/gst.h>

#include <mutex>
#include <string>

class Source {
 public:
  /// Adds the elements to the pipeline and links them with the pad `sink_<index>` of the mux, so
  /// that the first batch waits for this source. Throws if an element is not installed.
  Source(GstElement *pipeline, GstElement *mux, guint index, std::string uri,
         const std::string &decoder);
  Source(const Source &) = delete;
  Source &operator=(const Source &) = delete;

  bool owns(GstObject *object) const {
    return gst_object_has_as_ancestor(object, GST_OBJECT(bin_));
  }
  /// Returns why no frame gets into a batch; empty if the elements have agreed on a format. A
  /// source that is refused may fail, or just end. May be called from any thread, like cause_of().
  std::string refusal() const;
  /// Returns the text for an error of this source.
  std::string cause_of(const GError *error) const;

 private:
  std::string name() const { return "source " + std::to_string(index_) + " (" + uri_ + "): "; }
  void link_streams();
  void link_mux(GstElement *mux);
  GstElement *find(const char *name) const;
  void decode(GstPad *stream, const char *media_type);
  static void on_data(GstElement *source, GstPad *pad, GstPad *parser);
  static void on_stream(GstElement *parser, GstPad *pad, Source *self);
  static void on_drained(GstElement *parser, Source *self);

  const guint index_;
  const std::string uri_;
  GstElement *bin_;  // owned by the pipeline, as are the next two
  GstElement *decoder_;
  GstPad *input_;             // the decoder's sink pad
  mutable std::mutex mutex_;  // protects the fields below
  bool decodes_ = false;
  std::string others_;  // streams that are not decoded
};
