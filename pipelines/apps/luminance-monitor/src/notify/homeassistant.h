// SPDX-License-Identifier: LGPL-2.1-or-later
// Topics by which Home Assistant discovers the cameras at an MQTT broker: a device for each camera,
// with a sensor for each verdict.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "settings/settings.h"

namespace luminance {

/// Payloads that a broker retains, by topic.
using Topics = std::map<std::string, std::string>;

/// A camera, with the verdicts that have a sensor, and whether each is active, if that is known.
struct Device {
  std::string camera, name;
  bool has_frames = true;
  std::vector<std::pair<Verdict, std::optional<bool>>> verdicts;
};

/// Returns the topic on which the monitor publishes whether it is online.
std::string status_topic(const MqttSettings &settings);
/// Returns the topic of messages.
std::string message_topic(const MqttSettings &settings);
/// Returns the topic on which Home Assistant publishes that it has started.
std::string birth_topic(const MqttSettings &settings);
/// Returns the filter for the descriptions of all sensors of this monitor.
std::string description_filter(const MqttSettings &settings);

/// Returns the descriptions of all sensors and their states. Unknown states are left out, so the
/// broker keeps its own.
Topics topics_of(const MqttSettings &settings, const std::vector<Device> &devices);
/// Returns the topics of a sensor that this monitor described: those of the description, the state
/// and the availability. Empty if the payload is not such a description.
std::vector<std::string> topics_of_description(const MqttSettings &settings,
                                               const std::string &topic,
                                               const std::string &payload);

}  // namespace luminance
