// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline.h"

#include "backend.h"

namespace cudatensor {
namespace {

constexpr GstClockTime kPatience = 20 * GST_SECOND;

ElementRef make_pipeline(const std::string &description) {
  GError *error = nullptr;
  GstElement *pipeline = gst_parse_launch(description.c_str(), &error);
  EXPECT_EQ(error, nullptr) << description << ": " << error->message;
  g_clear_error(&error);
  if (pipeline == nullptr) g_error("no pipeline: %s", description.c_str());
  choose_backend(pipeline);
  return ElementRef(static_cast<GstElement *>(gst_object_ref_sink(pipeline)));
}

}  // namespace

Pipeline::Pipeline(const std::string &description) : pipeline_(make_pipeline(description)) {
  gst_bus_set_sync_handler(bus().get(), keep_elements, this, nullptr);
  const ElementRef out = find("out");
  if (!out) return;
  PadRef pad(gst_element_get_static_pad(out.get(), "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, collect, this, nullptr);
}

Pipeline::~Pipeline() {
  stop();
  gst_bus_set_sync_handler(bus().get(), nullptr, nullptr, nullptr);
}

ElementRef Pipeline::find(const char *name) const {
  return ElementRef(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
}

void Pipeline::set(const char *name, const char *property, const char *value) {
  gst_util_set_object_arg(G_OBJECT(find(name).get()), property, value);
}

bool Pipeline::reaches(GstState state) {
  gst_element_set_state(get(), state);
  return gst_element_get_state(get(), nullptr, nullptr, kPatience) == GST_STATE_CHANGE_SUCCESS;
}

std::string Pipeline::run() {
  start();
  return wait();
}

std::string Pipeline::wait() {
  const MessageRef message(gst_bus_timed_pop_filtered(
      bus().get(), kPatience, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  if (!message) return "no end within the patience";
  if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) return "";
  GError *error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  const std::string text = error->message;
  g_error_free(error);
  return text;
}

std::map<GstClockTime, Bytes> Pipeline::outputs() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return outputs_;
}

size_t Pipeline::count() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return count_;
}

std::vector<MessageRef> Pipeline::element_messages() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::move(messages_);
}

GstBusSyncReply Pipeline::keep_elements(GstBus *, GstMessage *message, gpointer data) {
  auto *self = static_cast<Pipeline *>(data);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) {
    const std::lock_guard<std::mutex> lock(self->mutex_);
    self->messages_.emplace_back(gst_message_ref(message));
  }
  return GST_BUS_PASS;
}

GstPadProbeReturn Pipeline::collect(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  auto *self = static_cast<Pipeline *>(data);
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const CapsRef caps(gst_pad_get_current_caps(pad));
  Bytes bytes = samples_of(buffer, caps.get());
  const std::lock_guard<std::mutex> lock(self->mutex_);
  self->outputs_[GST_BUFFER_PTS(buffer)] = std::move(bytes);
  ++self->count_;
  return GST_PAD_PROBE_OK;
}

}  // namespace cudatensor
