// SPDX-License-Identifier: LGPL-2.1-or-later
// The rules of verdicts in a table of a configuration document.
#pragma once

#include "settings/schedule.h"
#include "settings/table.h"

namespace luminance {

/// Throws SettingsError.
void read_rules(Table table, Rules &rules, Schedules &schedules);

}  // namespace luminance
