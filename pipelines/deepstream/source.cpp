// SPDX-License-Identifier: LGPL-2.1-or-later
#include "source.h"

#include <utility>

#include "batches/failure.h"

namespace {

/// Returns a parser that converts the stream for DeepStream's decoders; null if it needs no
/// conversion. The decoders take H.264 and H.265 only as a byte stream, but parsebin leaves them as
/// the container has them.
const char *parser_of(const std::string &media_type) {
  if (media_type == "video/x-h264") return "h264parse";
  if (media_type == "video/x-h265") return "h265parse";
  return nullptr;
}

bool takes(GstPad *pad, const char *media_type) {
  g_autoptr(GstCaps) taken = gst_pad_query_caps(pad, nullptr);
  g_autoptr(GstCaps) caps = gst_caps_new_empty_simple(media_type);
  return gst_caps_can_intersect(taken, caps);
}

/// Returns whether a pad is not video: an RTSP camera has a pad for each medium.
bool is_other_medium(GstPad *pad) {
  g_autoptr(GstCaps) caps = gst_pad_query_caps(pad, nullptr);
  if (gst_caps_is_any(caps) || gst_caps_is_empty(caps)) return false;
  const gchar *media = gst_structure_get_string(gst_caps_get_structure(caps, 0), "media");
  return media != nullptr && std::string(media) != "video";
}

}  // namespace

Source::Source(GstElement *pipeline, GstElement *mux, guint index, std::string uri,
               const std::string &decoder)
    : index_(index), uri_(std::move(uri)) {
  if (decoder.find('!') != std::string::npos) fail(decoder + " is more than one element");
  GError *error = nullptr;
  const std::string elements =
      "urisourcebin name=source use-buffering=false parsebin name=parser " + decoder +
      " name=decoder";
  bin_ = gst_parse_bin_from_description_full(elements.c_str(), FALSE, nullptr,
                                             GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (bin_ == nullptr)
    fail("cannot create the decoder: install DeepStream, or correct --decoder", error);
  gst_bin_add(GST_BIN(pipeline), bin_);
  decoder_ = find("decoder");
  input_ = decoder_->numsinkpads == 1 ? GST_PAD(decoder_->sinkpads->data) : nullptr;
  if (input_ == nullptr || decoder_->numsrcpads != 1) fail(decoder + " is not a decoder");
  link_streams();
  link_mux(mux);
}

/// Returns an element of the bin, which keeps the reference.
GstElement *Source::find(const char *name) const {
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(bin_), name);
  return element;
}

void Source::link_streams() {
  GstElement *source = find("source"), *parser = find("parser");
  g_object_set(source, "uri", uri_.c_str(), nullptr);
  g_signal_connect(source, "pad-added", G_CALLBACK(on_data), parser->sinkpads->data);
  g_signal_connect(parser, "pad-added", G_CALLBACK(on_stream), this);
  g_signal_connect(parser, "drained", G_CALLBACK(on_drained), this);
}

void Source::link_mux(GstElement *mux) {
  GstPad *out = gst_ghost_pad_new("src", GST_PAD(decoder_->srcpads->data));
  gst_element_add_pad(bin_, out);
  g_autoptr(GstPad) slot =
      gst_element_request_pad_simple(mux, ("sink_" + std::to_string(index_)).c_str());
  if (slot == nullptr || gst_pad_link(out, slot) != GST_PAD_LINK_OK)
    fail("the mux does not accept the decoder's output");
  // cudatensormux turns pictures that are not stored upright; nvstreammux does not.
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(slot), "video-direction") != nullptr)
    gst_util_set_object_arg(G_OBJECT(slot), "video-direction", "auto");
}

void Source::on_data(GstElement *, GstPad *pad, GstPad *parser) {
  if (!gst_pad_is_linked(parser) && !is_other_medium(pad)) gst_pad_link(pad, parser);
}

void Source::decode(GstPad *stream, const char *media_type) {
  const char *name = parser_of(media_type);
  GstElement *parser = name != nullptr ? gst_element_factory_make(name, nullptr) : nullptr;
  if (parser == nullptr) return static_cast<void>(gst_pad_link(stream, input_));
  gst_bin_add(GST_BIN(bin_), parser);
  gst_element_link(parser, decoder_);
  gst_pad_link(stream, GST_PAD(parser->sinkpads->data));
  gst_element_sync_state_with_parent(parser);
}

/// Takes the first stream that the decoder can decode.
void Source::on_stream(GstElement *, GstPad *pad, Source *self) {
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  if (caps == nullptr) caps = gst_pad_query_caps(pad, nullptr);
  if (gst_caps_get_size(caps) == 0) return;
  const gchar *media_type = gst_structure_get_name(gst_caps_get_structure(caps, 0));
  {
    const std::lock_guard<std::mutex> lock(self->mutex_);
    if (self->decodes_) return;
    self->decodes_ = takes(self->input_, media_type);
    if (!self->decodes_)
      self->others_ += (self->others_.empty() ? "" : ", ") + std::string(media_type);
    if (!self->decodes_) return;
  }
  // Called without the lock, which the handler of an error message takes.
  self->decode(pad, media_type);
}

/// Posts the error itself, because parsebin drops that of a demuxer that finds nothing linked while
/// parsebin still plugs it.
void Source::on_drained(GstElement *parser, Source *self) {
  {
    const std::lock_guard<std::mutex> lock(self->mutex_);
    if (self->decodes_ || self->others_.empty()) return;
  }
  GST_ELEMENT_ERROR(parser, STREAM, FAILED, ("No stream is decoded."), (nullptr));
}

std::string Source::refusal() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!decodes_ && !others_.empty())
    return name() + GST_OBJECT_NAME(gst_element_get_factory(decoder_)) + " does not decode " +
           others_;
  GstPad *out = GST_PAD(decoder_->srcpads->data);
  g_autoptr(GstCaps) made = gst_pad_get_current_caps(out);
  if (made == nullptr || gst_pad_peer_query_accept_caps(out, made)) return "";
  g_autofree gchar *text = gst_caps_to_string(made);
  return name() + "the mux does not accept " + text;
}

/// Returns the cause of an error. If data cannot flow, the elements' own texts say only that.
std::string Source::cause_of(const GError *error) const {
  const bool is_flow = g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED);
  const std::string refused = is_flow ? refusal() : "";
  return refused.empty() ? name() + error->message : refused;
}
