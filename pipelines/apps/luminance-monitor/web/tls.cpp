// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tls.h"

#include <glib.h>
#include <gnutls/gnutls.h>

namespace luminance {
namespace {

std::string read(const std::string &file) {
  g_autofree gchar *text = nullptr;
  gsize size = 0;
  g_autoptr(GError) error = nullptr;
  if (!g_file_get_contents(file.c_str(), &text, &size, &error))
    throw SettingsError(std::string("web: ") + error->message);
  return {text, size};
}

gnutls_datum_t datum(std::string &text) {
  return {reinterpret_cast<unsigned char *>(text.data()), static_cast<unsigned>(text.size())};
}

}  // namespace

Identity load_identity(const WebSettings &settings) {
  Identity identity = {read(settings.certificate), read(settings.key)};
  gnutls_certificate_credentials_t credentials = nullptr;
  gnutls_certificate_allocate_credentials(&credentials);
  const gnutls_datum_t certificate = datum(identity.certificate), key = datum(identity.key);
  const int result =
      gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
  gnutls_certificate_free_credentials(credentials);
  if (result < 0)
    throw SettingsError("web: certificate '" + settings.certificate + "' with key '" +
                        settings.key + "': " + gnutls_strerror(result));
  return identity;
}

}  // namespace luminance
