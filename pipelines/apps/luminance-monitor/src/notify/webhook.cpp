// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/webhook.h"

#include <glib.h>

#include "notify/transfer.h"

namespace luminance {

std::string signature_of(const std::string &secret, const std::string &timestamp,
                         const std::string &body) {
  const std::string text = timestamp + "." + body;
  g_autofree gchar *hmac = g_compute_hmac_for_data(
      G_CHECKSUM_SHA256, reinterpret_cast<const guchar *>(secret.data()), secret.size(),
      reinterpret_cast<const guchar *>(text.data()), text.size());
  return std::string("sha256=") + hmac;
}

void Webhook::send(const Message &message, const std::atomic<bool> &is_cancelled) {
  const std::string body = json_of(message);
  // A message that is sent again gets a new timestamp, because receivers refuse old ones.
  const std::string timestamp = std::to_string(g_get_real_time() / G_USEC_PER_SEC);
  StringList headers;
  headers.add("Content-Type: application/json");
  headers.add("Expect:");
  headers.add("X-Luminance-Timestamp: " + timestamp);
  if (!settings_.secret.empty())
    headers.add("X-Luminance-Signature: " + signature_of(settings_.secret, timestamp, body));
  Transfer transfer(settings_.url, "http,https", settings_.ca_file);
  transfer.set(CURLOPT_HTTPHEADER, headers.get());
  transfer.set(CURLOPT_USERAGENT, "luminance-monitor/" LUMINANCE_VERSION);
  transfer.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  transfer.set(CURLOPT_POSTFIELDS, body.data());
  transfer.perform(is_cancelled);
  const long status = transfer.status();
  if (status >= 300 && status < 400)
    throw SendError("HTTP status " + std::to_string(status) + ": redirects are not followed");
  if (status < 200 || status >= 300) throw SendError("HTTP status " + std::to_string(status));
}

}  // namespace luminance
