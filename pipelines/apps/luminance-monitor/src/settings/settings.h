// SPDX-License-Identifier: LGPL-2.1-or-later
// What the user can set, with its defaults. Whoever reads it from outside has checked it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "settings/rules.h"

namespace luminance {

/// The text names the setting and what is wrong with it; it holds no credentials.
struct SettingsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Credentials {
  std::string user, password;
};

struct CameraSettings {
  std::string id;         // letters and digits of any script and "-", "_", ".": unique
  std::string wanted_id;  // the user's; empty: of its name
  std::string former;     // the id that the first version gave it; empty: the same, or others' too
  std::string source;     // a hash of where its video comes from, without secrets
  std::string name;       // any text
  std::string uri;        // without user and password
  std::string location;   // the URI for people: also without its query, which may hold a token
  std::optional<Credentials> credentials;
  std::vector<std::string> redirect_hosts;  // that it may lead to: "host" or "host:port"
  unsigned max_fps = 0;                     // frames a second that are measured; 0 = all
  Rules rules;
};

struct WebSettings {
  bool enabled = true;
  std::string address = "127.0.0.1";  // or a name; port 0 = any
  uint16_t port = 8080;
  std::optional<Credentials> basic;  // who may read
  std::string token;                 // the same for programs: Authorization: Bearer
  std::string certificate, key;      // PEM files; empty = no TLS
  unsigned connections = 512;        // at once
  bool anonymous = false;      // others than this machine may read without being asked for anything
  bool forwarded_for = false;  // requests of this machine say whom they are for: X-Forwarded-For
};

struct HistorySettings {
  bool wanted = true;     // whether one is kept where no file is named
  std::string file;       // empty = none is kept
  double interval = 60;   // seconds of a row
  double retention = 30;  // days
};

/// How long a camera is waited for, in seconds. Not for users; tests have less time.
struct Patience {
  double answer = 10;                          // to a request
  double frame = 20;                           // the first one
  double first_pause = 1, longest_pause = 60;  // between two tries
};

struct Settings {
  std::vector<CameraSettings> cameras;
  Rules rules = default_rules();  // of cameras that have none of their own
  unsigned max_fps = 0;           // the same
  double interval = 1;            // seconds of what the page, the API and the metrics show
  bool loop = false;              // files begin again, as if they were cameras
  bool fast = false;  // files are read as fast as they can be, with the time of their frames
  std::string backend = "auto";  // of cudahistogram
  WebSettings web;
  HistorySettings history;
  Patience patience;
};

}  // namespace luminance
