// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads Prometheus' text format, and rejects what its specification does not allow.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

namespace luminance {

struct ExpositionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using LabelSet = std::map<std::string, std::string>;

struct ExposedFamily {
  std::string type, help;
  std::map<std::string, std::map<LabelSet, double>> series;  // by the sample's name
};

class Exposition {
 public:
  /// Throws ExpositionError, which quotes the wrong line.
  explicit Exposition(const std::string &text);

  const std::map<std::string, ExposedFamily> &families() const { return families_; }
  /// Returns the value of a gauge or counter; throws std::out_of_range if there is none.
  double value(const std::string &name, const LabelSet &labels = {}) const;
  bool has(const std::string &name, const LabelSet &labels = {}) const;
  size_t count(const std::string &name) const;  // number of series
  /// Returns the value of a sample whose name differs from the family's, as in a histogram.
  double sample(const std::string &family, const std::string &name, const LabelSet &labels) const;

 private:
  void read_comment(const std::string &line);
  void read_sample(const std::string &line);

  std::map<std::string, ExposedFamily> families_;
  std::string current_;
};

}  // namespace luminance
