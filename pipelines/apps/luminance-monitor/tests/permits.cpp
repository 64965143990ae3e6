// SPDX-License-Identifier: LGPL-2.1-or-later
// A password or token that is not set permits no access.
#include <gtest/gtest.h>

#include "web/access.h"

namespace luminance {
namespace {

bool permits(const WebSettings &settings, const std::string &authorization) {
  return Access(settings).permits(authorization);
}

TEST(Access, RefusesEmptyTokensIfAPasswordIsSet) {
  WebSettings settings;
  settings.basic = Credentials{"u", "p"};
  EXPECT_TRUE(permits(settings, "Basic dTpw"));
  for (const char *wrong : {"Bearer ", "Bearer", "Bearer  ", "Basic ", "Basic", ""})
    EXPECT_FALSE(permits(settings, wrong)) << wrong;
}

TEST(Access, RefusesEmptyPasswordsIfATokenIsSet) {
  WebSettings settings;
  settings.token = "t";
  EXPECT_TRUE(permits(settings, "Bearer t"));
  for (const char *wrong : {"Basic ", "Basic Og==", "Bearer ", "Bearer", ""})
    EXPECT_FALSE(permits(settings, wrong)) << wrong;
}

}  // namespace
}  // namespace luminance
