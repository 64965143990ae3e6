// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/guesses.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace luminance {
namespace {

constexpr size_t kLines = 8;  // of a report, and one more
constexpr gint64 kFirstPeriod = 10 * G_USEC_PER_SEC, kLongestPeriod = 10 * G_TIME_SPAN_MINUTE;

std::string text_of(int family, const void *address) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, address, text, sizeof text);
  return text;
}

std::string guesser_of(in6_addr address) {
  constexpr size_t kNetwork = 8, kMapped = 12;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return text_of(AF_INET, address.s6_addr + kMapped);
  if (IN6_IS_ADDR_LOOPBACK(&address)) return text_of(AF_INET6, &address);
  std::memset(address.s6_addr + kNetwork, 0, sizeof address.s6_addr - kNetwork);
  return text_of(AF_INET6, &address) + "/64";
}

}  // namespace

std::string guesser_of(const sockaddr *address) {
  if (address == nullptr) return "?";
  if (address->sa_family == AF_INET)
    return text_of(AF_INET, &reinterpret_cast<const sockaddr_in *>(address)->sin_addr);
  return guesser_of(reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr);
}

std::string guesser_of(const std::string &address) {
  in_addr ipv4;
  in6_addr ipv6;
  if (inet_pton(AF_INET, address.c_str(), &ipv4) == 1) return text_of(AF_INET, &ipv4);
  if (inet_pton(AF_INET6, address.c_str(), &ipv6) == 1) return guesser_of(ipv6);
  return {};
}

gint64 Guesses::refusal(const std::string &guesser, gint64 now) const {
  const auto found = guessers_.find(guesser);
  if (found == guessers_.end()) return 0;
  const std::vector<gint64> &waiting = found->second.waiting;
  const auto busy = static_cast<size_t>(
      std::count_if(waiting.begin(), waiting.end(), [now](gint64 until) { return until > now; }));
  if (busy < kAtOnce) return 0;
  gint64 first = G_MAXINT64;
  for (const gint64 until : waiting)
    if (until > now) first = std::min(first, until);
  return first - now;
}

gint64 Guesses::add(const std::string &guesser, gint64 now) {
  if (guessers_.count(guesser) == 0) forget(now);
  Guesser &one = guessers_[guesser];
  if (now - one.latest > kMemory) one = {};
  one.latest = now;
  ++one.count;
  if (Count *count = to_report(guesser, now)) ++count->wrong;
  if (one.count <= kFree) return 0;
  const unsigned doubled = std::min(one.count - kFree - 1, 10u);
  const gint64 delay = std::min(kFirstDelay << doubled, kLongestDelay);
  const auto is_over = [now](gint64 until) { return until <= now; };
  one.waiting.erase(std::remove_if(one.waiting.begin(), one.waiting.end(), is_over),
                    one.waiting.end());
  one.waiting.push_back(now + delay);
  return delay;
}

void Guesses::note_refusal(const std::string &guesser, gint64 now) {
  if (Count *count = to_report(guesser, now)) ++count->refused;
}

/// Null where there are too many to be told apart. A report that follows another closely is later.
Guesses::Count *Guesses::to_report(const std::string &guesser, gint64 now) {
  if (unreported_.empty()) {
    const bool goes_on = period_ != 0 && now < due_ + period_;
    period_ = goes_on ? std::min(period_ * 8, kLongestPeriod) : kFirstPeriod;
    since_ = now;
    due_ = now + period_;
  }
  const bool has_room = unreported_.size() < kGuessers || unreported_.count(guesser) > 0;
  return has_room ? &unreported_[guesser] : nullptr;
}

/// Makes room: where all of them are new, half of them go.
void Guesses::forget(gint64 now) {
  if (guessers_.size() < kGuessers) return;
  for (auto guesser = guessers_.begin(); guesser != guessers_.end();)
    guesser =
        now - guesser->second.latest > kMemory ? guessers_.erase(guesser) : std::next(guesser);
  if (guessers_.size() < kGuessers) return;
  std::vector<gint64> times;
  for (const auto &[name, guesser] : guessers_) times.push_back(guesser.latest);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  for (auto guesser = guessers_.begin(); guesser != guessers_.end();)
    guesser = guesser->second.latest <= *middle ? guessers_.erase(guesser) : std::next(guesser);
}

std::vector<std::string> Guesses::report(gint64 now) {
  if (unreported_.empty() || now < due_) return {};
  std::vector<std::pair<std::string, Count>> all(unreported_.begin(), unreported_.end());
  unreported_.clear();
  std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
    return a.second.wrong + a.second.refused > b.second.wrong + b.second.refused;
  });
  const std::string time = " in " + std::to_string((now - since_) / G_USEC_PER_SEC) + " s";
  const auto line = [&](const std::string &who, const Count &count) {
    std::string text =
        "wrong passwords or tokens from " + who + ": " + std::to_string(count.wrong) + time;
    if (count.refused > 0)
      text += "; " + std::to_string(count.refused) + " more attempts were refused unchecked";
    return text;
  };
  std::vector<std::string> lines;
  Count others;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i < kLines) {
      lines.push_back(line(all[i].first, all[i].second));
    } else {
      others.wrong += all[i].second.wrong;
      others.refused += all[i].second.refused;
    }
  }
  if (all.size() > kLines)
    lines.push_back(line(std::to_string(all.size() - kLines) + " other addresses", others));
  return lines;
}

}  // namespace luminance
