// SPDX-License-Identifier: LGPL-2.1-or-later
// How answers to a probe are read and listed.
#include "discovery/probe.h"

#include <glib.h>
#include <gtest/gtest.h>

#include <iterator>
#include <random>

#include "discovery/listing.h"
#include "seed.h"

namespace luminance {
namespace {

const std::string kId = "urn:uuid:1-2-3";

std::string answer(const std::string &match, const std::string &id = kId) {
  return R"(<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" )"
         R"(xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" )"
         R"(xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery"><s:Header><a:RelatesTo>)" +
         id + "</a:RelatesTo></s:Header><s:Body><d:ProbeMatches><d:ProbeMatch>" + match +
         "</d:ProbeMatch></d:ProbeMatches></s:Body></s:Envelope>";
}

const std::string kCamera =
    "<a:EndpointReference><a:Address>urn:uuid:door</a:Address></a:EndpointReference>"
    "<d:Types>dn:NetworkVideoTransmitter tds:Device</d:Types>"
    "<d:Scopes>ONVIF://www.ONVIF.org/Name/The%20%22door%22 onvif://www.onvif.org/hardware/H%C3%A41 "
    "onvif://www.onvif.org/name/another</d:Scopes>"
    "<d:XAddrs>http://10.0.0.5/a https://[fd00::5]:8443/b</d:XAddrs>";

TEST(Probe, AnswersAreRead) {
  const std::vector<OnvifDevice> devices = devices_in(answer(kCamera), kId);
  ASSERT_EQ(devices.size(), 1u);
  const OnvifDevice &device = devices[0];
  EXPECT_EQ(device.endpoint, "urn:uuid:door");
  EXPECT_EQ(device.name, "The \"door\"");
  EXPECT_EQ(device.hardware, "H\u00e41");
  EXPECT_EQ(device.addresses,
            (std::vector<std::string>{"http://10.0.0.5/a", "https://[fd00::5]:8443/b"}));
  EXPECT_EQ(listing_of(devices).substr(0, 17), "# The \"door\" (H\u00e4");
  EXPECT_NE(
      listing_of(devices).find("name = \"The \\\"door\\\"\"\n# uri = \"rtsp://10.0.0.5/PATH\""),
      std::string::npos)
      << listing_of(devices);
}

TEST(Probe, OnlyItsAnswersCount) {
  const std::string whole = answer(kCamera);
  EXPECT_TRUE(devices_in(answer(kCamera, "urn:uuid:other"), kId).empty());
  EXPECT_TRUE(devices_in(answer(kCamera, ""), kId).empty());
  EXPECT_TRUE(devices_in(answer("<d:Types>wsdp:Device</d:Types>"), kId).empty());
  EXPECT_TRUE(devices_in(whole.substr(0, whole.size() - 3), kId).empty());
  EXPECT_TRUE(devices_in("", kId).empty());
  std::string deep, prefixes;
  for (int i = 0; i < 100; ++i) {
    deep = "<d:x>" + deep + "</d:x>";
    prefixes += " xmlns:p" + std::to_string(i) + "='urn:x'";
  }
  EXPECT_TRUE(devices_in(answer(deep + kCamera), kId).empty());
  EXPECT_TRUE(devices_in(answer("<d:x" + prefixes + "><d:y/></d:x>" + kCamera), kId).empty());
}

TEST(Probe, HasItsIdAndNothingElse) {
  EXPECT_NE(probe(kId).find("<a:MessageID>" + kId + "</a:MessageID>"), std::string::npos);
  EXPECT_TRUE(devices_in(probe(kId), kId).empty());
  EXPECT_NE(probe(kId).find("<d:Types>dn:NetworkVideoTransmitter</d:Types>"), std::string::npos);
}

bool is_safe(const std::string &text) {
  if (!g_utf8_validate(text.data(), static_cast<gssize>(text.size()), nullptr)) return false;
  for (const gchar *at = text.c_str(); *at != '\0'; at = g_utf8_next_char(at)) {
    const gunichar c = g_utf8_get_char(at);
    if (c != '\n' && c != '\t' && (g_unichar_iscntrl(c) || g_unichar_type(c) == G_UNICODE_FORMAT))
      return false;
  }
  return true;
}

TEST(Probe, SurvivesRandomAnswers) {
  std::minstd_rand random(seed());
  size_t read = 0;
  const std::string pieces[] = {"%1B",  "%00",        "&#x85;",       "&#x202e;", "%E2%80%AE",
                                "&lt;", "%ff",        "&l;",          "\t",       "\n",
                                "\xff", "<d:Scopes>", "</a:Address>", "]]>"};
  for (int i = 0; i < 20000; ++i) {
    std::string text = answer(kCamera);
    for (unsigned changes = random() % 4; changes > 0; --changes)
      text.insert(random() % text.size(), pieces[random() % std::size(pieces)]);
    if (random() % 4 == 0) text[random() % text.size()] = static_cast<char>(random());
    const std::vector<OnvifDevice> devices = devices_in(text, kId);
    read += devices.size();
    ASSERT_TRUE(is_safe(listing_of(devices))) << text;
  }
  EXPECT_GT(read, 1000u);
}

}  // namespace
}  // namespace luminance
