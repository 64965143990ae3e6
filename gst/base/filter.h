// SPDX-License-Identifier: LGPL-2.1-or-later
// What the five elements share. GstCudaTensorFilter is the GObject: it has a session, speaks
// GStreamer's protocols and turns exceptions into element errors. Filter is what an element adds
// to it, in plain C++.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "gst/base/elementcore.h"
#include "kernels/error.h"

namespace cudatensor {

class Filter : public Configurable {
 public:
  explicit Filter(GstBaseTransform *element) : element_(element) {}
  Filter(const Filter &) = delete;
  Filter &operator=(const Filter &) = delete;

  // Negotiation. May be called from any thread; settings() is right for the thread.
  /// What the other pad can be, before it is cut to its template. May throw.
  virtual GstCaps *transform_caps(GstPadDirection direction, GstCaps *caps) = 0;
  /// Takes `othercaps`. May throw.
  virtual GstCaps *fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) = 0;
  /// Throws where the caps cannot be worked on, and then changes nothing: the caps before may come
  /// back without another call.
  virtual void set_caps(GstCaps *in, GstCaps *out) = 0;
  /// The properties that shape the output's caps, with their values, as "width=640, height=640";
  /// empty where there are none.
  virtual std::string caps_settings() const = 0;
  /// Bytes of an input and of an output buffer of the caps that were set.
  virtual gsize input_size() const = 0;
  virtual gsize output_size() const = 0;

  // Frames, on the streaming thread, inside the session's scope.
  /// Makes the operation for the caps and settings in force.
  virtual void prepare(Backend &backend) = 0;
  /// Drops it, after what it has under way; the session is about to go.
  virtual void release() = 0;
  /// For an element that only looks at buffers, `out` is null.
  virtual void process(Session &session, GstBuffer *in, GstBuffer *out) = 0;
  /// Whether an error that came after its frame has ended the work, until on_stop().
  virtual bool has_failed() const { return false; }
  /// Before EOS and other events go on.
  virtual void on_event(GstEvent *) {}
  virtual void on_stop() {}

 protected:
  GstBaseTransform *element() const { return element_; }
  /// For threads of the filter's own, which end with the error; the streaming thread throws.
  void report(const Error &error) const;
  /// Whether this is the streaming thread at work on a frame or on caps, which sees the latched
  /// settings.
  bool is_streaming() const;

 private:
  GstBaseTransform *element_;
};

/// A filter with a struct of settings that a table of properties sets.
template <class S>
class FilterWith : public Filter {
 public:
  FilterWith(GstBaseTransform *element, const Properties<S> &properties)
      : Filter(element), settings_(properties) {}

  std::optional<Effect> set_property(guint index, const GValue *value) override {
    return settings_.set(index, value);
  }
  void get_property(guint index, GValue *value) override { settings_.get(index, value); }
  void latch() override { settings_.latch(); }
  std::string caps_settings() const override {
    return settings_.text(settings(), Effect::renegotiates);
  }

 protected:
  /// The settings of the frame under way; for the streaming thread.
  const S &latched() const { return settings_.latched(); }

  /// Those of the properties; with the object lock held.
  const S &pending() const { return settings_.pending(); }

  /// A copy of the settings that this thread is to see.
  S settings() const {
    return is_streaming() ? latched() : settings_.copy_of_pending(GST_ELEMENT(element()));
  }

 private:
  LatchedSettings<S> settings_;
};

}  // namespace cudatensor

G_BEGIN_DECLS

struct GstCudaTensorFilter {
  GstBaseTransform parent;
  struct GstCudaTensorFilterPrivate *priv;
};

struct GstCudaTensorFilterClass {
  GstBaseTransformClass parent_class;
  cudatensor::Filter *(*create)(GstBaseTransform *element);
  GstDebugCategory *category;  // named as the element
};

GType gst_cuda_tensor_filter_get_type(void);
#define GST_TYPE_CUDA_TENSOR_FILTER (gst_cuda_tensor_filter_get_type())

G_END_DECLS

namespace cudatensor {

/// For an element's class_init, before it installs its properties: its log, its pads (the caps are
/// taken; a build with CUDA adds the same in CUDAMemory) and its Filter.
void install_filter(GstCudaTensorFilterClass *klass, GstDebugCategory *category, GstCaps *sink,
                    GstCaps *src, Filter *(*create)(GstBaseTransform *));

/// The same for an element that passes every buffer on untouched.
void install_analyzer(GstCudaTensorFilterClass *klass, GstDebugCategory *category, GstCaps *caps,
                      Filter *(*create)(GstBaseTransform *));

}  // namespace cudatensor
