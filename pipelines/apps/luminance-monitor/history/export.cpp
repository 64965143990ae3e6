// SPDX-License-Identifier: LGPL-2.1-or-later
#include <glib.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <ostream>

#include "store.h"

namespace luminance {
namespace {

constexpr int kPatience = 5000;  // milliseconds, for a monitor that is just beginning

// Read at once: who takes the CSV slowly does not keep the write-ahead log from being shortened.
constexpr int64_t kChunk = 1000;

constexpr char kHeader[] =
    "time,duration,camera,name,frames,mean,least_mean,greatest_mean,stddev,p1,median,p99,"
    "clipped_low,clipped_high,verdicts\r\n";

constexpr char kSelect[] =
    "SELECT id, name, strftime('%Y-%m-%dT%H:%M:%fZ', time / 1000.0, 'unixepoch'), interval.* "
    "FROM interval CROSS JOIN camera ON number = camera WHERE (camera, time) > (?1, ?2) "
    "ORDER BY camera, time LIMIT ?3";

/// A text from outside. A spreadsheet takes what begins like a formula for one.
std::string cell_of(const std::string &text) {
  g_autofree char *valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  std::string cell = valid;
  if (cell.find_first_of("=+-@\t\r") == 0) cell.insert(0, "'");
  if (cell.find_first_of("\",\r\n") == std::string::npos) return cell;
  for (size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2)
    cell.insert(at, "\"");
  return '"' + cell + '"';
}

/// The shortest number that is read as this one; nothing where it is NaN.
std::string cell_of(double number) {
  if (std::isnan(number)) return {};
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

std::string line_of(const Results &results) {
  const Row row = row_of(results, 4);
  std::string line = results.text(2) + ',' + cell_of(row.duration) + ',' +
                     cell_of(results.text(0)) + ',' + cell_of(results.text(1)) + ',' +
                     std::to_string(row.frames);
  for (const double number : {row.mean, row.least_mean, row.greatest_mean, row.stddev, row.p1,
                              row.median, row.p99, row.clipped_low, row.clipped_high})
    line += ',' + cell_of(number);
  return line + ',' + text_of(row.verdicts) + "\r\n";
}

}  // namespace

void export_csv(const std::string &file, std::ostream &out) {
  Database database(file, Database::Access::kRead);
  database.set_patience(kPatience);
  check_schema(database);
  Statement select(database, kSelect);
  std::string text = kHeader;
  for (int64_t camera = 0, time = 0; !text.empty();) {
    if (!(out << text)) database.fail(std::string("as CSV: ") + std::strerror(errno));
    text.clear();
    Results lines = select.with(camera, time, kChunk);
    while (lines.next()) {
      camera = lines.integer(3), time = lines.integer(4);
      text += line_of(lines);
    }
  }
  if (!out.flush()) database.fail(std::string("as CSV: ") + std::strerror(errno));
}

}  // namespace luminance
