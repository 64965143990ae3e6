// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/tls.h"

#include <glib.h>

#include <array>
#include <utility>

namespace luminance {
namespace {

constexpr unsigned kMaxChainLength = 16;
// A handshake takes at most this long, and uses the identity that was set when it began.
constexpr gint64 kHandshake = G_TIME_SPAN_MINUTE;

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

/// Checks the certificate and the key, and that they match. Returns GnuTLS's code.
int check(const gnutls_datum_t &certificate, const gnutls_datum_t &key) {
  gnutls_certificate_credentials_t credentials = nullptr;
  gnutls_certificate_allocate_credentials(&credentials);
  const int result =
      gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
  gnutls_certificate_free_credentials(credentials);
  return result;
}

struct ActiveIdentity {
  std::unique_ptr<const Identity> identity;
  gint64 until;  // when its last handshake is over; G_MAXINT64: it is the current one
};

std::deque<ActiveIdentity> &identities() {
  static auto *all = new std::deque<ActiveIdentity>;  // lives as long as the process
  return *all;
}

int retrieve(gnutls_session_t, const gnutls_datum_t *, int, const gnutls_pk_algorithm_t *, int,
             gnutls_pcert_st **chain, unsigned *size, gnutls_privkey_t *key) {
  if (identities().empty()) return -1;
  identities().back().identity->retrieve(chain, size, key);
  return 0;
}

}  // namespace

struct Identity::Files {
  std::array<gnutls_pcert_st, kMaxChainLength> chain = {};
  unsigned size = 0;
  gnutls_privkey_t key = nullptr;
};

Identity::Identity(const WebSettings &settings) : files_(std::make_unique<Files>()) {
  std::string certificate = read(settings.certificate), key = read(settings.key);
  const gnutls_datum_t certificates = datum(certificate), keys = datum(key);
  int result = check(certificates, keys);
  unsigned size = kMaxChainLength;
  if (result >= 0)
    result = gnutls_pcert_list_import_x509_raw(files_->chain.data(), &size, &certificates,
                                               GNUTLS_X509_FMT_PEM, 0);
  if (result >= 0) {
    files_->size = size;
    result = gnutls_privkey_init(&files_->key);
  }
  if (result >= 0)
    result = gnutls_privkey_import_x509_raw(files_->key, &keys, GNUTLS_X509_FMT_PEM, nullptr, 0);
  if (result >= 0) return;
  for (unsigned i = 0; i < files_->size; ++i) gnutls_pcert_deinit(&files_->chain[i]);
  if (files_->key != nullptr) gnutls_privkey_deinit(files_->key);
  throw SettingsError("web: certificate '" + settings.certificate + "' with key '" + settings.key +
                      "': " + gnutls_strerror(result));
}

Identity::~Identity() {
  for (unsigned i = 0; i < files_->size; ++i) gnutls_pcert_deinit(&files_->chain[i]);
  gnutls_privkey_deinit(files_->key);
}

void Identity::retrieve(gnutls_pcert_st **chain, unsigned *size, gnutls_privkey_t *key) const {
  *chain = files_->chain.data();
  *size = files_->size;
  *key = files_->key;
}

void set_identity(std::unique_ptr<const Identity> identity) {
  const gint64 now = g_get_monotonic_time();
  std::deque<ActiveIdentity> &all = identities();
  while (!all.empty() && all.front().until < now) all.pop_front();
  if (!all.empty()) all.back().until = now + kHandshake;
  all.push_back({std::move(identity), G_MAXINT64});
}

gnutls_certificate_retrieve_function2 *retrieve_function() { return retrieve; }

}  // namespace luminance
