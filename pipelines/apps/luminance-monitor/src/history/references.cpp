// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/references.h"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "history/damage.h"
#include "history/row.h"
#include "watch/scenery.h"

namespace luminance {
namespace {

// Number of the format, which precedes the scenes. It must change with the format. A file in
// another byte order has a different number.
constexpr uint32_t kFormat = 0x53434e01;

class Writer {
 public:
  template <class Value>
  void add(const Value &value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Parser {
 public:
  explicit Parser(std::string_view bytes) : rest_(bytes) {}

  /// Reads a value. Returns false if there are too few bytes for it.
  template <class Value>
  bool get(Value &value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return true;
  }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace

std::string seen_by(const CameraSettings &camera) {
  const std::string region = text_of(camera.region);
  return region.empty() ? camera.source : camera.source + " " + region;
}

std::string bytes_of(const std::vector<Scene> &scenes) {
  Writer writer;
  writer.add(kFormat);
  writer.add(static_cast<uint32_t>(scenes.size()));
  for (const Scene &scene : scenes) {
    writer.add(scene.edges.x);
    writer.add(scene.edges.y);
    writer.add(scene.lumas);
    writer.add(scene.fineness);
    writer.add(scene.likeness);
  }
  return writer.take();
}

std::optional<std::vector<Scene>> scenes_of(std::string_view bytes) {
  Parser parser(bytes);
  uint32_t format = 0, count = 0;
  if (!parser.get(format) || format != kFormat || !parser.get(count) || count == 0 ||
      count > Scenery::kLights)
    return {};
  std::vector<Scene> scenes(count);
  for (Scene &scene : scenes) {
    if (!parser.get(scene.edges.x) || !parser.get(scene.edges.y) || !parser.get(scene.lumas) ||
        !parser.get(scene.fineness) || !parser.get(scene.likeness))
      return {};
    measure_energy(scene.edges);
    if (!scene.is_sound()) return {};
  }
  if (!parser.is_at_end()) return {};
  return scenes;
}

ReferenceTable::ReferenceTable(Database &database)
    : database_(database),
      put_(database,
           "INSERT OR REPLACE INTO reference (camera, source, learned, scenes, picture) "
           "VALUES ((SELECT number FROM camera WHERE id = ?1), ?2, ?3, ?4, ?5)"),
      remove_(database,
              "DELETE FROM reference WHERE camera = (SELECT number FROM camera WHERE id = ?1)"),
      find_(database,
            "SELECT source, learned, scenes, picture FROM reference "
            "WHERE camera = (SELECT number FROM camera WHERE id = ?1)") {}

void ReferenceTable::write(const std::string &camera, const StoredReference &reference) {
  if (reference.scenes.empty()) return remove_.run(camera);
  const std::string scenes = bytes_of(reference.scenes);
  const std::string_view picture =
      reference.picture != nullptr ? std::string_view(*reference.picture) : std::string_view();
  put_.run(camera, reference.source, reference.learned, Blob{scenes}, Blob{picture});
}

std::optional<StoredReference> ReferenceTable::read(const std::string &camera) {
  Results found = find_.with(camera);
  if (!found.next()) return {};
  const std::optional<std::vector<Scene>> scenes = scenes_of(found.blob(2));
  const int64_t learned = found.integer(1);
  if (!scenes || learned < kEarliest || learned > kLatest) {
    log_once(database_.text_of("the reference of camera " + camera +
                               " is damaged; it is learned again"));
    return {};
  }
  StoredReference reference = {found.text(0), learned, *scenes, nullptr};
  std::string picture = found.blob(3);
  if (!picture.empty()) reference.picture = std::make_shared<const std::string>(std::move(picture));
  return reference;
}

}  // namespace luminance
