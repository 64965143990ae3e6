// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/references.h"

#include <optional>
#include <string>

namespace luminance {
namespace {

// A picture that is taken later may show something other than the reference.
constexpr Time kTaken = 600 * kSecond;

}  // namespace

void References::note(const Camera &camera) {
  const std::optional<Time> learned = camera.scene_learned();
  if (!learned || camera.reference_picture() != nullptr) return;
  if (monitor_.clock().now() - *learned > kTaken || !asked_->insert(&camera).second) return;
  const size_t number = monitor_.number_of(camera);
  const auto done = [&monitor = monitor_, asked = std::weak_ptr(asked_), camera = &camera, number,
                     learned = *learned](GBytes *jpeg) {
    if (const std::shared_ptr<Asked> all = asked.lock()) all->erase(camera);
    if (jpeg == nullptr) return;
    gsize size = 0;
    const auto *bytes = static_cast<const char *>(g_bytes_get_data(jpeg, &size));
    monitor.keep_reference_picture(number, learned,
                                   std::make_shared<const std::string>(bytes, size));
  };
  stills_.still(number, done);
}

}  // namespace luminance
