// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/transformersfile.h"

#include "gst/modelconfig/transformerskeys.h"

namespace cudatensor::modelconfig {
namespace {

const char *const kTypes[] = {"image_processor_type", "feature_extractor_type",
                              "video_processor_type"};

}  // namespace

ProcessorFile::ProcessorFile(const Node &file) : file_(file) {
  for (const char *key : kTypes) {
    const Node type = file.at(key);
    if (!type.is_present()) continue;
    name_ = type.text();
    known_ = find_image_processor(name_);
    if (known_ != nullptr) return;
    const std::string reason = refusal_of_class(name_);
    type.refuse(reason.empty() ? "is not among the classes that were compared with Transformers"
                               : reason);
  }
}

bool ProcessorFile::is_null(const char *key) const {
  const Value::Map *members = file_.map();
  if (members == nullptr) return false;
  const auto found = members->find(key);
  return found != members->end() && std::holds_alternative<std::monostate>(found->second.data);
}

bool ProcessorFile::does(const char *key, bool fallback, bool possible) const {
  const bool wanted = flag(key, fallback);
  if (wanted && !possible) file_.at(key).refuse(name_ + " has no such step");
  return wanted;
}

/// Refuses a key that may change the tensor and that no property supports. A class ignores keys that
/// it does not know; without a known class, a key that some class reads is refused.
void ProcessorFile::check_key(const std::string &key, const Value &value) const {
  const Node node = file_.at(key.c_str());
  const bool *flag = std::get_if<bool>(&value.data);
  const bool off = !node.is_present() || (flag != nullptr && !*flag);
  const bool divides_by_one =
      key.rfind("size_divis", 0) == 0 && node.is_number() && node.number() == 1.0;
  if (off || divides_by_one) return;
  const bool counts = known_ != nullptr ? has_word(known_->others, key) : is_key_of_some_class(key);
  if (counts || (!is_read(key) && key.rfind("do_", 0) == 0)) node.refuse("no property does this");
}

void ProcessorFile::check_keys() const {
  if (!file_.is_map()) return;
  for (const auto &[key, value] : *file_.map()) {
    const bool special = known_ != nullptr && has_word(known_->others, key);
    const bool harmless = is_read(key) || is_bookkeeping(key);
    if (special || !harmless) check_key(key, value);
  }
}

const ImageProcessor &ProcessorFile::defaults(const Node &absent) const {
  if (known_ != nullptr) return *known_;
  absent.refuse(name_.empty() ? "it has no default, because the file names no image_processor_type"
                              : "the defaults of " + name_ + " are not known");
}

}  // namespace cudatensor::modelconfig
