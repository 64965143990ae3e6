// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line: what to do, with which settings.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "settings/settings.h"

namespace luminance {

/// Watch the cameras.
struct Run {
  bool headless = false;          // nobody is in front of the machine
  std::optional<double> seconds;  // then it ends by itself
};
/// Say that the settings are right.
struct Check {};
/// Write the history to the standard output.
struct Export {};
/// There is nothing to do, or nothing can be done: the text is for people.
struct Stop {
  int status;
  std::string text;
};

struct Command {
  std::variant<Run, Check, Export, Stop> action;
  Settings settings;
};

/// Reads the options and the configuration file that they name. Throws SettingsError.
Command read_command_line(int argc, char **argv);

}  // namespace luminance
