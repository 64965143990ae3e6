// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/transfer.h"

#include "log/log.h"

namespace luminance {
namespace {

constexpr long kConnectTimeout = 10, kTimeout = 30;  // seconds

CURL *make_handle() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  return ready == CURLE_OK ? curl_easy_init() : nullptr;
}

int on_progress(void *is_cancelled, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return *static_cast<const std::atomic<bool> *>(is_cancelled) ? 1 : 0;
}

size_t discard(char *, size_t size, size_t count, void *) { return size * count; }

}  // namespace

Transfer::Transfer(const std::string &url, const char *protocols, const std::string &ca_file)
    : handle_(make_handle(), curl_easy_cleanup) {
  if (handle_ == nullptr) throw SendError("libcurl cannot be initialized");
  set(CURLOPT_ERRORBUFFER, error_);
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, protocols);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!ca_file.empty()) set(CURLOPT_CAINFO, ca_file.c_str());
  set(CURLOPT_CONNECTTIMEOUT, kConnectTimeout);
  set(CURLOPT_TIMEOUT, kTimeout);
  set(CURLOPT_NOSIGNAL, 1L);
  // Do not wait for libcurl's resolver thread, which a name server may hold up.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_WRITEFUNCTION, discard);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, on_progress);
}

void Transfer::perform(const std::atomic<bool> &is_cancelled) {
  set(CURLOPT_XFERINFODATA, const_cast<std::atomic<bool> *>(&is_cancelled));
  check(curl_easy_perform(handle_.get()));
}

long Transfer::status() const {
  long status = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  return status;
}

void Transfer::check(CURLcode code) const {
  if (code == CURLE_OK) return;
  const std::string detail = on_one_line(error_);
  throw SendError(detail.empty() ? curl_easy_strerror(code) : detail);
}

void StringList::add(const std::string &text) {
  curl_slist *longer = curl_slist_append(list_, text.c_str());
  if (longer == nullptr) throw SendError("out of memory");
  list_ = longer;
}

}  // namespace luminance
