// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/columns.h"

#include <algorithm>
#include <string_view>

namespace luminance {
namespace {

/// Returns the verdicts in `text` that this program knows, each once.
std::vector<Verdict> verdicts_of(std::string_view text) {
  std::vector<Verdict> verdicts;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(' '));
    if (const auto verdict = verdict_named(name)) verdicts.push_back(*verdict);
    text.remove_prefix(std::min(name.size() + 1, text.size()));
  }
  std::sort(verdicts.begin(), verdicts.end());
  verdicts.erase(std::unique(verdicts.begin(), verdicts.end()), verdicts.end());
  return verdicts;
}

}  // namespace

std::string text_of(const std::vector<Verdict> &verdicts) {
  std::string text;
  for (const Verdict verdict : verdicts) {
    if (!text.empty()) text += ' ';
    text += name_of(verdict);
  }
  return text;
}

Row row_of(const Results &results, int first) {
  const auto real = [&](int column) { return results.real(first + column); };
  return {results.integer(first),
          real(1),
          static_cast<uint64_t>(results.integer(first + 2)),
          real(3),
          real(4),
          real(5),
          real(6),
          real(7),
          real(8),
          real(9),
          real(10),
          real(11),
          verdicts_of(results.text(first + 12))};
}

}  // namespace luminance
