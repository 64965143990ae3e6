// SPDX-License-Identifier: LGPL-2.1-or-later
// The last value that a setting accepts, and the first that it refuses.
#include "settings/limits.h"

#include <gtest/gtest.h>

#include "settings/reader.h"

namespace luminance {
namespace {

using nlohmann::json;

/// Returns the error of settings that must be refused.
std::string error_of(const json &config) {
  Settings settings;
  try {
    read_settings(config, "/tmp", settings);
  } catch (const SettingsError &error) {
    return error.what();
  }
  ADD_FAILURE() << config << " is taken";
  return "";
}

TEST(Limits, PortsEndAt65535) {
  WebSettings web;
  read_address("127.0.0.1:65535", web);
  EXPECT_EQ(web.port, 65535);
  EXPECT_THROW(read_address("127.0.0.1:65536", web), SettingsError);
}

TEST(Limits, CamerasAreLimited) {
  Settings settings;
  CameraSettings camera;
  for (size_t i = 0; i < kMaxCameras; ++i) {
    camera.name = std::to_string(i);
    add_camera(camera, settings);
  }
  camera.name = "one more";
  EXPECT_THROW(add_camera(camera, settings), SettingsError);
}

TEST(Limits, TextsWithZerosAreRefused) {
  const std::string name("front\0door", 10);
  EXPECT_NE(error_of({{"cameras", {{{"uri", "rtsp://h/"}, {"name", name}}}}}).find("NUL"),
            std::string::npos);
}

TEST(Limits, CredentialsInTwoPlacesAreRefused) {
  const json camera = {{"uri", "rtsp://u:p@h/"}, {"user", "v"}, {"password", "q"}};
  EXPECT_NE(error_of({{"cameras", {camera}}}).find("user"), std::string::npos);
}

}  // namespace
}  // namespace luminance
