// SPDX-License-Identifier: LGPL-2.1-or-later
#include "exposition.h"

#include <glib.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace luminance {
namespace {

/// Returns whether the text is a valid name. Names of metrics may have colons, those of labels not.
bool is_name(const std::string &text, bool with_colons) {
  const auto may_be = [&](char c) {
    return g_ascii_isalnum(c) || c == '_' || (with_colons && c == ':');
  };
  return !text.empty() && !g_ascii_isdigit(text[0]) &&
         std::all_of(text.begin(), text.end(), may_be);
}

/// Reads one line from left to right.
class Reader {
 public:
  explicit Reader(const std::string &line) : line_(line) {}

  bool next_is(char c) const { return at_ < line_.size() && line_[at_] == c; }
  void expect(char c) {
    if (!next_is(c)) fail(std::string("no ") + c);
    ++at_;
  }
  std::string name(const char *end, bool with_colons) {
    const size_t begin = at_;
    at_ = std::min(line_.find_first_of(end, at_), line_.size());
    const std::string found = line_.substr(begin, at_ - begin);
    if (!is_name(found, with_colons)) fail("a bad name");
    return found;
  }
  std::string quoted();
  double number();  // the rest of the line
  [[noreturn]] void fail(const std::string &what) const {
    throw ExpositionError(what + " in: " + line_);
  }

 private:
  char escaped();

  const std::string &line_;
  size_t at_ = 0;
};

char Reader::escaped() {
  expect('\\');
  for (const auto &[code, meaning] : {std::pair('n', '\n'), {'\\', '\\'}, {'"', '"'}})
    if (next_is(code)) return ++at_, meaning;
  fail("a bad escape");
}

std::string Reader::quoted() {
  std::string text;
  expect('"');
  while (!next_is('"')) {
    if (at_ == line_.size()) fail("an open quote");
    text += next_is('\\') ? escaped() : line_[at_++];
  }
  expect('"');
  return text;
}

double Reader::number() {
  char *end = nullptr;
  const char *begin = line_.c_str() + at_;
  const double value = std::strtod(begin, &end);
  if (end == begin || *end != '\0') fail("a bad number");
  return value;
}

/// Returns whether a sample with this name belongs to the family.
bool belongs(const std::string &name, const std::string &family, const std::string &type) {
  if (type != "histogram") return name == family;
  return name == family + "_bucket" || name == family + "_sum" || name == family + "_count";
}

}  // namespace

Exposition::Exposition(const std::string &text) {
  if (!g_utf8_validate(text.data(), static_cast<gssize>(text.size()), nullptr))
    throw ExpositionError("no UTF-8");
  if (text.empty() || text.back() != '\n') throw ExpositionError("no newline at the end");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# ", 0) == 0)
      read_comment(line);
    else
      read_sample(line);
  }
}

void Exposition::read_comment(const std::string &line) {
  std::istringstream words(line);
  std::string hash, kind, name, rest;
  words >> hash >> kind >> name;
  std::getline(words >> std::ws, rest);
  if (kind == "HELP") {
    if (!families_.emplace(name, ExposedFamily{{}, rest, {}}).second)
      throw ExpositionError("twice: " + line);
    current_ = name;
  } else if (kind != "TYPE" || name != current_ || !families_[name].series.empty()) {
    throw ExpositionError("out of place: " + line);
  } else {
    families_[name].type = rest;
  }
}

void Exposition::read_sample(const std::string &line) {
  Reader reader(line);
  const std::string name = reader.name("{ ", true);
  if (!belongs(name, current_, families_[current_].type)) reader.fail("another family");
  LabelSet labels;
  for (char before = '{'; reader.next_is(before); before = ',') {
    reader.expect(before);
    const std::string label = reader.name("=", false);
    reader.expect('=');
    if (!labels.emplace(label, reader.quoted()).second) reader.fail("a label twice");
  }
  if (!labels.empty()) reader.expect('}');
  reader.expect(' ');
  if (!families_[current_].series[name].emplace(labels, reader.number()).second)
    reader.fail("a series twice");
}

double Exposition::value(const std::string &name, const LabelSet &labels) const {
  return sample(name, name, labels);
}

bool Exposition::has(const std::string &name, const LabelSet &labels) const {
  const auto family = families_.find(name);
  if (family == families_.end()) return false;
  const auto series = family->second.series.find(name);
  return series != family->second.series.end() && series->second.count(labels) > 0;
}

size_t Exposition::count(const std::string &name) const {
  const auto family = families_.find(name);
  if (family == families_.end()) return 0;
  const auto series = family->second.series.find(name);
  return series == family->second.series.end() ? 0 : series->second.size();
}

double Exposition::sample(const std::string &family, const std::string &name,
                          const LabelSet &labels) const {
  return families_.at(family).series.at(name).at(labels);
}

}  // namespace luminance
