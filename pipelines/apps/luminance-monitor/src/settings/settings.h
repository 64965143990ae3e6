// SPDX-License-Identifier: LGPL-2.1-or-later
// All settings with their defaults. The code that reads them has checked their values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "settings/region.h"
#include "settings/rules.h"
#include "settings/schedule.h"

namespace luminance {

/// The text names the setting and the mistake; it contains no credentials.
struct SettingsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Credentials {
  std::string user, password;
};

struct CameraSettings {
  std::string id;             // letters and digits of any script, "-", "_" and "."; unique
  std::string configured_id;  // set by the user; empty: made from the name
  std::string source;         // a hash of the origin of its video, without secrets
  std::string name;           // any text
  std::string uri;            // without user and password
  std::string location;  // the URI to be shown: also without its query, which may contain a token
  std::optional<Credentials> credentials;
  std::vector<std::string> redirect_hosts;  // allowed targets: "host" or "host:port"
  unsigned max_fps = 0;                     // frames per second that are measured; 0 = all
  double snapshot_interval = 0;             // seconds between two requested pictures; 0 = video
  Region region;                            // the part of its picture that is judged
  Rules rules = default_rules();            // outside the periods of `schedules`
  Schedules schedules;
};

struct WebSettings {
  bool enabled = true;
  std::string address = "127.0.0.1";  // or a name; port 0 = any free port
  uint16_t port = 8080;
  std::optional<Credentials> basic;  // who may read
  std::string token;                 // for programs: Authorization: Bearer
  std::string certificate, key;      // PEM files; empty = no TLS
  unsigned max_connections = 512;    // at the same time
  bool allow_anonymous = false;      // other machines may read without authentication
  bool trust_forwarded_for = false;  // a proxy on this machine sets X-Forwarded-For
};

struct HistorySettings {
  bool enabled = true;    // whether to keep a history in the default file
  std::string file;       // empty = the default file, if `enabled`
  double interval = 60;   // seconds that a row covers
  double retention = 30;  // days
};

/// A receiver of notifications by HTTP.
struct WebhookSettings {
  std::string url;      // may contain a token
  std::string address;  // to be shown: its scheme, host and port
  std::string secret;   // key that signs messages; empty: they are not signed
  std::string ca_file;  // PEM file; empty: the certificate authorities of the system; so below
};

/// The receivers of notifications by mail.
struct MailSettings {
  std::string server;  // smtp://HOST:PORT or smtps://HOST:PORT
  bool starttls = true;
  std::string from;
  std::vector<std::string> to;
  std::optional<Credentials> credentials;
  std::string ca_file;
};

struct MqttSettings {
  std::string broker;  // to be shown: mqtt://HOST:PORT or mqtts://HOST:PORT
  std::string host;
  uint16_t port = 1883;
  bool tls = false;
  std::optional<Credentials> credentials;
  std::string ca_file;
  std::string discovery_prefix = "homeassistant";  // where Home Assistant looks for devices
  std::string topic_prefix = "luminance-monitor";
};

struct NotificationSettings {
  double after = 10;           // seconds that a fault has to last
  double settle = 60;          // seconds without the fault after which it is over
  double group = 30;           // seconds whose alerts form one message
  double remind_hours = 0;     // after which a lasting fault is reported again; 0 = never
  unsigned max_per_hour = 30;  // messages of each channel
  std::array<bool, kVerdicts> verdicts = all_verdicts();  // to report
  std::vector<WebhookSettings> webhooks;
  std::optional<MailSettings> mail;
  std::optional<MqttSettings> mqtt;
};

/// How long to wait for a camera, in seconds. Not for users; tests set shorter times.
struct Timeouts {
  double answer = 10;                      // for a response
  double frame = 20;                       // for the first frame, or for a requested picture
  double first_pause = 1, max_pause = 60;  // between two attempts
};

struct Settings {
  std::vector<CameraSettings> cameras;
  Rules rules = default_rules();  // of cameras without rules of their own
  Schedules schedules;            // likewise
  unsigned max_fps = 0;           // likewise
  double interval = 1;  // seconds over which the page, the API and the metrics show values
  bool loop = false;    // files are played repeatedly, as if they were cameras
  bool fast = false;    // files are read as fast as possible; the time is that of their frames
  std::string backend = "auto";  // of cudahistogram
  WebSettings web;
  HistorySettings history;
  NotificationSettings notifications;
  Timeouts timeouts;
};

}  // namespace luminance
