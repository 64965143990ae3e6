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
  std::string source;                          // seen_by() the camera when it was learned
  int64_t learned = 0;                         // in milliseconds since 1970
  std::vector<Scene> scenes;                   // empty: there is none any more
  std::shared_ptr<const std::string> picture;  // a JPEG, or null
};

/// What a reference is of: of another video, or another region of it, it is another one.
std::string seen_by(const CameraSettings &camera);

/// Scenes as bytes, in the byte order of the machine.
std::string bytes_of(const std::vector<Scene> &scenes);
/// Nothing if the bytes are not those of scenes which can be recognized, as in a damaged file.
std::optional<std::vector<Scene>> scenes_of(std::string_view bytes);

class ReferenceTable {
 public:
  explicit ReferenceTable(Database &database);

  /// Of the camera with this id, which is in the file.
  void write(const std::string &camera, const StoredReference &reference);
  /// Nothing, and a line in the log, if it is damaged.
  std::optional<StoredReference> read(const std::string &camera);

 private:
  Database &database_;
  Statement put_, remove_, find_;
};

}  // namespace luminance
