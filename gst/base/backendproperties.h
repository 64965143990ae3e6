// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of every element that say who computes.
#pragma once

#include "gst/base/sessionkeeper.h"

namespace cudatensor {

/// The first id of an element's own properties.
constexpr guint kFirstProperty = 16;

/// backend, active-backend, cuda-device-id and n-threads, with ids below kFirstProperty.
void install_backend_properties(GObjectClass *klass);

// With the object lock held.
void set_backend_property(SessionKeeper &keeper, guint id, const GValue *value);
void get_backend_property(SessionKeeper &keeper, guint id, GValue *value);

}  // namespace cudatensor
