// SPDX-License-Identifier: LGPL-2.1-or-later
// An element under test, between pads that a test holds.
#pragma once

#include <gst/check/gstharness.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/error.h"
#include "messages.h"
#include "picture.h"
#include "refs.h"

namespace cudatensor {

/// From a description as gst-launch takes it: one element, or a chain of them in a bin.
ElementRef make_element(const std::string &description);

/// A property's value as text.
std::string property_of(GstElement *element, const char *property);

/// The caps that an element has set for its output; null where there are none.
CapsRef output_caps_of(GstElement *element);
/// One field of them, as text; empty where it is missing.
std::string output_of(GstElement *element, const char *field);

/// Lets a pad that sends forget its caps, which it would send again.
void forget_caps(GstPad *pad);

class Rig {
 public:
  /// `answer` is the bus' sync handler, also while the element starts.
  explicit Rig(const std::string &description, GstBusSyncHandler answer = nullptr,
               gpointer data = nullptr);
  ~Rig();
  Rig(const Rig &) = delete;
  Rig &operator=(const Rig &) = delete;

  GstElement *element() const { return harness_->element; }
  GstHarness *harness() const { return harness_; }
  Messages &messages() { return messages_; }

  /// Sets a property from its text, as gst-launch does.
  void set(const char *property, const std::string &value);
  std::string get(const char *property) const { return property_of(element(), property); }

  /// What downstream takes from now on.
  void downstream(const std::string &caps);

  /// Pushes the caps and, the first time, a segment in time; whether the caps were taken.
  bool caps(const std::string &caps);
  bool event(GstEvent *event);
  GstFlowReturn push(BufferRef buffer);
  /// The next buffer that came out, or none.
  BufferRef pull();
  /// The messages of cudahistogram since the last call: waits for as many as are expected, and
  /// where more could be under way, for these too.
  std::vector<MessageRef> histograms(size_t expected);
  /// Pushes a buffer and expects one to come out.
  BufferRef process(BufferRef buffer);

  CapsRef output_caps() const { return output_caps_of(element()); }
  std::string output(const char *field) const { return output_of(element(), field); }

 private:
  Messages messages_;
  GstHarness *harness_;
  bool has_segment_ = false;
};

/// Succeeds where the text holds the part, whatever its case.
testing::AssertionResult mentions(const std::string &text, const std::string &part);

/// Pushes a buffer that must end in one error of the rig's element that mentions `cause`, and in
/// no output.
void expect_error(Rig &rig, BufferRef buffer, const std::string &cause);

/// Pushes a buffer that the rig's element cannot use: it must drop it, or pass it on if it is
/// cudahistogram, with one warning that mentions `cause` and without an error.
void expect_fault(Rig &rig, BufferRef buffer, const std::string &cause);
/// The same for one that is not reported, because the frame before was faulty, too.
void expect_silent_fault(Rig &rig, BufferRef buffer);

/// Pushes caps and two buffers, which must end in not-negotiated with no output. Posted may be one
/// error at most, whose text this returns.
std::string expect_refusal(Rig &rig, const std::string &caps, const BufferRef &buffer,
                           Error::Code code = Error::Code::settings);

/// What an element makes of one picture between these caps.
Bytes output_bytes(const std::string &description, const std::string &in_caps, BufferRef buffer,
                   const std::string &out_caps);
Picture output_picture(const std::string &description, const std::string &in_caps, BufferRef buffer,
                       const ImageDesc &out, const std::string &more = "");

}  // namespace cudatensor
