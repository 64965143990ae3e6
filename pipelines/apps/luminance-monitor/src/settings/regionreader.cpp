// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/regionreader.h"

#include <cmath>

#include "settings/limits.h"

namespace luminance {
namespace {

using nlohmann::json;

constexpr double kRounded = 1e-9;  // tolerance for the sum of two shares

/// Reads an area. Throws SettingsError unless it lies in the picture, from 0 to 1.
Area area_of(const Table &table, const std::string &key, const json &value) {
  double numbers[4];
  bool is_area = value.is_array() && value.size() == 4;
  for (size_t i = 0; is_area && i < 4; ++i) {
    is_area = value[i].is_number();
    if (is_area) numbers[i] = value[i].get<double>();
    if (is_area && !std::isfinite(numbers[i])) table.fail(key, "has a value that is not finite");
  }
  if (!is_area) table.fail(key, "is not a list of four numbers: x, y, width and height");
  const auto [x, y, width, height] = numbers;
  if (!(width >= kMinArea && height >= kMinArea))
    table.fail(key, "is empty: width and height must be at least " + std::to_string(kMinArea));
  if (x < 0 || y < 0 || x + width > 1 + kRounded || y + height > 1 + kRounded)
    table.fail(key,
               "lies outside the picture: x, y, width and height are shares of it, from 0 to 1");
  return {x, y, width, height};
}

}  // namespace

Region read_region(Table &camera) {
  Region region;
  if (const json *value = camera.find("region")) region.area = area_of(camera, "region", *value);
  if (const json *masks = camera.find("masks")) {
    if (!masks->is_array()) camera.fail("masks", "is not a list");
    if (masks->size() > kMaxMasks)
      camera.fail("masks", "has more than " + std::to_string(kMaxMasks) + " masks");
    for (size_t i = 0; i < masks->size(); ++i)
      region.masks.push_back(area_of(camera, "masks[" + std::to_string(i) + "]", (*masks)[i]));
  }
  if (cutout_of(region).frame.is_empty())
    camera.fail("masks", region.area ? "cover all of the region" : "cover all of the picture");
  return region;
}

}  // namespace luminance
