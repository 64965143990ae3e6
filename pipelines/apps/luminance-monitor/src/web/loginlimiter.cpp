// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/loginlimiter.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace luminance {
namespace {

constexpr size_t kLines = 8;  // clients named in a report; one more line has all others
constexpr gint64 kFirstPeriod = 10 * G_USEC_PER_SEC, kMaxPeriod = 10 * G_TIME_SPAN_MINUTE;

std::string text_of(int family, const void *address) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, address, text, sizeof text);
  return text;
}

std::string client_of(in6_addr address) {
  constexpr size_t kNetwork = 8, kMapped = 12;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return text_of(AF_INET, address.s6_addr + kMapped);
  if (IN6_IS_ADDR_LOOPBACK(&address)) return text_of(AF_INET6, &address);
  std::memset(address.s6_addr + kNetwork, 0, sizeof address.s6_addr - kNetwork);
  return text_of(AF_INET6, &address) + "/64";
}

}  // namespace

std::string client_of(const sockaddr *address) {
  if (address == nullptr) return "?";
  if (address->sa_family == AF_INET)
    return text_of(AF_INET, &reinterpret_cast<const sockaddr_in *>(address)->sin_addr);
  return client_of(reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr);
}

std::string client_of(const std::string &address) {
  in_addr ipv4;
  in6_addr ipv6;
  if (inet_pton(AF_INET, address.c_str(), &ipv4) == 1) return text_of(AF_INET, &ipv4);
  if (inet_pton(AF_INET6, address.c_str(), &ipv6) == 1) return client_of(ipv6);
  return {};
}

gint64 LoginLimiter::refusal(const std::string &client, gint64 now) const {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return 0;
  const std::vector<gint64> &waiting = found->second.waiting;
  const auto busy = static_cast<size_t>(
      std::count_if(waiting.begin(), waiting.end(), [now](gint64 until) { return until > now; }));
  if (busy < kMaxWaiting) return 0;
  gint64 first = G_MAXINT64;
  for (const gint64 until : waiting)
    if (until > now) first = std::min(first, until);
  return first - now;
}

gint64 LoginLimiter::add(const std::string &client, gint64 now) {
  if (clients_.count(client) == 0) evict(now);
  Client &one = clients_[client];
  if (now - one.latest > kMemory) one = {};
  one.latest = now;
  ++one.count;
  if (Count *count = to_report(client, now)) ++count->wrong;
  if (one.count <= kFreeAttempts) return 0;
  const unsigned doubled = std::min(one.count - kFreeAttempts - 1, 10u);
  const gint64 delay = std::min(kFirstDelay << doubled, kMaxDelay);
  const auto is_past = [now](gint64 until) { return until <= now; };
  one.waiting.erase(std::remove_if(one.waiting.begin(), one.waiting.end(), is_past),
                    one.waiting.end());
  one.waiting.push_back(now + delay);
  return delay;
}

void LoginLimiter::count_refusal(const std::string &client, gint64 now) {
  if (Count *count = to_report(client, now)) ++count->refused;
}

/// Returns the client's count for the next report; null if too many clients are counted already. If
/// one report follows another closely, the time to the next grows.
LoginLimiter::Count *LoginLimiter::to_report(const std::string &client, gint64 now) {
  if (unreported_.empty()) {
    const bool goes_on = period_ != 0 && now < due_ + period_;
    period_ = goes_on ? std::min(period_ * 8, kMaxPeriod) : kFirstPeriod;
    since_ = now;
    due_ = now + period_;
  }
  const bool has_room = unreported_.size() < kMaxClients || unreported_.count(client) > 0;
  return has_room ? &unreported_[client] : nullptr;
}

/// Makes room for a client: removes expired ones or, if there are none, the older half.
void LoginLimiter::evict(gint64 now) {
  if (clients_.size() < kMaxClients) return;
  for (auto client = clients_.begin(); client != clients_.end();)
    client = now - client->second.latest > kMemory ? clients_.erase(client) : std::next(client);
  if (clients_.size() < kMaxClients) return;
  std::vector<gint64> times;
  for (const auto &[name, client] : clients_) times.push_back(client.latest);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  for (auto client = clients_.begin(); client != clients_.end();)
    client = client->second.latest <= *middle ? clients_.erase(client) : std::next(client);
}

std::vector<std::string> LoginLimiter::report(gint64 now) {
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
