// SPDX-License-Identifier: LGPL-2.1-or-later
// The certificate, from the user's files, which may change while the server runs.
#pragma once

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include <deque>
#include <memory>

#include "settings/settings.h"

namespace luminance {

/// A certificate with its chain and its key. Throws SettingsError with the file's name where one
/// cannot be read, or the two do not belong together.
class Identity {
 public:
  explicit Identity(const WebSettings &settings);
  ~Identity();
  Identity(const Identity &) = delete;
  Identity &operator=(const Identity &) = delete;

  /// What GnuTLS asks of a gnutls_certificate_retrieve_function2.
  void show(gnutls_pcert_st **chain, unsigned *size, gnutls_privkey_t *key) const;

 private:
  struct Files;
  const std::unique_ptr<Files> files_;
};

/// The one that connections get from now on. It is the program's, as GnuTLS asks for it without
/// saying on whose behalf. Main thread only.
void present(std::unique_ptr<const Identity> identity);
/// For libmicrohttpd.
gnutls_certificate_retrieve_function2 *presenter();

}  // namespace luminance
