// SPDX-License-Identifier: LGPL-2.1-or-later
// A transfer by libcurl, for one message.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <memory>
#include <string>

#include "notify/channel.h"

namespace luminance {

class Transfer {
 public:
  /// Throws SendError. `protocols`: the permitted ones, for example "http,https". Redirects are not
  /// followed. `ca_file` may be empty.
  Transfer(const std::string &url, const char *protocols, const std::string &ca_file);
  Transfer(const Transfer &) = delete;
  Transfer &operator=(const Transfer &) = delete;

  template <class Value>
  void set(CURLoption option, Value value) {
    check(curl_easy_setopt(handle_.get(), option, value));
  }
  /// Runs the transfer, within half a minute. Throws SendError if it fails or is cancelled.
  void perform(const std::atomic<bool> &is_cancelled);
  /// Returns the status code of the response; 0 without one.
  long status() const;

 private:
  void check(CURLcode code) const;

  char error_[CURL_ERROR_SIZE] = {};
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle_;
};

/// A list of strings for libcurl, which has to outlive the transfer.
class StringList {
 public:
  StringList() = default;
  ~StringList() { curl_slist_free_all(list_); }
  StringList(const StringList &) = delete;
  StringList &operator=(const StringList &) = delete;

  void add(const std::string &text);
  curl_slist *get() const { return list_; }

 private:
  curl_slist *list_ = nullptr;
};

}  // namespace luminance
