// SPDX-License-Identifier: LGPL-2.1-or-later
// Turns exceptions into GStreamer element errors.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>

#include "kernels/error.h"

namespace cudatensor {

/// An error with a domain and a code of GStreamer that Error::Code does not have.
class CodedError : public Error {
 public:
  CodedError(GQuark domain, gint code, const std::string &text)
      : Error(Code::input, text), domain_(domain), gst_code_(code) {}

  GQuark domain() const noexcept { return domain_; }
  gint gst_code() const noexcept { return gst_code_; }

 private:
  GQuark domain_;
  gint gst_code_;
};

/// Posts the errors of one element. Posts only the first error of a frame, and none after a device
/// error, because later errors are consequences of the first.
class ErrorReporter {
 public:
  explicit ErrorReporter(GstElement *element) : element_(element) {}

  /// Posts an element error that names the cause. May be called from any thread.
  void report(const Error &error);
  /// Posts an error that affects all later frames.
  void report_fatal(const Error &error);
  /// Posts an element warning, each text only once.
  void warn(const std::string &text);
  /// Posts an element warning, also if its text was posted before. The caller limits the number of
  /// warnings.
  void warn_again(const std::string &text);
  /// Writes to the debug log.
  void log(const std::string &text);
  /// Must be called for each frame, so that an error of the new frame is posted.
  void next_frame() { reported_ = fatal_.load(); }
  /// Forgets all errors and warnings. Must be called when the element starts.
  void forget();

  /// Calls `body`. If it throws, reports the error and returns false.
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
  std::atomic<bool> reported_{false}, fatal_{false};
  std::mutex mutex_;
  std::set<std::string> warnings_;  // guarded by mutex_
};

/// Returns the exception as an Error. An exception of another type becomes an Error::settings.
inline Error error_of(const std::exception &exception) {
  const auto *error = dynamic_cast<const Error *>(&exception);
  return error != nullptr ? *error : Error(Error::Code::settings, exception.what());
}

/// Calls `body`. If it throws, logs and returns the error. A failed negotiation attempt is not an
/// element error, because another attempt may succeed.
template <class Body>
std::optional<Error> negotiation_error_of(GstElement *element, GstDebugCategory *category,
                                          const Body &body) {
  try {
    body();
    return std::nullopt;
  } catch (const std::exception &error) {
    GST_CAT_WARNING_OBJECT(category, element, "not negotiated: %s", error.what());
    return error_of(error);
  }
}

}  // namespace cudatensor
