// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/references.h"

namespace luminance {

void References::note(const Camera &camera) {
  const std::optional<Time> learned = camera.scene_learned();
  if (!learned || camera.reference_picture() != nullptr) return;
  const auto [asked, is_new] = asked_.try_emplace(&camera, *learned);
  if (!is_new && asked->second == *learned) return;
  asked->second = *learned;
  const size_t number = monitor_.number_of(camera);
  stills_.still(number, [&monitor = monitor_, number, learned = *learned](GBytes *jpeg) {
    if (jpeg == nullptr) return;
    gsize size = 0;
    const auto *bytes = static_cast<const char *>(g_bytes_get_data(jpeg, &size));
    monitor.keep_reference_picture(number, learned,
                                   std::make_shared<const std::string>(bytes, size));
  });
}

}  // namespace luminance
