// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery/discovery.h"

#include <gio/gio.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace luminance {
namespace {

constexpr const char *kGroup = "239.255.255.250";
constexpr guint16 kPort = 3702;
constexpr gint64 kAgain = G_USEC_PER_SEC / 2;  // time to the next probe: datagrams get lost
constexpr int kProbes = 3;
constexpr gsize kMaxAnswer = 65536;
constexpr gint kReceiveBuffer = 1 << 20;
constexpr size_t kMaxDevices = 1024, kMaxAddresses = 8;

template <class Object>
using Owned = std::unique_ptr<Object, decltype(&g_object_unref)>;
template <class Object>
Owned<Object> own(Object *object) {
  return {object, g_object_unref};
}

[[noreturn]] void fail(const std::string &what, GError *error) {
  const std::string text = what + ": " + error->message;
  g_error_free(error);
  throw std::runtime_error(text);
}

/// The address that a probe is sent to, and the interface that sends it.
struct Target {
  std::string interface;
  gint source = 0;  // IPv4 address of the interface, in network order; 0: the system chooses
  Owned<GSocketAddress> address;
};

std::vector<Target> interfaces() {
  ifaddrs *first = nullptr;
  if (getifaddrs(&first) != 0)
    throw std::runtime_error(std::string("cannot list the interfaces: ") + g_strerror(errno));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(first, freeifaddrs);
  std::vector<Target> targets;
  for (const ifaddrs *each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if ((each->ifa_flags & IFF_UP) == 0) continue;
    if ((each->ifa_flags & (IFF_MULTICAST | IFF_LOOPBACK)) == 0) continue;
    const auto *own_address = reinterpret_cast<const sockaddr_in *>(each->ifa_addr);
    targets.push_back({each->ifa_name, static_cast<gint>(own_address->sin_addr.s_addr),
                       own(g_inet_socket_address_new_from_string(kGroup, kPort))});
  }
  if (targets.empty()) throw std::runtime_error("no interface has an IPv4 address");
  return targets;
}

std::vector<Target> target_at(const std::string &address) {
  GError *error = nullptr;
  GSocketConnectable *parsed = g_network_address_parse(address.c_str(), kPort, &error);
  if (parsed == nullptr) fail("--discover-address", error);
  const Owned<GSocketConnectable> connectable = own(parsed);
  const auto found = own(g_socket_connectable_enumerate(connectable.get()));
  for (;;) {
    GSocketAddress *next = g_socket_address_enumerator_next(found.get(), nullptr, &error);
    if (error != nullptr) fail("--discover-address", error);
    if (next == nullptr)
      throw std::runtime_error("--discover-address: " + address + " has no IPv4 address");
    Target target = {address, 0, own(next)};
    if (g_socket_address_get_family(next) != G_SOCKET_FAMILY_IPV4) continue;
    std::vector<Target> targets;
    targets.push_back(std::move(target));
    return targets;
  }
}

bool is_same(const OnvifDevice &a, const OnvifDevice &b) {
  if (!a.endpoint.empty() || !b.endpoint.empty()) return a.endpoint == b.endpoint;
  return a.addresses == b.addresses;
}

/// Adds a device, or its addresses to those of the same device: a camera answers each probe that
/// reaches it, by each of its interfaces.
void add(OnvifDevice device, std::vector<OnvifDevice> &devices) {
  const auto known = std::find_if(devices.begin(), devices.end(),
                                  [&](const OnvifDevice &other) { return is_same(device, other); });
  if (known == devices.end()) {
    if (devices.size() < kMaxDevices) devices.push_back(std::move(device));
    return;
  }
  for (std::string &address : device.addresses) {
    std::vector<std::string> &all = known->addresses;
    if (all.size() < kMaxAddresses && std::find(all.begin(), all.end(), address) == all.end())
      all.push_back(std::move(address));
  }
}

class Search {
 public:
  explicit Search(const std::string &address)
      : targets_(address.empty() ? interfaces() : target_at(address)),
        socket_(nullptr, g_object_unref) {
    g_autofree gchar *uuid = g_uuid_string_random();
    id_ = std::string("urn:uuid:") + uuid;
    GError *error = nullptr;
    socket_.reset(
        g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, &error));
    if (error != nullptr) fail("cannot create a UDP socket", error);
    const auto any = own(g_inet_socket_address_new_from_string("0.0.0.0", 0));
    if (!g_socket_bind(socket_.get(), any.get(), FALSE, &error))
      fail("cannot bind a UDP port", error);
    g_socket_set_blocking(socket_.get(), FALSE);
    g_socket_set_multicast_ttl(socket_.get(), 1);
    // Many cameras may answer at once. The system may allow less.
    g_socket_set_option(socket_.get(), SOL_SOCKET, SO_RCVBUF, kReceiveBuffer, nullptr);
  }

  /// Sends a probe by each interface. Returns why interfaces could not be used, and throws
  /// std::runtime_error if none could.
  std::vector<std::string> ask() {
    const std::string text = probe(id_);
    std::vector<std::string> failures;
    for (const Target &target : targets_) {
      GError *error = nullptr;
      const bool is_set =
          target.source == 0 ||
          g_socket_set_option(socket_.get(), IPPROTO_IP, IP_MULTICAST_IF, target.source, &error);
      if (is_set && g_socket_send_to(socket_.get(), target.address.get(), text.data(), text.size(),
                                     nullptr, &error) >= 0)
        continue;
      failures.push_back(target.interface + ": " + error->message);
      g_error_free(error);
    }
    if (failures.size() == targets_.size()) throw std::runtime_error(failures.front());
    return failures;
  }

  void listen_until(gint64 end) {
    std::string answer(kMaxAnswer, '\0');
    while (g_get_monotonic_time() < end) {
      const gint64 left = std::max<gint64>(end - g_get_monotonic_time(), 1);
      if (!g_socket_condition_timed_wait(socket_.get(), G_IO_IN, left, nullptr, nullptr)) continue;
      const gssize size = g_socket_receive_from(socket_.get(), nullptr, answer.data(), kMaxAnswer,
                                                nullptr, nullptr);
      if (size <= 0) continue;  // an error, such as that of a probe that reached nobody
      for (OnvifDevice &device : devices_in(answer.substr(0, static_cast<size_t>(size)), id_))
        add(std::move(device), devices_);
    }
  }

  std::vector<OnvifDevice> take_devices() { return std::move(devices_); }

 private:
  const std::vector<Target> targets_;
  Owned<GSocket> socket_;
  std::string id_;
  std::vector<OnvifDevice> devices_;
};

}  // namespace

Discovered discover(double seconds, const std::string &address) {
  Search search(address);
  const gint64 begin = g_get_monotonic_time();
  const gint64 end = begin + static_cast<gint64>(seconds * G_USEC_PER_SEC);
  Discovered discovered;
  for (int i = 0; i < kProbes && begin + i * kAgain < end; ++i) {
    discovered.failures = search.ask();
    search.listen_until(i + 1 < kProbes ? std::min(begin + (i + 1) * kAgain, end) : end);
  }
  discovered.devices = search.take_devices();
  std::sort(discovered.devices.begin(), discovered.devices.end(),
            [](const OnvifDevice &a, const OnvifDevice &b) {
              return std::tie(a.name, a.hardware, a.addresses, a.endpoint) <
                     std::tie(b.name, b.hardware, b.addresses, b.endpoint);
            });
  return discovered;
}

}  // namespace luminance
