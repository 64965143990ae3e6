// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line: an action and its settings.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "settings/settings.h"

namespace luminance {

/// Watch the cameras.
struct Run {
  bool headless = false;          // without a browser
  std::optional<double> seconds;  // until it exits by itself
};
/// Only check the settings.
struct Check {};
/// Write the history to the standard output: its rows, or its incidents.
struct Export {
  bool incidents = false;
};
/// List the ONVIF cameras of the network.
struct Discover {
  double seconds;       // to wait for answers
  std::string address;  // the only HOST:PORT to ask; empty: the usual group
};
/// Print a text for people, such as that of --help, and exit.
struct PrintAndExit {
  int status;
  std::string text;
};

struct Command {
  std::variant<Run, Check, Export, Discover, PrintAndExit> action;
  Settings settings;
};

/// Reads the options and the configuration file named in them. Throws SettingsError.
Command read_command_line(int argc, char **argv);

}  // namespace luminance
