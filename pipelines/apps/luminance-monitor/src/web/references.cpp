// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/references.h"

namespace luminance {

GBytes *References::picture(const Camera &camera) const {
  const auto found = pictures_->find(&camera);
  return found != pictures_->end() ? found->second.jpeg.get() : nullptr;
}

void References::note(const Camera &camera) {
  const std::optional<Time> learned = camera.scene_learned();
  if (!learned) return remove(camera);
  const auto known = pictures_->find(&camera);
  if (known != pictures_->end() && known->second.learned == *learned) return;
  (*pictures_)[&camera] = {*learned, nullptr};
  // It may be gone, and the camera may have another one, when the picture has been made.
  const auto done = [pictures = std::weak_ptr(pictures_), camera = &camera,
                     learned = *learned](GBytes *jpeg) {
    const std::shared_ptr<Pictures> all = pictures.lock();
    if (all == nullptr || jpeg == nullptr) return;
    const auto found = all->find(camera);
    if (found == all->end() || found->second.learned != learned) return;
    found->second.jpeg = std::shared_ptr<GBytes>(g_bytes_ref(jpeg), g_bytes_unref);
  };
  stills_.still(monitor_.number_of(camera), done);
}

}  // namespace luminance
