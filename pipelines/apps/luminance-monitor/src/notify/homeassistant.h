// SPDX-License-Identifier: LGPL-2.1-or-later
// What Home Assistant finds at an MQTT broker: a device for each camera, with a sensor for each
// verdict.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "settings/settings.h"

namespace luminance {

/// Payloads that a broker keeps, by topic.
using Topics = std::map<std::string, std::string>;

/// A camera, with the verdicts that have a sensor and whether each stands, where that is known.
struct Device {
  std::string camera, name;
  bool has_frames = true;
  std::vector<std::pair<Verdict, std::optional<bool>>> verdicts;
};

/// Where the monitor says whether it is connected.
std::string status_topic(const MqttSettings &settings);
/// Where messages are published.
std::string message_topic(const MqttSettings &settings);
/// Where Home Assistant says that it has started.
std::string birth_topic(const MqttSettings &settings);
/// All descriptions of sensors, of this monitor.
std::string description_filter(const MqttSettings &settings);

/// Descriptions of all sensors, and their states; what the broker has of unknown ones stays.
Topics topics_of(const MqttSettings &settings, const std::vector<Device> &devices);
/// The topics that belong to a description of ours, if it is one: its own, and that of its state.
std::vector<std::string> topics_of_description(const MqttSettings &settings,
                                               const std::string &topic,
                                               const std::string &payload);

}  // namespace luminance
