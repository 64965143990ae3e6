// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings of notifications: how they are read, and which errors wrong values cause.
#include "settings/notifications.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "settings/changes.h"

namespace luminance {
namespace {

using nlohmann::json;

NotificationSettings read(const json &document) {
  NotificationSettings settings;
  read_notifications(Table(document, "notifications"), "/nowhere", settings);
  return settings;
}

std::string error_of(const json &document) {
  try {
    read(document);
  } catch (const SettingsError &error) {
    return error.what();
  }
  return "no error";
}

json webhook(const json &more = json::object()) {
  json table = {{"url", "https://hooks.example.org/t0ken"}};
  table.update(more);
  return {{"webhooks", json::array({table})}};
}
json mail(const json &more = json::object()) {
  json table = {{"server", "smtp://mail.example.org"}, {"from", "a@b.org"}, {"to", {"c@d.org"}}};
  table.update(more);
  return {{"mail", table}};
}
json mqtt(const json &more = json::object()) {
  json table = {{"broker", "mqtt://broker.example.org"}};
  table.update(more);
  return {{"mqtt", table}};
}

TEST(NotificationSettings, HaveDefaults) {
  const NotificationSettings settings = read(json::object());
  EXPECT_EQ(settings.after, 10);
  EXPECT_EQ(settings.settle, 60);
  EXPECT_EQ(settings.group, 30);
  EXPECT_EQ(settings.max_per_hour, 30u);
  EXPECT_EQ(settings.remind_hours, 0);
  EXPECT_EQ(settings.verdicts, all_verdicts());
  EXPECT_TRUE(settings.webhooks.empty() && !settings.mail && !settings.mqtt);
}

TEST(NotificationSettings, ReadChannels) {
  const WebhookSettings hook =
      read(webhook({{"url", "https://me:geheim@hooks.example.org/t0ken?a=b"}, {"secret", "s"}}))
          .webhooks.at(0);
  EXPECT_EQ(hook.address, "https://hooks.example.org:443");
  EXPECT_EQ(hook.url, "https://me:geheim@hooks.example.org/t0ken?a=b");
  EXPECT_EQ(hook.secret, "s");
  setenv("NOTIFY_URL", "http://[::1]:81/x", 1);
  EXPECT_EQ(read({{"webhooks", {{{"url-env", "NOTIFY_URL"}}}}}).webhooks.at(0).address,
            "http://[::1]:81");

  EXPECT_EQ(read(mail()).mail->server, "smtp://mail.example.org:587");
  EXPECT_TRUE(read(mail()).mail->starttls);
  EXPECT_FALSE(read(mail({{"server", "smtp://127.0.0.1:25"}})).mail->starttls);
  EXPECT_FALSE(read(mail({{"server", "smtps://mail.example.org"}})).mail->starttls);
  EXPECT_EQ(read(mail({{"server", "smtps://mail.example.org"}})).mail->server,
            "smtps://mail.example.org:465");

  const MqttSettings broker = *read(mqtt({{"broker", "mqtts://broker.example.org"},
                                          {"user", "u"},
                                          {"password", "p"},
                                          {"topic-prefix", "site/cameras"}}))
                                   .mqtt;
  EXPECT_TRUE(broker.tls);
  EXPECT_EQ(broker.port, 8883);
  EXPECT_EQ(broker.host, "broker.example.org");
  EXPECT_EQ(broker.discovery_prefix, "homeassistant");
  EXPECT_EQ(broker.credentials->password, "p");
  const NotificationSettings chosen = read({{"verdicts", {"too-dark", "no-frames"}}});
  EXPECT_TRUE(chosen.verdicts[static_cast<size_t>(Verdict::kTooDark)]);
  EXPECT_FALSE(chosen.verdicts[static_cast<size_t>(Verdict::kFrozen)]);
}

TEST(NotificationSettings, NameWrongValues) {
  const std::string hook = "notifications.webhooks[0].", post = "notifications.mail.",
                    broker = "notifications.mqtt.";
  const std::pair<json, std::string> cases[] = {
      {{{"after", -1}}, "notifications.after is -1"},
      {{{"group", 1e9}}, "notifications.group is 1e+09"},
      {{{"max-per-hour", 0}}, "notifications.max-per-hour is 0"},
      {{{"max-per-hour", 1.5}}, "notifications.max-per-hour is 1.5"},
      {{{"verdicts", {"dark"}}}, "notifications.verdicts has 'dark'"},
      {{{"verdicts", json::array()}}, "notifications.verdicts is empty"},
      {{{"nonsense", 1}}, "notifications.nonsense is unknown"},
      {{{"webhooks", json::object()}}, "notifications.webhooks is not a list"},
      {{{"webhooks", {json::object()}}}, hook + "url is missing"},
      {webhook({{"url", "geheim"}}), hook + "url is not a valid URL"},
      {webhook({{"url", "https:///geheim"}}), hook + "url is not a valid URL"},
      {webhook({{"url", "https://a/geheim\r\nX: y"}}), hook + "url is not a valid URL"},
      {webhook({{"url", "file://a/geheim"}}), hook + "url must begin with https:// or http://"},
      {webhook({{"secret", ""}}), hook + "secret is empty"},
      {webhook({{"secret", "a"}, {"secret-env", "B"}}), hook + "secret is set more than once"},
      {webhook({{"ca-file", "gone"}}), hook + "ca-file names '/nowhere/gone'"},
      {mail({{"server", ""}}), post + "server is missing"},
      {mail({{"server", "mail.example.org"}}), post + "server is not a valid URL"},
      {mail({{"server", "http://geheim"}}), post + "server must begin with smtp://"},
      {mail({{"server", "smtp://me:geheim@a"}}), post + "server has a user"},
      {mail({{"server", "smtp://a/geheim"}}), post + "server has more than a host and a port"},
      {mail({{"starttls", false}}), post + "starttls can be turned off only"},
      {mail({{"server", "smtps://a"}, {"starttls", true}}), post + "starttls is not possible"},
      {mail({{"from", ""}}), post + "from is missing"},
      {mail({{"from", "a@b\r\nBcc: c@d"}}), post + "from has"},
      {mail({{"from", "A <a@b>"}}), post + "from has 'A <a@b>'"},
      {mail({{"to", json::array()}}), post + "to is missing"},
      {mail({{"to", {"a@b", "b"}}}), post + "to has 'b'"},
      {mail({{"to", {"a@b,c@d"}}}), post + "to has"},
      {mail({{"password", "p"}}), post + "password is set without a user"},
      {mqtt({{"broker", ""}}), broker + "broker is missing"},
      {mqtt({{"broker", "tcp://a"}}), broker + "broker must begin with mqtt:// or mqtts://"},
      {mqtt({{"topic-prefix", "a/#"}}), broker + "topic-prefix is not the beginning of a topic"},
      {mqtt({{"topic-prefix", "/a"}}), broker + "topic-prefix is not"},
      {mqtt({{"discovery-prefix", "a/"}}), broker + "discovery-prefix is not"},
      {mqtt({{"ca-file", "/etc/passwd"}}), broker + "ca-file needs a broker with mqtts://"},
  };
  for (const auto &[document, expected] : cases) {
    const std::string error = error_of(document);
    EXPECT_EQ(error.rfind(expected, 0), 0u) << document << ": " << error;
    EXPECT_EQ(error.find("geheim"), std::string::npos) << error;
  }
}

TEST(NotificationSettings, DifferInEverySetting) {
  json document = webhook();
  document.update(mail());
  document.update(mqtt());
  const NotificationSettings before = read(document);
  EXPECT_TRUE(are_same(before, read(document)));
  for (const json &change :
       {json{{"after", 1}}, json{{"settle", 1}}, json{{"group", 1}}, json{{"remind-hours", 1}},
        json{{"max-per-hour", 1}}, json{{"verdicts", {"frozen"}}}, webhook({{"secret", "x"}}),
        webhook({{"url", "https://hooks.example.org/other"}}), mail({{"to", {"x@y"}}}),
        mail({{"user", "x"}, {"password", "y"}}), mqtt({{"topic-prefix", "x"}}),
        mqtt({{"user", "x"}}), json{{"webhooks", json::array()}}}) {
    json changed = document;
    changed.update(change);
    EXPECT_FALSE(are_same(before, read(changed))) << change;
  }
}

}  // namespace
}  // namespace luminance
