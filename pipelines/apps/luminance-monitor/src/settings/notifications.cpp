// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/notifications.h"

#include <gio/gio.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "settings/credentials.h"
#include "settings/filewatch.h"
#include "settings/limits.h"

namespace luminance {
namespace {

constexpr size_t kMaxAddress = 254, kMaxPrefix = 100;  // bytes

struct Scheme {
  const char *name;
  uint16_t port;
};

/// The server that messages are sent to, without a user.
struct Endpoint {
  std::string scheme, host;
  uint16_t port;

  std::string text() const {
    const bool is_ipv6 = host.find(':') != std::string::npos;
    return scheme + "://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }
};

using Uri = std::unique_ptr<GUri, decltype(&g_uri_unref)>;

/// Parses a URL. Errors contain no part of it, because it may hold a password or a token.
Uri parse(const Table &table, const std::string &key, const std::string &text) {
  constexpr auto kFlags = static_cast<GUriFlags>(G_URI_FLAGS_ENCODED | G_URI_FLAGS_HAS_PASSWORD);
  const bool is_text =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c != 0x7f; });
  Uri uri(is_text ? g_uri_parse(text.c_str(), kFlags, nullptr) : nullptr, g_uri_unref);
  const gchar *host = uri != nullptr ? g_uri_get_host(uri.get()) : nullptr;
  if (host == nullptr || *host == '\0') table.fail(key, "is not a valid URL");
  return uri;
}

Endpoint endpoint_of(const Table &table, const std::string &key, GUri *uri,
                     const std::vector<Scheme> &schemes) {
  std::string names;
  for (const Scheme &scheme : schemes) {
    const gint port = g_uri_get_port(uri);
    if (g_uri_get_scheme(uri) == std::string(scheme.name))
      return {scheme.name, g_uri_get_host(uri),
              port > 0 ? static_cast<uint16_t>(port) : scheme.port};
    names += (names.empty() ? "" : " or ") + std::string(scheme.name) + "://";
  }
  table.fail(key, "must begin with " + names);
}

/// Reads a server. It must have no path and no user, which has a setting of its own.
Endpoint read_server(Table &table, const std::string &key, const std::vector<Scheme> &schemes) {
  const std::string text = table.text(key);
  if (text.empty()) table.fail(key, "is missing");
  const Uri uri = parse(table, key, text);
  const Endpoint endpoint = endpoint_of(table, key, uri.get(), schemes);
  if (g_uri_get_userinfo(uri.get()) != nullptr)
    table.fail(key, "has a user: use the settings user and password-file");
  const std::string path = g_uri_get_path(uri.get());
  if ((!path.empty() && path != "/") || g_uri_get_query(uri.get()) != nullptr ||
      g_uri_get_fragment(uri.get()) != nullptr)
    table.fail(key, "has more than a host and a port");
  return endpoint;
}

std::string read_ca_file(Table &table, const std::string &folder) {
  const std::string name = table.text("ca-file");
  if (name.empty()) return {};
  const std::string file = std::filesystem::path(folder) / name;
  FileWatch::note(file);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) || !std::ifstream(file))
    table.fail("ca-file", "names '" + file + "', which cannot be read");
  return file;
}

void read_webhook(Table table, const std::string &folder, NotificationSettings &settings) {
  WebhookSettings webhook;
  if (const auto url = read_secret(table, "url", folder)) {
    webhook.url = *url;
    const Uri uri = parse(table, "url", webhook.url);
    webhook.address = endpoint_of(table, "url", uri.get(), {{"https", 443}, {"http", 80}}).text();
  } else {
    table.fail("url", "is missing");
  }
  webhook.secret = read_secret(table, "secret", folder).value_or("");
  webhook.ca_file = read_ca_file(table, folder);
  table.finish();
  settings.webhooks.push_back(std::move(webhook));
  if (settings.webhooks.size() > kMaxWebhooks)
    throw SettingsError("more than " + std::to_string(kMaxWebhooks) + " webhooks");
}

/// Accepts only addresses without characters that have a meaning in headers or commands of SMTP.
void check_address(const Table &table, const std::string &key, const std::string &address) {
  const size_t at = address.find('@');
  const bool is_plain = std::all_of(address.begin(), address.end(), [](unsigned char c) {
    return g_ascii_isgraph(static_cast<gchar>(c)) &&
           std::string("<>()[],;:\\\"").find(static_cast<char>(c)) == std::string::npos;
  });
  if (!is_plain || at == 0 || at == std::string::npos || at + 1 == address.size() ||
      address.find('@', at + 1) != std::string::npos || address.size() > kMaxAddress)
    table.fail(key, "has '" + address + "', which is not of the form NAME@HOST");
}

