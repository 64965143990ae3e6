// SPDX-License-Identifier: LGPL-2.1-or-later
// The backend properties that all elements share.
#pragma once

#include "gst/base/sessionmanager.h"

namespace cudatensor {

/// The first property id that an element may use for its own properties.
constexpr guint kFirstProperty = 16;

/// Installs backend, active-backend, cuda-device-id and n-threads, with ids below kFirstProperty.
void install_backend_properties(GObjectClass *klass);

// The caller holds the object lock.
void set_backend_property(SessionManager &keeper, guint id, const GValue *value);
void get_backend_property(SessionManager &keeper, guint id, GValue *value);

}  // namespace cudatensor
