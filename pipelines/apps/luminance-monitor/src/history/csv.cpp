// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/csv.h"

#include <glib.h>

#include <algorithm>
#include <charconv>

#include "history/columns.h"

namespace luminance {
namespace {

/// Returns a cell for a text from outside. An apostrophe marks texts that begin like a formula,
/// which a spreadsheet would otherwise evaluate.
std::string cell_of(const std::string &text) {
  g_autofree char *valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  std::string cell = valid;
  if (cell.find_first_of("=+-@\t\r") == 0) cell.insert(0, "'");
  if (cell.find_first_of("\",\r\n") == std::string::npos) return cell;
  for (size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2)
    cell.insert(at, "\"");
  return '"' + cell + '"';
}

/// Returns the shortest text that is read as the same number; empty for NaN.
std::string cell_of(double number) {
  if (std::isnan(number)) return {};
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

}  // namespace

const char *const kCsvHeader =
    "time,duration,camera,name,frames,mean,min_mean,max_mean,stddev,p1,median,p99,"
    "clipped_low,clipped_high,verdicts\r\n";

const char *const kIncidentCsvHeader =
    "id,camera,name,verdict,title,begin,end,duration,reason,value,threshold,quantity,side,"
    "acknowledged,acknowledged_by,comment,maintenance\r\n";

std::string csv_time(int64_t time) {
  const int64_t second = begin_of(time, 1000);
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(second / 1000);
  if (date == nullptr) return {};
  g_autofree gchar *text = g_date_time_format(date, "%Y-%m-%dT%H:%M:%S");
  const std::string milliseconds = std::to_string(1000 + time - second);
  return std::string(text) + '.' + milliseconds.substr(1) + 'Z';
}

std::string csv_line(const std::string &id, const std::string &name, const std::string &time,
                     const Row &row) {
  std::string line = time + ',' + cell_of(row.duration) + ',' + cell_of(id) + ',' + cell_of(name) +
                     ',' + std::to_string(row.frames);
  for (const double number : {row.mean, row.min_mean, row.max_mean, row.stddev, row.p1, row.median,
                              row.p99, row.clipped_low, row.clipped_high})
    line += ',' + cell_of(number);
  return line + ',' + text_of(row.verdicts) + "\r\n";
}

std::string csv_line(const KeptIncident &incident, int64_t now) {
  const int64_t end = incident.is_open() ? std::max(incident.until, now) : incident.until;
  const double duration = static_cast<double>(end - incident.since) / 1000;
  std::string line = std::to_string(incident.number);
  for (const std::string &cell :
       {cell_of(incident.camera), cell_of(incident.name), std::string(name_of(incident.verdict)),
        std::string(title_of(incident.verdict)), csv_time(incident.since),
        incident.is_open() ? std::string() : csv_time(incident.until), cell_of(duration),
        cell_of(incident.reason), cell_of(incident.value), cell_of(incident.threshold),
        cell_of(std::string(quantity_of(incident.verdict))), std::string(side_of(incident.verdict)),
        incident.acknowledged ? csv_time(*incident.acknowledged) : std::string(),
        cell_of(incident.acknowledged_by), cell_of(incident.comment),
        std::string(incident.is_in_maintenance ? "yes" : "no")})
    line += ',' + cell;
  return line + "\r\n";
}

}  // namespace luminance
