// SPDX-License-Identifier: LGPL-2.1-or-later
// The TLS certificate, which can be replaced while the server runs.
#pragma once

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include <deque>
#include <memory>

#include "settings/settings.h"

namespace luminance {

/// A certificate with its chain and its key. Throws SettingsError naming the file if one cannot be
/// read, or if they do not match.
class Identity {
 public:
  explicit Identity(const WebSettings &settings);
  ~Identity();
  Identity(const Identity &) = delete;
  Identity &operator=(const Identity &) = delete;

  /// The results of a gnutls_certificate_retrieve_function2.
  void retrieve(gnutls_pcert_st **chain, unsigned *size, gnutls_privkey_t *key) const;

 private:
  struct Files;
  const std::unique_ptr<Files> files_;
};

/// Uses this identity for new connections. The identity is global, because GnuTLS does not say for
/// which server it asks. Main thread only.
void set_identity(std::unique_ptr<const Identity> identity);
/// Returns the callback for libmicrohttpd.
gnutls_certificate_retrieve_function2 *retrieve_function();

}  // namespace luminance
