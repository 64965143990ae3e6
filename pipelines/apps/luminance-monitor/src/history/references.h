// SPDX-License-Identifier: LGPL-2.1-or-later
// The references of cameras in the file of a history.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/database.h"
#include "settings/settings.h"
#include "watch/scene.h"

namespace luminance {

struct StoredReference {
  std::string source;                          // seen_by() of the camera when it was learned
  int64_t learned = 0;                         // in milliseconds since 1970
  std::vector<Scene> scenes;                   // empty: there is no reference any more
  std::shared_ptr<const std::string> picture;  // a JPEG, or null
};

/// Returns a text that identifies the camera's video and its region. A reference is valid only for
/// the text that it was learned with.
std::string seen_by(const CameraSettings &camera);

/// Returns scenes as bytes, in the byte order of the machine.
std::string bytes_of(const std::vector<Scene> &scenes);
/// Returns the scenes in `bytes`; nothing if these are not scenes that can be recognized, as in a
/// damaged file.
std::optional<std::vector<Scene>> scenes_of(std::string_view bytes);

class ReferenceTable {
 public:
  explicit ReferenceTable(Database &database);

  /// Writes the reference of the camera with this id, which must be in the file. Deletes it if
  /// `reference` has no scenes.
  void write(const std::string &camera, const StoredReference &reference);
  /// Returns the reference of the camera; nothing if there is none. If it is damaged, logs that and
  /// returns nothing.
  std::optional<StoredReference> read(const std::string &camera);

 private:
  Database &database_;
  Statement put_, remove_, find_;
};

}  // namespace luminance
