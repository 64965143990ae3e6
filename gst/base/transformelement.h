// SPDX-License-Identifier: LGPL-2.1-or-later
// Base class of all elements but cudatensormux. GstCudaTensorTransform is the GObject: it owns the
// session, implements the GStreamer virtual functions and turns exceptions into element errors.
// Each element derives from TransformElement, a plain C++ class. A virtual function of GStreamer that only
// one element needs is overridden in the GObject of that element.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "gst/base/elementcore.h"
#include "kernels/error.h"

namespace cudatensor {

class TransformElement : public Configurable {
 public:
  explicit TransformElement(GstBaseTransform *element) : element_(element) {}
  TransformElement(const TransformElement &) = delete;
  TransformElement &operator=(const TransformElement &) = delete;

  // Negotiation. Called from any thread; settings() returns the settings valid for the calling
  // thread.
  /// Returns the caps of the other pad, before they are intersected with its template. May throw.
  virtual GstCaps *transform_caps(GstPadDirection direction, GstCaps *caps) = 0;
  /// Returns fixed caps for the other pad. Takes ownership of `othercaps`. May throw.
  virtual GstCaps *fixate_caps(GstPadDirection direction, GstCaps *caps, GstCaps *othercaps) = 0;
  /// Accepts new caps. If they are not supported, throws and leaves the state unchanged: frames
  /// with the previous caps may follow without another call.
  virtual void set_caps(GstCaps *in, GstCaps *out) = 0;
  /// Returns a warning about the input caps; empty if there is none.
  virtual std::string caps_warning() const { return ""; }
  /// Returns the properties that affect the output caps, with their values, for example "width=640,
  /// height=640"; empty if there are none.
  virtual std::string caps_settings() const = 0;
  /// Return the size in bytes of an input or output buffer for the current caps.
  virtual gsize input_size() const = 0;
  virtual gsize output_size() const = 0;
  /// Returns the number of output buffers that the element keeps between frames.
  virtual guint held_outputs() const { return 0; }

  /// Called for every event of the sink pad but CAPS, before it is handled. Takes ownership of the
  /// event, and returns the one that is handled in its place.
  virtual GstEvent *take_event(GstEvent *event) { return event; }

  // Frames, on the streaming thread, inside the session's scope.
  /// Creates the operation for the current caps and settings.
  virtual void prepare(Backend &backend) = 0;
  /// Waits for pending work, then destroys the operation. The session is closed afterwards.
  virtual void release() = 0;
  /// Called before the caps or the session's device change: completes an output that is still open.
  virtual void before_change() {}
  /// Processes a frame. `out` is null for an element that passes buffers through unchanged. If it
  /// throws an Error::Code::frame, the element posts a warning, drops the frame or passes it on,
  /// and continues with the next one.
  virtual void process(Session &session, GstBuffer *in, GstBuffer *out) = 0;
  /// Returns what does not happen to a faulty frame that is passed on unchanged.
  virtual const char *undone() const { return "a frame is not counted"; }
  /// Called when no more frames come. The session is closed afterwards.
  virtual void stop() {}

 protected:
  GstBaseTransform *element() const { return element_; }
  /// Posts a warning that a part of the current frame is not used, while the rest is.
  void warn_of_frame(const std::string &text) const;
  /// Reports a fatal error from one of the element's own threads. The streaming thread throws
  /// instead.
  void report(const Error &error) const;
  /// Returns whether the calling thread is the streaming thread while it handles a frame or caps,
  /// and therefore sees the latched settings.
  bool is_streaming() const;

 private:
  GstBaseTransform *element_;
};

/// An element whose settings struct is bound to a property table.
template <class S>
class ElementWithSettings : public TransformElement {
 public:
  ElementWithSettings(GstBaseTransform *element, const Properties<S> &properties)
      : TransformElement(element), settings_(properties) {}

  std::optional<Effect> set_property(guint index, const GValue *value) override {
    return settings_.set(index, value);
  }
  void get_property(guint index, GValue *value) override { settings_.get(index, value); }
  void latch() override { settings_.latch(); }
  std::string caps_settings() const override {
    return settings_.text(settings(), Effect::renegotiates);
  }

 protected:
  /// The settings of the current frame. Streaming thread only.
  const S &latched() const { return settings_.latched(); }

  /// The pending settings: the current values of the properties. The caller holds the object lock.
  const S &pending() const { return settings_.pending(); }
  S &pending() { return settings_.pending(); }

  /// Returns a copy of the settings valid for the calling thread.
  S settings() const {
    return is_streaming() ? latched() : settings_.copy_of_pending(GST_ELEMENT(element()));
  }

 private:
  LatchedSettings<S> settings_;
};

}  // namespace cudatensor

G_BEGIN_DECLS

struct GstCudaTensorTransform {
  GstBaseTransform parent;
  struct GstCudaTensorTransformPrivate *priv;
};

struct GstCudaTensorTransformClass {
  GstBaseTransformClass parent_class;
  cudatensor::TransformElement *(*create)(GstBaseTransform *element);
  GstDebugCategory *category;  // has the element's name
};

GType gst_cuda_tensor_transform_get_type(void);
#define GST_TYPE_CUDA_TENSOR_TRANSFORM (gst_cuda_tensor_transform_get_type())

G_END_DECLS

namespace cudatensor {

/// Return the parts of a GstCudaTensorTransform, which must be constructed.
TransformElement &transform_of(GstBaseTransform *element);
ElementCore &core_of(GstBaseTransform *element);

/// Allocates an output beside that of the current frame, with the times, flags and copied metas of
/// a buffer. Posts the error if that fails.
GstFlowReturn allocate_output(GstBaseTransform *element, GstBuffer *like, GstBuffer **out);

/// Called in an element's class_init, before it installs its properties. Sets its debug category,
/// its pad templates and the factory of its TransformElement. Takes ownership of the caps, and adds the same
/// caps in other memories.
void install_transform(GstCudaTensorTransformClass *klass, GstDebugCategory *category,
                       GstCaps *sink, GstCaps *src,
                       TransformElement *(*create)(GstBaseTransform *));

/// The same for an element that passes every buffer through unchanged.
void install_analyzer(GstCudaTensorTransformClass *klass, GstDebugCategory *category, GstCaps *caps,
                      TransformElement *(*create)(GstBaseTransform *));

}  // namespace cudatensor
