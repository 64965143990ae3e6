// SPDX-License-Identifier: LGPL-2.1-or-later
// A channel that sends messages as mail, by SMTP.
#pragma once

#include <string>
#include <utility>

#include "notify/channel.h"
#include "settings/settings.h"

namespace luminance {

/// Returns the message in the format of RFC 5322, in ASCII. A camera's name can neither add a
/// header nor make a line too long.
std::string mail_of(const Message &message, const MailSettings &settings);

class Mail : public Channel {
 public:
  explicit Mail(MailSettings settings) : settings_(std::move(settings)) {}
  void send(const Message &message, const std::atomic<bool> &is_cancelled) override;

 private:
  const MailSettings settings_;
};

}  // namespace luminance
