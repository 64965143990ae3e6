// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages as mail, with names of cameras that try to break them.
#include "notify/mail.h"

#include <glib.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace luminance {
namespace {

MailSettings settings() {
  MailSettings settings;
  settings.from = "monitor@example.org";
  settings.to = {"night@example.org", "chief@example.org"};
  return settings;
}

Message message_of(const std::string &name) {
  Message message;
  message.id = "1234.5";
  message.time = 1763798440000;
  Alert alert;
  alert.camera = "entrance";
  alert.name = name;
  alert.verdict = Verdict::kTooDark;
  alert.since = 1763798440000;
  alert.value = 23.5;
  alert.threshold = 40;
  message.alerts = {alert};
  return message;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string decoded_body(const std::string &mail) {
  std::string body = mail.substr(mail.find("\r\n\r\n") + 4);
  gsize size = 0;
  // The decoder ignores line ends; lines of 76 characters are whole groups of four.
  g_autofree guchar *plain = g_base64_decode(body.c_str(), &size);
  return std::string(reinterpret_cast<char *>(plain), size);
}

TEST(Mail, HasTheHeadersOfAMessage) {
  const std::string mail = mail_of(message_of("Entrance"), settings());
  EXPECT_NE(mail.find("From: monitor@example.org\r\n"), std::string::npos);
  EXPECT_NE(mail.find("To: night@example.org,\r\n chief@example.org\r\n"), std::string::npos);
  EXPECT_NE(mail.find("Message-ID: <1234.5@example.org>\r\n"), std::string::npos);
  EXPECT_NE(mail.find("Subject: Too dark: Entrance\r\n"), std::string::npos);
  EXPECT_NE(mail.find(" Nov 2025 "), std::string::npos);
  EXPECT_NE(decoded_body(mail).find("Entrance: Too dark since 2025-11-2"), std::string::npos);
  EXPECT_NE(decoded_body(mail).find("(mean luma: 23.5, threshold: 40)\n"), std::string::npos);
}

TEST(Mail, SaysWhyAFaultIsOver) {
  Message message = message_of("Entrance");
  Alert &alert = message.alerts[0];
  alert.event = Alert::Event::kCleared;
  alert.cleared = message.time + 60000;
  EXPECT_NE(body_of(message).find(" (mean luma: 23.5, threshold: 40)\n"), std::string::npos);
  EXPECT_NE(json_of(message).find(R"("reason":"value")"), std::string::npos);
  alert.cause = Cause::kRules;
  EXPECT_NE(body_of(message).find(" (no longer judged)\n"), std::string::npos);
  EXPECT_EQ(body_of(message).find("23.5"), std::string::npos);
  EXPECT_NE(json_of(message).find(R"("reason":"rules")"), std::string::npos);
  alert.cause = Cause::kReference;
  EXPECT_NE(body_of(message).find(" (the reference was learned anew)\n"), std::string::npos);
  EXPECT_NE(json_of(message).find(R"("reason":"reference")"), std::string::npos);
  alert.event = Alert::Event::kRaised;
  EXPECT_NE(json_of(message).find(R"("reason":null)"), std::string::npos);
}

TEST(Mail, KeepsAnyCameraNameWithinTheSubject) {
  std::string names[] = {"Tür\r\nBcc: everybody@example.org\r\n\r\nhello",
                         "\xff\xfe no UTF-8",
                         "=?UTF-8?B?QmNj?=",
                         std::string(300, 'x'),
                         "📷 שלום \xe2\x80\xae drawkcab",
                         "\xc2\x85 next line \x1b[31m"};
  for (int i = 0; i < 100; ++i) names[3] += "ü📷";
  for (const std::string &name : names) {
    const std::string mail = mail_of(message_of(name), settings());
    const std::string head = mail.substr(0, mail.find("\r\n\r\n"));
    size_t headers = 0;
    for (const std::string &line : lines_of(head + "\r\n")) {
      ASSERT_EQ(line.back(), '\r') << line;
      EXPECT_LE(line.size(), 79u) << line;
      for (const char c : line.substr(0, line.size() - 1))
        EXPECT_TRUE(c == ' ' || g_ascii_isgraph(c)) << line;
      headers += line.front() != ' ' ? 1 : 0;
      EXPECT_NE(line.rfind("Bcc", 0), 0u) << line;
    }
    EXPECT_EQ(headers, 9u) << head;
    for (const std::string &line : lines_of(mail)) EXPECT_LE(line.size(), 79u);
    const std::string body = decoded_body(mail);
    EXPECT_TRUE(g_utf8_validate(body.data(), static_cast<gssize>(body.size()), nullptr)) << name;
    EXPECT_EQ(std::count(body.begin(), body.end(), '\n'), 1) << "one line for an alert: " << body;
  }
}

TEST(Mail, SumsUpManyAlerts) {
  Message message = message_of("One");
  for (const char *name : {"Two", "Three", "Four", "Five"}) {
    message.alerts.push_back(message.alerts[0]);
    message.alerts.back().camera = message.alerts.back().name = name;
  }
  message.alerts[1].event = Alert::Event::kCleared;
  message.alerts[1].cleared = message.time;
  message.alerts[2].event = Alert::Event::kReminder;
  message.omitted = 12;
  EXPECT_EQ(subject_of(message),
            "3 new problems, 1 problem lasts, 1 problem over: One, Two, Three and 2 more");
  const std::string body = body_of(message);
  EXPECT_NE(body.find("Two: over: Too dark from 2025"), std::string::npos) << body;
  EXPECT_NE(body.find("Three: still: Too dark since 2025"), std::string::npos) << body;
  EXPECT_NE(body.find("12 earlier alerts are missing"), std::string::npos) << body;
}

}  // namespace
}  // namespace luminance
