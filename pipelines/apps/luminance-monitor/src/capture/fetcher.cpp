// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/fetcher.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "capture/failure.h"

namespace luminance {
namespace {

constexpr int kMaxRedirects = 5;
// A camera of 50 megapixels sends less.
constexpr size_t kMaxPicture = 32 << 20, kMaxHead = 64 << 10;
// libcurl starts to measure the total time a little later than the timeout.
constexpr double kMeasured = 0.1;  // seconds
constexpr int kPoll = 1000;  // milliseconds

bool is_ready() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  return ready == CURLE_OK;
}

long milliseconds(double seconds) { return std::lround(1000 * seconds); }

bool is_redirect(long status) { return status >= 300 && status < 400 && status != 304; }

std::string no_picture_within(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "no complete picture within %g s", seconds);
  return text;
}

std::string too_large() {
  return "the picture is larger than " + std::to_string(kMaxPicture >> 20) + " MiB";
}

}  // namespace

Fetcher::Fetcher(const CameraSettings &camera, const Timeouts &timeouts)
    : camera_(camera),
      timeouts_(timeouts),
      transfers_(is_ready() ? curl_multi_init() : nullptr, curl_multi_cleanup),
      handle_(transfers_ != nullptr ? curl_easy_init() : nullptr, curl_easy_cleanup) {
  if (handle_ == nullptr) throw std::runtime_error("libcurl cannot be initialized");
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC | CURLAUTH_DIGEST));
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_USERAGENT, "luminance-monitor/" LUMINANCE_VERSION);
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(timeouts.answer));
  // A request fails if nothing arrives within `answer`, or if it takes longer than `frame` in all.
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, std::max(1L, std::lround(std::ceil(timeouts.answer))));
  set(CURLOPT_TIMEOUT_MS, milliseconds(timeouts.frame));
  set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(kMaxPicture));
  set(CURLOPT_NOSIGNAL, 1L);
  // A name server that does not respond then delays only a thread of libcurl.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, on_head);
  set(CURLOPT_HEADERDATA, this);
}

Fetcher::~Fetcher() = default;

template <class Value>
void Fetcher::set(CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(handle_.get(), option, value);
  if (code != CURLE_OK) throw std::runtime_error(curl_easy_strerror(code));
}

size_t Fetcher::on_body(char *data, size_t, size_t size, void *fetcher) {
  Answer &answer = static_cast<Fetcher *>(fetcher)->answer_;
  if (answer.body.size() + size > kMaxPicture) return 0;
  answer.body.append(data, size);
  return size;
}

size_t Fetcher::on_head(char *, size_t, size_t size, void *fetcher) {
  Answer &answer = static_cast<Fetcher *>(fetcher)->answer_;
  answer.head += size;
  return answer.head > kMaxHead ? 0 : size;
}

void Fetcher::cancel() {
  is_cancelled_ = true;
  curl_multi_wakeup(transfers_.get());
}

void Fetcher::set_target(const std::string &uri, const std::optional<Credentials> &credentials) {
  set(CURLOPT_URL, uri.c_str());
  set(CURLOPT_USERNAME, credentials ? credentials->user.c_str() : nullptr);
  set(CURLOPT_PASSWORD, credentials ? credentials->password.c_str() : nullptr);
}

/// Performs the transfer by the multi interface: only such transfers can be cancelled at once.
CURLcode Fetcher::perform() {
  int running = 1;
  while (running > 0) {
    if (is_cancelled_) return CURLE_ABORTED_BY_CALLBACK;
    if (curl_multi_perform(transfers_.get(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
    if (running > 0 && curl_multi_poll(transfers_.get(), nullptr, 0, kPoll, nullptr) != CURLM_OK)
      return CURLE_FAILED_INIT;
  }
  int waiting = 0;
  const CURLMsg *message = curl_multi_info_read(transfers_.get(), &waiting);
  return message != nullptr && message->msg == CURLMSG_DONE ? message->data.result
                                                            : CURLE_FAILED_INIT;
}

CURLcode Fetcher::transfer() {
  answer_ = {};
  if (curl_multi_add_handle(transfers_.get(), handle_.get()) != CURLM_OK) return CURLE_FAILED_INIT;
  const CURLcode code = perform();
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &answer_.status);
  curl_header *location = nullptr;
  if (is_redirect(answer_.status) &&
      curl_easy_header(handle_.get(), "Location", 0, CURLH_HEADER, -1, &location) == CURLHE_OK)
    answer_.location = location->value;
  curl_multi_remove_handle(transfers_.get(), handle_.get());
  return code;
}

Fetched Fetcher::failure(CURLcode code, const std::string &uri) const {
  const auto because = [](std::string text) { return Fetched{{}, std::move(text), {}}; };
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT: {
      curl_off_t time = 0;  // microseconds
      curl_easy_getinfo(handle_.get(), CURLINFO_TOTAL_TIME_T, &time);
      const bool is_slow = static_cast<double>(time) / 1e6 >= timeouts_.frame - kMeasured;
      return because(is_slow ? no_picture_within(timeouts_.frame)
                             : no_answer_within(timeouts_.answer));
    }
    case CURLE_FILESIZE_EXCEEDED: return because(too_large());
    case CURLE_WRITE_ERROR:
      return because(answer_.head > kMaxHead ? "the head of the response is too large"
                                             : too_large());
    case CURLE_URL_MALFORMAT: return because("the URI is invalid");
    case CURLE_PARTIAL_FILE: return because("the picture was cut short");
    default: break;
  }
  if (!answer_.body.empty()) return because("the picture was interrupted");
  const std::string text = std::string("the request failed: ") + curl_easy_strerror(code);
  return {{}, text, peer_of(uri)};
}

Fetched Fetcher::fetch() try {
  std::string uri = camera_.uri;
  std::optional<Credentials> credentials = camera_.credentials;
  for (int redirects = 0;; ++redirects) {
    set_target(uri, credentials);
    const CURLcode code = transfer();
    if (code != CURLE_OK) return failure(code, uri);
    if (!is_redirect(answer_.status)) break;
    if (answer_.location.empty()) return {{}, "redirect without a location", {}};
    if (redirects == kMaxRedirects) return {{}, "too many redirects", {}};
    const Redirect redirect = redirect_of(camera_, uri, answer_.location);
    if (redirect.uri.empty()) return {{}, redirect.refusal, {}};
    uri = redirect.uri;
    credentials = redirect.to_the_camera ? camera_.credentials : std::nullopt;
  }
  if (answer_.status != 200)
    return {{}, text_of_status(answer_.status, "", camera_.credentials.has_value(), "picture"), {}};
  if (answer_.body.empty()) return {{}, "the camera sent nothing", {}};
  return {std::move(answer_.body), {}, {}};
} catch (const std::exception &error) {
  return {{}, error.what(), {}};
}

}  // namespace luminance