bool is_local(const std::string &host) {
  g_autoptr(GInetAddress) inet = g_inet_address_new_from_string(host.c_str());
  return host == "localhost" || (inet != nullptr && g_inet_address_get_is_loopback(inet));
}

void read_mail(Table table, const std::string &folder, NotificationSettings &settings) {
  MailSettings mail;
  const Endpoint server = read_server(table, "server", {{"smtp", 587}, {"smtps", 465}});
  mail.server = server.text();
  mail.starttls = server.scheme == "smtp" && !is_local(server.host);
  const bool must_encrypt = mail.starttls;
  table.read("starttls", mail.starttls);
  if (must_encrypt && !mail.starttls)
    table.fail("starttls", "can be turned off only for a server on this machine");
  if (mail.starttls && server.scheme == "smtps")
    table.fail("starttls", "is not possible with smtps://, which is encrypted from the start");
  mail.from = table.text("from");
  if (mail.from.empty()) table.fail("from", "is missing");
  check_address(table, "from", mail.from);
  table.read("to", mail.to);
  if (mail.to.empty()) table.fail("to", "is missing");
  if (mail.to.size() > kMaxRecipients)
    table.fail("to", "has more than " + std::to_string(kMaxRecipients) + " addresses");
  for (const std::string &address : mail.to) check_address(table, "to", address);
  mail.credentials = read_credentials(table, folder);
  mail.ca_file = read_ca_file(table, folder);
  table.finish();
  settings.mail = std::move(mail);
}

void read_prefix(Table &table, const std::string &key, std::string &prefix) {
  table.read(key, prefix);
  const bool is_topic = g_utf8_validate(prefix.c_str(), -1, nullptr) != FALSE &&
                        std::none_of(prefix.begin(), prefix.end(), [](unsigned char c) {
                          return c < ' ' || c == 0x7f || c == '+' || c == '#';
                        });
  if (prefix.empty() || prefix.size() > kMaxPrefix || !is_topic || prefix.front() == '/' ||
      prefix.front() == '$' || prefix.back() == '/')
    table.fail(key, "is not the beginning of a topic: it must not be empty or longer than " +
                        std::to_string(kMaxPrefix) +
                        " bytes, begin with '/' or '$', end with '/', or contain '+', '#' or "
                        "control characters");
}

void read_mqtt(Table table, const std::string &folder, NotificationSettings &settings) {
  MqttSettings mqtt;
  const Endpoint broker = read_server(table, "broker", {{"mqtt", 1883}, {"mqtts", 8883}});
  mqtt.broker = broker.text();
  mqtt.host = broker.host;
  mqtt.port = broker.port;
  mqtt.tls = broker.scheme == "mqtts";
  mqtt.credentials = read_credentials(table, folder);
  mqtt.ca_file = read_ca_file(table, folder);
  if (!mqtt.ca_file.empty() && !mqtt.tls) table.fail("ca-file", "needs a broker with mqtts://");
  read_prefix(table, "discovery-prefix", mqtt.discovery_prefix);
  read_prefix(table, "topic-prefix", mqtt.topic_prefix);
  table.finish();
  settings.mqtt = std::move(mqtt);
}

void read_verdicts(Table &table, std::array<bool, kVerdicts> &chosen) {
  if (table.find("verdicts") == nullptr) return;
  std::vector<std::string> names;
  table.read("verdicts", names);
  if (names.empty()) table.fail("verdicts", "is empty");
  chosen = {};
  for (const std::string &name : names) {
    const std::optional<Verdict> verdict = verdict_named(name);
    if (!verdict) table.fail("verdicts", "has '" + name + "', which is not a verdict");
    chosen[static_cast<size_t>(*verdict)] = true;
  }
}

}  // namespace

void read_notifications(Table table, const std::string &folder, NotificationSettings &settings) {
  table.read("after", settings.after, 0, kMaxAfter);
  table.read("settle", settings.settle, 0, kMaxSettle);
  table.read("group", settings.group, 0, kMaxGroup);
  table.read("remind-hours", settings.remind_hours, 0, kMaxRemind);
  table.read("max-per-hour", settings.max_per_hour, 1, kMaxPerHour);
  read_verdicts(table, settings.verdicts);
  table.with_each("webhooks", [&](Table webhook) { read_webhook(webhook, folder, settings); });
  table.with("mail", [&](Table mail) { read_mail(mail, folder, settings); });
  table.with("mqtt", [&](Table mqtt) { read_mqtt(mqtt, folder, settings); });
  table.finish();
}

}  // namespace luminance
