// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/homeassistant.h"

#include <glib.h>

#include <nlohmann/json.hpp>

namespace luminance {
namespace {

using nlohmann::json;

constexpr const char *kProgram = "luminance-monitor";
constexpr size_t kHash = 8;

/// Returns the id with only the characters that Home Assistant takes in a topic: ASCII letters,
/// digits, "-" and "_". If others were replaced, a part of the id's hash keeps it unique.
std::string plain(const std::string &id) {
  std::string text = id;
  for (char &c : text)
    if (!g_ascii_isalnum(c) && c != '-' && c != '_') c = '_';
  if (text == id) return text;
  g_autofree gchar *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, id.c_str(), -1);
  return text + "_" + std::string(hash).substr(0, kHash);
}

std::string node_of(const MqttSettings &settings) { return plain(settings.topic_prefix); }

std::string camera_topic(const MqttSettings &settings, const Device &device) {
  return settings.topic_prefix + "/" + plain(device.camera);
}

std::string availability_topic(const MqttSettings &settings, const Device &device) {
  return camera_topic(settings, device) + "/availability";
}

std::string state_topic(const MqttSettings &settings, const Device &device, Verdict verdict) {
  return camera_topic(settings, device) + "/" + std::string(name_of(verdict));
}

std::string description_of(const MqttSettings &settings, const Device &device, Verdict verdict,
                           const std::string &object) {
  const std::string node = node_of(settings);
  json availability = {{{"topic", status_topic(settings)}}};
  // Without frames, no verdict on the picture is known.
  if (verdict != Verdict::kNoFrames)
    availability.push_back({{"topic", availability_topic(settings, device)}});
  const json description = {
      {"name", title_of(verdict)},
      {"unique_id", node + "_" + object},
      {"object_id", node + "_" + object},
      {"device_class", "problem"},
      {"state_topic", state_topic(settings, device, verdict)},
      {"payload_on", "ON"},
      {"payload_off", "OFF"},
      {"availability", availability},
      {"availability_mode", "all"},
      {"payload_available", "online"},
      {"payload_not_available", "offline"},
      {"qos", 1},
      {"device",
       {{"identifiers", {node + "_" + plain(device.camera)}},
        {"name", device.name},
        {"manufacturer", "gst-cudatensor"},
        {"model", kProgram},
        {"sw_version", LUMINANCE_VERSION}}},
      {"origin", {{"name", kProgram}, {"sw_version", LUMINANCE_VERSION}}},
  };
  return description.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string description_folder(const MqttSettings &settings) {
  return settings.discovery_prefix + "/binary_sensor/" + node_of(settings) + "/";
}

}  // namespace

std::string status_topic(const MqttSettings &settings) { return settings.topic_prefix + "/status"; }

std::string message_topic(const MqttSettings &settings) {
  return settings.topic_prefix + "/notifications";
}

std::string birth_topic(const MqttSettings &settings) {
  return settings.discovery_prefix + "/status";
}

std::string description_filter(const MqttSettings &settings) {
  return description_folder(settings) + "+/config";
}

Topics topics_of(const MqttSettings &settings, const std::vector<Device> &devices) {
  Topics topics;
  for (const Device &device : devices) {
    topics[availability_topic(settings, device)] = device.has_frames ? "online" : "offline";
    for (const auto &[verdict, stands] : device.verdicts) {
      const std::string object = plain(device.camera) + "_" + std::string(name_of(verdict));
      topics[description_folder(settings) + object + "/config"] =
          description_of(settings, device, verdict, object);
      if (stands) topics[state_topic(settings, device, verdict)] = *stands ? "ON" : "OFF";
    }
  }
  return topics;
}

std::vector<std::string> topics_of_description(const MqttSettings &settings,
                                               const std::string &topic,
                                               const std::string &payload) {
  if (topic.rfind(description_folder(settings), 0) != 0) return {};
  const json description = json::parse(payload, nullptr, false);
  if (!description.is_object() || !description.contains("origin") ||
      !description["origin"].is_object() || description["origin"].value("name", json()) != kProgram)
    return {};
  std::vector<std::string> topics = {topic};
  const auto add = [&](const json &named) {
    if (named.is_string() && named.get<std::string>().rfind(settings.topic_prefix + "/", 0) == 0)
      topics.push_back(named);
  };
  add(description.value("state_topic", json()));
  for (const json &availability : description.value("availability", json::array()))
    if (availability.is_object()) add(availability.value("topic", json()));
  return topics;
}

}  // namespace luminance
