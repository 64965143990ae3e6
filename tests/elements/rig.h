// SPDX-License-Identifier: LGPL-2.1-or-later
// An element under test, between pads that belong to the test.
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

/// Makes an element from a gst-launch description: one element, or a bin with a chain.
ElementRef make_element(const std::string &description);

/// Returns a property's value as text.
std::string property_of(GstElement *element, const char *property);

/// Returns the caps of an element's output; null if there are none.
CapsRef output_caps_of(GstElement *element);
/// Returns a field of the output's caps as text; empty if it is missing.
std::string output_of(GstElement *element, const char *field);

/// Removes the caps of a source pad, which it would otherwise send again.
void forget_caps(GstPad *pad);

class Rig {
 public:
  /// `answer` is the bus' sync handler, even while the element starts.
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

  /// Sets the caps that downstream takes from now on.
  void downstream(const std::string &caps);

  /// Pushes the caps and, the first time, a time segment. Returns whether the caps were taken.
  bool caps(const std::string &caps);
  bool event(GstEvent *event);
  GstFlowReturn push(BufferRef buffer);
  /// Returns the next output buffer, or none.
  BufferRef pull();
  /// Returns cudahistogram's messages since the last call. Waits for the expected number, and for
  /// more if more could follow.
  std::vector<MessageRef> histograms(size_t expected);
  /// Pushes a buffer and returns the output buffer, which must come.
  BufferRef process(BufferRef buffer);

  CapsRef output_caps() const { return output_caps_of(element()); }
  std::string output(const char *field) const { return output_of(element(), field); }

 private:
  Messages messages_;
  GstHarness *harness_;
  bool has_segment_ = false;
};

/// Succeeds if the text contains the part, in any case.
testing::AssertionResult mentions(const std::string &text, const std::string &part);

/// Pushes a buffer that must end in one error of the rig's element that mentions `cause`, and in
/// no output.
void expect_error(Rig &rig, BufferRef buffer, const std::string &cause);

/// Pushes a buffer that the rig's element cannot use: it must drop it, or pass it on if it is
/// cudahistogram, with one warning that mentions `cause` and without an error.
void expect_fault(Rig &rig, BufferRef buffer, const std::string &cause);
/// The same for a frame that is not reported, because the one before was faulty, too.
void expect_silent_fault(Rig &rig, BufferRef buffer);

/// Pushes caps and two buffers, which must end in not-negotiated without output. The element may
/// post one error, whose text this returns.
std::string expect_refusal(Rig &rig, const std::string &caps, const BufferRef &buffer,
                           Error::Code code = Error::Code::settings);

/// Returns an element's output for one picture between these caps.
Bytes output_bytes(const std::string &description, const std::string &in_caps, BufferRef buffer,
                   const std::string &out_caps);
Picture output_picture(const std::string &description, const std::string &in_caps, BufferRef buffer,
                       const ImageDesc &out, const std::string &more = "");

}  // namespace cudatensor
