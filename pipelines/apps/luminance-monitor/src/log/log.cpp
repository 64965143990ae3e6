// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log/log.h"

#include <glib.h>

#include <cstdint>
#include <cstdio>
#include <optional>

namespace luminance {
namespace {

/// `wall`: milliseconds since 1970.
std::string text_of(int64_t wall) {
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(wall / 1000);
  g_autofree gchar *text = date != nullptr ? g_date_time_format_iso8601(date) : nullptr;
  return text != nullptr ? text : "?";
}

}  // namespace

std::string on_one_line(const std::string &text) {
  g_autofree gchar *valid = g_utf8_make_valid(text.c_str(), static_cast<gssize>(text.size()));
  std::string line;
  for (const gchar *at = valid; *at != '\0'; at = g_utf8_next_char(at))
    if (g_unichar_iscntrl(g_utf8_get_char(at)))
      line += ' ';
    else
      line.append(at, static_cast<const gchar *>(g_utf8_next_char(at)));
  return line;
}

void log_line(const std::string &text) {
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  g_autofree gchar *time = g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
  std::printf("%s %s\n", time, on_one_line(text).c_str());
  std::fflush(stdout);
}

void Log::on_change(const Camera &camera, const Change &change) {
  const std::string title(title_of(change.verdict)), what(quantity_of(change.verdict));
  g_autofree gchar *value = g_strdup_printf("%s: %.4g", what.c_str(), change.value);
  std::string text = title + (change.raised ? " since " : " cleared at ") +
                     text_of(clock_.wall(change.time)) + " (" + value;
  if (change.cause != Cause::kValue) text += ", " + std::string(phrase_of(change.cause));
  if (change.threshold) {
    const bool is_above = is_bad_above(change.verdict) == change.raised;
    g_autofree gchar *limit = g_strdup_printf("%.4g", *change.threshold);
    text += (is_above ? ", above " : ", below ") + std::string(limit);
  }
  print(camera, text + ")");
}

void Log::on_status(const Camera &camera) {
  std::string text(name_of(camera.status()));
  if (!camera.error().empty()) text += ": " + camera.error();
  print(camera, text);
}

void Log::on_maintenance(const Camera &camera) {
  const std::optional<Maintenance> &maintenance = camera.maintenance();
  if (!maintenance) return print(camera, "maintenance is over");
  std::string text = "maintenance since " + text_of(maintenance->since);
  if (maintenance->until) text += " until " + text_of(*maintenance->until);
  if (!maintenance->comment.empty()) text += ": " + maintenance->comment;
  print(camera, text);
}

void Log::print(const Camera &camera, const std::string &text) const {
  std::printf("%s %s: %s\n", text_of(clock_.wall(clock_.now())).c_str(), camera.id().c_str(),
              on_one_line(text).c_str());
  std::fflush(stdout);
}

}  // namespace luminance
