// SPDX-License-Identifier: LGPL-2.1-or-later
// A channel that posts messages as JSON to a URL.
#pragma once

#include <string>

#include "notify/channel.h"
#include "settings/settings.h"

namespace luminance {

/// Returns the value of the header X-Luminance-Signature: "sha256=" and, in hexadecimal, the
/// HMAC-SHA-256 of the timestamp, a dot and the body.
std::string signature_of(const std::string &secret, const std::string &timestamp,
                         const std::string &body);

class Webhook : public Channel {
 public:
  explicit Webhook(WebhookSettings settings) : settings_(std::move(settings)) {}
  void send(const Message &message, const std::atomic<bool> &is_cancelled) override;

 private:
  const WebhookSettings settings_;
};

}  // namespace luminance
