// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/rtspguard.h"

#include <dlfcn.h>
#include <gio/gio.h>
#include <gst/rtsp/gstrtspconnection.h>
#include <gst/rtsp/gstrtspextension.h>
#include <gst/rtsp/gstrtspmessage.h>
#include <gst/sdp/gstsdpmessage.h>

#include <mutex>
#include <string>

#include "capture/uri.h"

namespace luminance {
namespace {

/// An extension of rtspsrc. It sees each response before rtspsrc acts on it: nothing else can stop
/// rtspsrc.
struct Guard {
  GstElement element;
};
struct GuardClass {
  GstElementClass element;
};

std::string header_of(const GstRTSPMessage *message, GstRTSPHeaderField field) {
  gchar *value = nullptr;
  gst_rtsp_message_get_header(message, field, &value, 0);
  return value != nullptr ? value : "";
}

/// Turns a redirect into an error whose reason phrase is the target.
void stop_redirect(GstRTSPMessage *response) {
  const std::string location = header_of(response, GST_RTSP_HDR_LOCATION);
  gst_rtsp_message_remove_header(response, GST_RTSP_HDR_LOCATION, -1);
  response->type_data.response.code = static_cast<GstRTSPStatusCode>(kRtspRedirect);
  g_free(response->type_data.response.reason);
  response->type_data.response.reason = g_utf8_make_valid(location.c_str(), -1);
}

bool is_multicast(const std::string &address) {
  g_autoptr(GInetAddress) parsed = g_inet_address_new_from_string(address.c_str());
  return parsed != nullptr && g_inet_address_get_is_multicast(parsed);
}

/// Returns a transport without its `source`, so that reports go to the host of the connection.
/// Returns an empty text for multicast whose destination is no multicast address.
std::string checked_transport(const std::string &transport) {
  g_auto(GStrv) parts = g_strsplit(transport.c_str(), ";", -1);
  std::string kept;
  bool is_to_group = false, has_group = false;
  for (gchar **part = parts; *part != nullptr; ++part) {
    const std::string field = g_strstrip(*part);
    if (g_ascii_strncasecmp(field.c_str(), "source=", 7) == 0) continue;
    is_to_group |= g_ascii_strcasecmp(field.c_str(), "multicast") == 0;
    if (g_ascii_strncasecmp(field.c_str(), "destination=", 12) == 0)
      has_group = is_multicast(field.substr(12));
    kept += (kept.empty() ? "" : ";") + field;
  }
  return is_to_group && !has_group ? "" : kept;
}

void check_transport(GstRTSPMessage *response) {
  const std::string transport = header_of(response, GST_RTSP_HDR_TRANSPORT);
  if (transport.empty()) return;
  gst_rtsp_message_remove_header(response, GST_RTSP_HDR_TRANSPORT, -1);
  const std::string checked = checked_transport(transport);
  if (!checked.empty())
    gst_rtsp_message_add_header(response, GST_RTSP_HDR_TRANSPORT, checked.c_str());
}

GstRTSPResult after_send(GstRTSPExtension *, GstRTSPMessage *, GstRTSPMessage *response) {
  if (response->type != GST_RTSP_MESSAGE_RESPONSE) return GST_RTSP_OK;
  const int code = response->type_data.response.code;
  if (code >= 300 && code < 400) stop_redirect(response);
  check_transport(response);
  return GST_RTSP_OK;
}

void implement(gpointer interface, gpointer) {
  static_cast<GstRTSPExtensionInterface *>(interface)->after_send = after_send;
}

GType guard_type() {
  static const GType type = [] {
    const auto describe = [](gpointer klass, gpointer) {
      gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "RTSP guard",
                                            "Network/Extension/Protocol",
                                            "Keeps rtspsrc at its camera", "gst-cudatensor");
    };
    const GTypeInfo info = {sizeof(GuardClass), nullptr, nullptr, describe, nullptr, nullptr,
                            sizeof(Guard),      0,       nullptr, nullptr};
    const GType made = g_type_register_static(GST_TYPE_ELEMENT, "LuminanceRtspGuard", &info,
                                              static_cast<GTypeFlags>(0));
    const GInterfaceInfo extension = {implement, nullptr, nullptr};
    g_type_add_interface_static(made, GST_TYPE_RTSP_EXTENSION, &extension);
    return made;
  }();
  return type;
}

/// Puts the host of `uri` into the control URI of all streams, by which rtspsrc may connect anew. A
/// camera behind a gateway names its own address, which other hosts do not know.
void keep_at_host(GstSDPMessage *sdp, guint index, const char *control, const std::string &uri) {
  const std::string kept = at_host_of(control, uri);
  if (kept == control) return;
  GstSDPAttribute attribute;
  gst_sdp_attribute_set(&attribute, "control", kept.c_str());
  gst_sdp_message_replace_attribute(sdp, index, &attribute);
}

void on_sdp(GstElement *source, GstSDPMessage *sdp, gpointer) {
  g_autofree gchar *uri = nullptr;
  g_object_get(source, "location", &uri, nullptr);
  for (guint i = gst_sdp_message_attributes_len(sdp); i-- > 0;) {
    const GstSDPAttribute *attribute = gst_sdp_message_get_attribute(sdp, i);
    const std::string key = attribute->key != nullptr ? attribute->key : "";
    if (key == "x-gst-clock")  // rtspsrc would request the time from any host that this names
      gst_sdp_message_remove_attribute(sdp, i);
    else if (key == "control" && attribute->value != nullptr)
      keep_at_host(sdp, i, attribute->value, uri != nullptr ? uri : "");
  }
}

}  // namespace

void guard_rtsp() {
  static std::once_flag once;
  std::call_once(once, [] {
    gst_element_register(nullptr, "luminancertspguard", GST_RANK_MARGINAL, guard_type());
  });
}

void guard_rtsp_source(GstElement *source) {
  g_signal_connect(source, "on-sdp", G_CALLBACK(on_sdp), nullptr);
  // Otherwise, a tunnel through HTTP would continue with the host that the camera names.
  g_object_set(source, "ignore-x-server-reply", TRUE, nullptr);
}

}  // namespace luminance

/// Replaces the function of the library, to set a limit on each connection of rtspsrc: a connection
/// allocates up to 4 GiB for a message before any of it has arrived, and no property or signal of
/// rtspsrc gives access to its limit.
GstRTSPResult gst_rtsp_connection_create(const GstRTSPUrl *url, GstRTSPConnection **connection) {
  static const auto create = reinterpret_cast<decltype(&gst_rtsp_connection_create)>(
      dlsym(RTLD_NEXT, "gst_rtsp_connection_create"));
  if (create == nullptr) return GST_RTSP_ENOTIMPL;
  const GstRTSPResult result = create(url, connection);
  if (result == GST_RTSP_OK)
    gst_rtsp_connection_set_content_length_limit(*connection, luminance::kMaxRtspMessage);
  return result;
}
