// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/mail.h"

#include <glib.h>

#include <algorithm>
#include <cstring>

#include "log/log.h"
#include "notify/transfer.h"

namespace luminance {
namespace {

constexpr const char *kEnd = "\r\n";
constexpr size_t kWord = 42;  // bytes in an encoded word: a line has at most 78 characters
constexpr size_t kLine = 57;  // bytes in a line of Base64, which has 76 characters

std::string base64(const std::string &text) {
  g_autofree gchar *encoded =
      g_base64_encode(reinterpret_cast<const guchar *>(text.data()), text.size());
  return encoded;
}

/// Returns the text as encoded words of RFC 2047. No word ends within a character.
std::string encoded_words(const std::string &text) {
  std::string words, word;
  const auto flush = [&] {
    words += (words.empty() ? "" : std::string(kEnd) + " ") + "=?UTF-8?B?" + base64(word) + "?=";
    word.clear();
  };
  for (const char *at = text.c_str(); *at != '\0';) {
    const char *next = g_utf8_next_char(at);
    const auto size = static_cast<size_t>(next - at);
    if (word.size() + size > kWord) flush();
    word.append(at, size);
    at = next;
  }
  flush();
  return words;
}

std::string subject_header(const std::string &subject) {
  const std::string line = on_one_line(subject);
  constexpr size_t kShort = 66;  // with the header's name, at most 78 characters in a line
  const bool is_plain = line.size() <= kShort &&
                        std::all_of(line.begin(), line.end(),
                                    [](char c) { return c == ' ' || g_ascii_isgraph(c); }) &&
                        line.find("=?") == std::string::npos;
  return is_plain ? line : encoded_words(line);
}

std::string date_of(int64_t time) {
  // g_date_time_format() would use the names of the locale.
  constexpr const char *kDays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  constexpr const char *kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_local(time / 1000);
  if (date == nullptr) throw SendError("the time of the message is not a date");
  g_autofree gchar *begin = g_date_time_format(date, "%d");
  g_autofree gchar *end = g_date_time_format(date, "%Y %H:%M:%S %z");
  return std::string(kDays[g_date_time_get_day_of_week(date) - 1]) + ", " + begin + " " +
         kMonths[g_date_time_get_month(date) - 1] + " " + end;
}

struct Reading {
  const std::string &text;
  size_t at;
};

size_t read_more(char *to, size_t size, size_t count, void *data) {
  auto *reading = static_cast<Reading *>(data);
  const size_t length = std::min(size * count, reading->text.size() - reading->at);
  std::memcpy(to, reading->text.data() + reading->at, length);
  reading->at += length;
  return length;
}

}  // namespace

std::string mail_of(const Message &message, const MailSettings &settings) {
  std::string recipients;
  for (const std::string &address : settings.to)
    recipients += (recipients.empty() ? "" : "," + std::string(kEnd) + " ") + address;
  const std::string host = settings.from.substr(settings.from.find('@') + 1);
  const std::pair<const char *, std::string> headers[] = {
      {"Date", date_of(message.time)},
      {"From", settings.from},
      {"To", recipients},
      {"Message-ID", "<" + message.id + "@" + host + ">"},
      {"Subject", subject_header(subject_of(message))},
      {"Auto-Submitted", "auto-generated"},
      {"MIME-Version", "1.0"},
      {"Content-Type", "text/plain; charset=utf-8"},
      {"Content-Transfer-Encoding", "base64"},
  };
  std::string text;
  for (const auto &[name, value] : headers) text += std::string(name) + ": " + value + kEnd;
  text += kEnd;
  const std::string body = body_of(message);
  for (size_t at = 0; at < body.size(); at += kLine) text += base64(body.substr(at, kLine)) + kEnd;
  return text;
}

void Mail::send(const Message &message, const std::atomic<bool> &is_cancelled) {
  const std::string text = mail_of(message, settings_);
  Reading reading = {text, 0};
  StringList recipients;
  for (const std::string &address : settings_.to) recipients.add("<" + address + ">");
  const std::string sender = "<" + settings_.from + ">";
  Transfer transfer(settings_.server, "smtp,smtps", settings_.ca_file);
  transfer.set(CURLOPT_USE_SSL,
               static_cast<long>(settings_.starttls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
  if (settings_.credentials) {
    transfer.set(CURLOPT_USERNAME, settings_.credentials->user.c_str());
    transfer.set(CURLOPT_PASSWORD, settings_.credentials->password.c_str());
  }
  transfer.set(CURLOPT_MAIL_FROM, sender.c_str());
  transfer.set(CURLOPT_MAIL_RCPT, recipients.get());
  transfer.set(CURLOPT_UPLOAD, 1L);
  transfer.set(CURLOPT_READFUNCTION, read_more);
  transfer.set(CURLOPT_READDATA, &reading);
  transfer.perform(is_cancelled);
}

}  // namespace luminance
