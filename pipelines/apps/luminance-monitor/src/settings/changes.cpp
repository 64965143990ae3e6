// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/changes.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace luminance {
namespace {

bool are_same(const std::optional<Credentials> &a, const std::optional<Credentials> &b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || std::tie(a->user, a->password) == std::tie(b->user, b->password);
}

enum class Difference { kNone, kRules, kMore };

Difference difference(const CameraSettings &a, const CameraSettings &b) {
  // The bindings name every member, so that no member that is added later is forgotten here.
  // `wanted` is not compared, because `id` already reflects it.
  const auto &[id, wanted, source, name, uri, location, credentials, hosts, fps, snapshots, region,
               rules, schedules] = a;
  const auto &[id_b, wanted_b, source_b, name_b, uri_b, location_b, credentials_b, hosts_b, fps_b,
               snapshots_b, region_b, rules_b, schedules_b] = b;
  if (std::tie(id, source, name, uri, location, hosts, fps, snapshots) !=
          std::tie(id_b, source_b, name_b, uri_b, location_b, hosts_b, fps_b, snapshots_b) ||
      !(region == region_b) || !are_same(credentials, credentials_b))
    return Difference::kMore;
  const bool has_same_rules = std::tie(rules, schedules) == std::tie(rules_b, schedules_b);
  return has_same_rules ? Difference::kNone : Difference::kRules;
}

template <class Channel>
bool are_same(const std::optional<Channel> &a, const std::optional<Channel> &b) {
  return a.has_value() == b.has_value() && (!a || luminance::are_same(*a, *b));
}

}  // namespace

bool are_same(const WebhookSettings &a, const WebhookSettings &b) {
  const auto &[url, address, secret, ca_file] = a;
  const auto &[url_b, address_b, secret_b, ca_file_b] = b;
  return std::tie(url, address, secret, ca_file) == std::tie(url_b, address_b, secret_b, ca_file_b);
}

bool are_same(const MailSettings &a, const MailSettings &b) {
  const auto &[server, starttls, from, to, credentials, ca_file] = a;
  const auto &[server_b, starttls_b, from_b, to_b, credentials_b, ca_file_b] = b;
  return std::tie(server, starttls, from, to, ca_file) ==
             std::tie(server_b, starttls_b, from_b, to_b, ca_file_b) &&
         are_same(credentials, credentials_b);
}

bool are_same(const MqttSettings &a, const MqttSettings &b) {
  const auto &[broker, host, port, tls, credentials, ca_file, discovery, topics] = a;
  const auto &[broker_b, host_b, port_b, tls_b, credentials_b, ca_file_b, discovery_b, topics_b] =
      b;
  return std::tie(broker, host, port, tls, ca_file, discovery, topics) ==
             std::tie(broker_b, host_b, port_b, tls_b, ca_file_b, discovery_b, topics_b) &&
         are_same(credentials, credentials_b);
}

bool are_same(const NotificationSettings &a, const NotificationSettings &b) {
  const auto &[after, settle, group, remind, max, verdicts, webhooks, mail, mqtt] = a;
  const auto &[after_b, settle_b, group_b, remind_b, max_b, verdicts_b, webhooks_b, mail_b,
               mqtt_b] = b;
  return std::tie(after, settle, group, remind, max, verdicts) ==
             std::tie(after_b, settle_b, group_b, remind_b, max_b, verdicts_b) &&
         std::equal(webhooks.begin(), webhooks.end(), webhooks_b.begin(), webhooks_b.end(),
                    [](const auto &x, const auto &y) { return are_same(x, y); }) &&
         are_same(mail, mail_b) && are_same(mqtt, mqtt_b);
}

CameraChanges camera_changes(const Settings &before, const Settings &after) {
  std::unordered_map<std::string, const CameraSettings *> known;
  for (const CameraSettings &camera : before.cameras) known[camera.id] = &camera;
  // The elements that measure use the backend, so every camera must be reconnected.
  const bool all_change = before.backend != after.backend;
  CameraChanges changes;
  for (const CameraSettings &camera : after.cameras) {
    const auto found = known.find(camera.id);
    if (found == known.end()) {
      changes.added.push_back(camera.id);
      continue;
    }
    switch (all_change ? Difference::kMore : difference(*found->second, camera)) {
      case Difference::kMore: changes.changed.push_back(camera.id); break;
      case Difference::kRules: changes.rules.push_back(camera.id); break;
      case Difference::kNone: ++changes.unchanged; break;
    }
    known.erase(found);
  }
  for (const CameraSettings &camera : before.cameras)
    if (known.count(camera.id) > 0) changes.removed.push_back(camera.id);
  return changes;
}

std::vector<std::string> fixed_changes(const Settings &before, const Settings &after) {
  const WebSettings &web = before.web, &web_after = after.web;
  const HistorySettings &history = before.history, &history_after = after.history;
  const std::pair<const char *, bool> all[] = {
      {"interval", before.interval != after.interval},
      {"web.enabled", web.enabled != web_after.enabled},
      {"web.listen",
       std::tie(web.address, web.port) != std::tie(web_after.address, web_after.port)},
      {"web.max-connections", web.max_connections != web_after.max_connections},
      {"web.trust-forwarded-for", web.trust_forwarded_for != web_after.trust_forwarded_for},
      {"web.tls-certificate", web.certificate.empty() != web_after.certificate.empty()},
      {"history.file", std::tie(history.enabled, history.file) !=
                           std::tie(history_after.enabled, history_after.file)},
      {"history.interval", history.interval != history_after.interval},
      {"history.retention-days", history.retention != history_after.retention},
  };
  std::vector<std::string> names;
  for (const auto &[name, is_different] : all)
    if (is_different) names.emplace_back(name);
  return names;
}

}  // namespace luminance
