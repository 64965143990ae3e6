// SPDX-License-Identifier: LGPL-2.1-or-later
// Where redirects and control addresses of a camera may lead.
#include <gtest/gtest.h>

#include "capture/uri.h"

namespace luminance {
namespace {

CameraSettings camera_at(const std::string &uri, std::vector<std::string> hosts = {}) {
  CameraSettings camera;
  camera.uri = uri;
  camera.redirect_hosts = std::move(hosts);
  return camera;
}

Redirect lead(const CameraSettings &camera, const std::string &location) {
  return redirect_of(camera, camera.uri, location);
}

TEST(Redirects, StayAtTheCamera) {
  const CameraSettings http = camera_at("http://Camera:8080/live?a");
  for (const auto &[location, uri] : std::vector<std::pair<std::string, std::string>>{
           {"/other?b", "http://Camera:8080/other?b"},
           {"next", "http://Camera:8080/next"},
           {"//camera:8080/x", "http://camera:8080/x"},
           {"http://CAMERA:8080/x", "http://CAMERA:8080/x"},
           {"https://camera:8080/x", "https://camera:8080/x"},
           {"https://camera/x", "https://camera/x"}}) {
    const Redirect redirect = lead(http, location);
    EXPECT_EQ(redirect.uri, uri) << redirect.refusal;
    EXPECT_TRUE(redirect.to_the_camera);
  }
  EXPECT_EQ(lead(camera_at("rtspt://[::1]/a"), "rtsp://[::1]:554/b").uri, "rtspt://[::1]:554/b");
  EXPECT_EQ(lead(camera_at("rtsp://a/"), "rtsps://a/b").uri, "rtsps://a/b");
}

TEST(Redirects, LeadNowhereElse) {
  const CameraSettings http = camera_at("http://camera/live");
  for (const char *location :
       {"http://camera:81/x", "https://camera:8443/x", "http://other/x", "http://camera.other/x",
        "http://camera@other/x", "http://127.0.0.1/x", "//other/x", "file:///etc/hostname",
        "rtsp://camera/x", "ftp://camera/x", "data:text/plain,x", "http:///x", "http://[::1/x"}) {
    const Redirect redirect = lead(http, location);
    EXPECT_EQ(redirect.uri, "") << location;
    EXPECT_NE(redirect.refusal, "") << location;
    EXPECT_EQ(redirect.refusal.find("/x"), std::string::npos) << redirect.refusal;
  }
  EXPECT_EQ(lead(camera_at("https://camera/"), "http://camera/").uri, "");
  EXPECT_EQ(lead(camera_at("rtsp://camera/"), "rtsp-sdp://camera/").uri, "");
}

TEST(Redirects, LeadToTheHostsThatTheUserNamed) {
  const CameraSettings camera = camera_at("http://camera/", {"Relay", "10.0.0.7:81", "[::1]:82"});
  for (const char *location :
       {"http://relay/x", "https://relay:9/x", "http://10.0.0.7:81/x", "http://[::1]:82/x"}) {
    const Redirect redirect = lead(camera, location);
    EXPECT_EQ(redirect.uri, location) << redirect.refusal;
    EXPECT_FALSE(redirect.to_the_camera) << "it would get the camera's password";
  }
  for (const char *location : {"http://10.0.0.7/x", "http://[::1]/x", "rtsp://relay/x"})
    EXPECT_EQ(lead(camera, location).uri, "") << location;
}

TEST(Redirects, ControlAddressesKeepTheirHost) {
  const std::string own = "rtsp://camera:8554/live";
  EXPECT_EQ(at_host_of("rtsp://other/a?b", own), "rtsp://camera:8554/a?b");
  EXPECT_EQ(at_host_of("rtsp://camera:8554/a/", own), "rtsp://camera:8554/a/");
  EXPECT_EQ(at_host_of("trackID=1", own), "trackID=1");
  EXPECT_EQ(at_host_of("*", own), "*");
}

}  // namespace
}  // namespace luminance
