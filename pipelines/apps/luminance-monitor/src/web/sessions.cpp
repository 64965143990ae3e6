// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/sessions.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace luminance {
namespace {

constexpr size_t kBytes = 32;

std::string hash_of(const std::string &secret) {
  g_autofree gchar *hash = g_compute_checksum_for_data(
      G_CHECKSUM_SHA256, reinterpret_cast<const guchar *>(secret.data()), secret.size());
  return hash;
}

std::string random_secret() {
  unsigned char bytes[kBytes];
  ssize_t got = 0;
  do got = getrandom(bytes, sizeof bytes, 0);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof bytes))
    throw std::runtime_error("cannot get random numbers from the system");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

std::string Sessions::begin(const std::string &user, gint64 now) {
  for (auto session = sessions_.begin(); session != sessions_.end();)
    session = session->second.end <= now ? sessions_.erase(session) : std::next(session);
  if (sessions_.size() >= kMaxSessions) {
    const auto is_earlier = [](const auto &a, const auto &b) {
      return a.second.end < b.second.end;
    };
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(), is_earlier));
  }
  const std::string secret = random_secret();
  sessions_[hash_of(secret)] = {now + kLength, user};
  return secret;
}

bool Sessions::knows(const std::string &secret, gint64 now) const {
  const auto found = sessions_.find(hash_of(secret));
  return found != sessions_.end() && now < found->second.end;
}

std::string Sessions::user_of(const std::string &secret, gint64 now) const {
  return knows(secret, now) ? sessions_.at(hash_of(secret)).user : "";
}

void Sessions::end(const std::string &secret) { sessions_.erase(hash_of(secret)); }

}  // namespace luminance
