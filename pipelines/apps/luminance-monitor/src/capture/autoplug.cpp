// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/autoplug.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "capture/surfaces.h"

namespace luminance {
namespace {

/// Demuxers that read nothing but their input. Others open addresses or files that the input names:
/// hlsdemux, dashdemux, mssdemux, sdpdemux, avdemux_concat.
constexpr const char *kDemuxers[] = {
    "asfdemux", "avdemux_gif",   "avdemux_ivf", "avidemux",       "dvdemux",
    "flvdemux", "matroskademux", "mpegpsdemux", "multipartdemux", "mxfdemux",
    "oggdemux", "qtdemux",       "tsdemux",     "y4mdec",
};
/// Decoders of pictures. Others are not used; a picture in SVG, for example, names files.
constexpr const char *kPictures[] = {"jpegdec", "pngdec", "webpdec"};
/// Depayloaders whose output may be any kind of data.
constexpr const char *kCarriers[] = {"rtpgstdepay"};
/// Media types of lists of addresses.
constexpr const char *kLists[] = {
    "application/dash+xml",        "application/sdp", "application/smil", "application/x-hls",
    "application/vnd.ms-sstr+xml", "text/uri-list",
};

template <typename Names>
bool is_in(const char *name, const Names &names) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char *other) { return std::strcmp(name, other) == 0; });
}

/// Whether the caps allow only frames in surfaces.
bool has_only_surfaces(GstCaps *caps) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    if (!is_in_surfaces(caps, i)) return false;
  return gst_caps_get_size(caps) > 0;
}

/// Whether an output of the element has only frames in surfaces, as that of DeepStream's decoder,
/// which is preferred to all others where it is installed.
bool gives_only_surfaces(GstElementFactory *factory) {
  for (const GList *l = gst_element_factory_get_static_pad_templates(factory); l != nullptr;
       l = l->next) {
    auto *pad = static_cast<GstStaticPadTemplate *>(l->data);
    if (pad->direction != GST_PAD_SRC) continue;
    g_autoptr(GstCaps) caps = gst_static_caps_get(&pad->static_caps);
    if (has_only_surfaces(caps)) return true;
  }
  return false;
}

}  // namespace

bool may_autoplug(GstElementFactory *factory, bool takes_surfaces) {
  const gchar *name = GST_OBJECT_NAME(factory);
  const gchar *klass = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS);
  if (klass == nullptr || is_in(name, kCarriers)) return false;
  if (!takes_surfaces && gives_only_surfaces(factory)) return false;
  const auto is_a = [&](const char *word) { return std::strstr(klass, word) != nullptr; };
  if (is_in(name, kDemuxers) || is_in(name, kPictures)) return true;
  if (is_a("Demuxer") || is_a("Source") || is_a("Sink") || is_a("Bin")) return false;
  if (is_a("Depayloader")) return is_a("RTP");
  if (is_a("Parser")) return is_a("Video") || is_a("Image");
  return is_a("Decoder") && is_a("Video");
}

std::string autoplug_error(const GstCaps *caps) {
  const gchar *name = gst_structure_get_name(gst_caps_get_structure(caps, 0));
  if (!is_in(name, kLists)) return "";
  return "the camera sends a list of addresses (" + std::string(name) +
         "), which is not followed; use the URI of the video itself";
}

}  // namespace luminance
