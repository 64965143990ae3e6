// SPDX-License-Identifier: LGPL-2.1-or-later
// Fetches pictures of a camera by HTTP, one per request. The connection stays open if the camera
// keeps it open. Used by one thread at a time, except for cancel().
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "capture/uri.h"
#include "settings/settings.h"

namespace luminance {

/// The result of a request: a picture, or the reason why there is none.
struct Fetched {
  std::string picture;              // its bytes, unchecked
  std::string error;                // one line
  std::optional<Peer> unreachable;  // the server, if talking to it failed; then `error` is vague
};

class Fetcher {
 public:
  /// Throws std::runtime_error where libcurl cannot be initialized.
  Fetcher(const CameraSettings &camera, const Timeouts &timeouts);
  ~Fetcher();
  Fetcher(const Fetcher &) = delete;
  Fetcher &operator=(const Fetcher &) = delete;

  /// Requests a picture. Follows redirects that are allowed.
  Fetched fetch();
  /// Cancels all requests for good. Any thread. What fetch() returns then means nothing.
  void cancel();
  bool is_cancelled() const { return is_cancelled_; }

 private:
  struct Answer {
    std::string body;
    size_t head = 0;  // bytes of headers
    long status = 0;
    std::string location;  // of a redirect
  };

  static size_t on_body(char *data, size_t, size_t size, void *self);
  static size_t on_head(char *data, size_t, size_t size, void *self);
  template <class Value>
  void set(CURLoption option, Value value);
  void set_target(const std::string &uri, const std::optional<Credentials> &credentials);
  CURLcode transfer();
  CURLcode perform();
  Fetched failure(CURLcode code, const std::string &uri) const;

  const CameraSettings camera_;
  const Timeouts timeouts_;
  std::atomic<bool> is_cancelled_{false};
  const std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> transfers_;
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle_;
  Answer answer_;
};

}  // namespace luminance
