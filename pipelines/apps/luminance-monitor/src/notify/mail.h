// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages as mail, by SMTP.
#pragma once

#include <string>
#include <utility>

#include "notify/channel.h"
#include "settings/settings.h"

namespace luminance {

/// As RFC 5322 has it, in ASCII. No header is longer or other than meant, whatever a camera is
/// called.
std::string mail_of(const Message &message, const MailSettings &settings);

class Mail : public Channel {
 public:
  explicit Mail(MailSettings settings) : settings_(std::move(settings)) {}
  void send(const Message &message, const std::atomic<bool> &is_cancelled) override;

 private:
  const MailSettings settings_;
};

}  // namespace luminance
