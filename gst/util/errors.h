// SPDX-License-Identifier: LGPL-2.1-or-later
// Where exceptions of the kernels become GStreamer's errors.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <new>
#include <optional>
#include <string>

#include "kernels/error.h"

namespace cudatensor {

/// Posts the errors of one element: the first that names a cause, and none that only follow from
/// it, in this frame or, after one of the device, in any.
class ErrorReporter {
 public:
  explicit ErrorReporter(GstElement *element) : element_(element) {}

  /// Posts an element error that names the cause. From any thread.
  void report(const Error &error);
  /// The same for one that no frame gets over.
  void report_last(const Error &error);
  /// Another frame comes: what fails now is another error.
  void next_frame() { reported_ = last_.load(); }
  /// The element starts anew.
  void forget() { reported_ = last_ = false; }

  /// Calls `body`; false where it threw, with the error reported.
  template <class Body>
  bool guard(const Body &body) {
    try {
      body();
      return true;
    } catch (const Error &error) {
      report(error);
    } catch (const std::bad_alloc &) {
      report(Error(Error::Code::out_of_memory, "out of host memory"));
    } catch (const std::exception &error) {
      report(Error(Error::Code::device, error.what()));
    }
    return false;
  }

 private:
  GstElement *element_;
  std::atomic<bool> reported_{false}, last_{false};
};

/// Calls `body`; why it threw, which is logged, or nothing. An attempt to find caps that fails is no
/// element error: another may succeed.
template <class Body>
std::optional<std::string> refusal_of(GstElement *element, GstDebugCategory *category,
                                      const Body &body) {
  try {
    body();
    return std::nullopt;
  } catch (const std::exception &error) {
    GST_CAT_WARNING_OBJECT(category, element, "not negotiated: %s", error.what());
    return error.what();
  }
}

}  // namespace cudatensor
