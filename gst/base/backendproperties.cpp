// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/backendproperties.h"

#include "gst/util/enums.h"
#include "gst/util/properties.h"

namespace cudatensor {
namespace {

enum { kBackend = 1, kActiveBackend, kDevice, kThreads };

}  // namespace

void install_backend_properties(GObjectClass *klass) {
  constexpr auto ready = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                  GST_PARAM_MUTABLE_READY);
  constexpr auto readable = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  const GType type = backend_get_type();
  g_object_class_install_property(
      klass, kBackend,
      g_param_spec_enum(
          "backend", "Backend",
          "Processor that runs the element's operations; chosen when the element starts", type,
          static_cast<gint>(BackendChoice::automatic), ready));
  g_object_class_install_property(
      klass, kActiveBackend,
      g_param_spec_enum("active-backend", "Active backend",
                        "Processor in use; auto while the element is stopped", type,
                        static_cast<gint>(BackendChoice::automatic), readable));
  g_object_class_install_property(
      klass, kDevice,
      g_param_spec_int("cuda-device-id", "CUDA device id",
                       "Index of the GPU that the CUDA backend uses; -1 = any", -1, G_MAXINT, -1,
                       ready));
  g_object_class_install_property(
      klass, kThreads,
      uint_property("n-threads", "Threads", "Number of CPU worker threads; 0 = one per core", 0,
                    1024, 0));
}

void set_backend_property(SessionManager &keeper, guint id, const GValue *value) {
  SessionManager::Settings &settings = keeper.settings();
  switch (id) {
    case kBackend: read(value, settings.choice); break;
    case kDevice: read(value, settings.device); break;
    case kThreads: read(value, settings.threads); break;
  }
}

void get_backend_property(SessionManager &keeper, guint id, GValue *value) {
  const SessionManager::Settings &settings = keeper.settings();
  switch (id) {
    case kBackend: write(value, settings.choice); break;
    case kActiveBackend: write(value, keeper.active()); break;
    case kDevice: write(value, settings.device); break;
    case kThreads: write(value, settings.threads); break;
  }
}

}  // namespace cudatensor
