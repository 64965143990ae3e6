// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rig.h"

#include "backend.h"

namespace cudatensor {
namespace {

CapsRef parse_caps(const std::string &text) {
  CapsRef caps(gst_caps_from_string(text.c_str()));
  if (!caps) {
    ADD_FAILURE() << "no caps: " << text;
    caps.reset(gst_caps_new_empty());
  }
  return caps;
}

}  // namespace

ElementRef make_element(const std::string &description) {
  const bool chain = description.find('!') != std::string::npos;
  GError *error = nullptr;
  GstElement *element = chain ? gst_parse_bin_from_description(description.c_str(), TRUE, &error)
                              : gst_parse_launch_full(description.c_str(), nullptr,
                                                      GST_PARSE_FLAG_FATAL_ERRORS, &error);
  EXPECT_EQ(error, nullptr) << description << ": " << error->message;
  g_clear_error(&error);
  // No test can continue without its plugin.
  if (element == nullptr) g_error("no element: %s", description.c_str());
  choose_backend(element);
  return ElementRef(static_cast<GstElement *>(gst_object_ref_sink(element)));
}

std::string property_of(GstElement *element, const char *property) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), property, &value);
  gchar *text = gst_value_serialize(&value);
  const std::string result = text != nullptr ? text : "";
  g_free(text);
  g_value_unset(&value);
  return result;
}

void forget_caps(GstPad *pad) {
  const auto drop = [](GstPad *, GstEvent **event, gpointer) -> gboolean {
    if (GST_EVENT_TYPE(*event) == GST_EVENT_CAPS) gst_event_replace(event, nullptr);
    return TRUE;
  };
  gst_pad_sticky_events_foreach(pad, drop, nullptr);
}

Rig::Rig(const std::string &description, GstBusSyncHandler answer, gpointer data) {
  const ElementRef element = make_element(description);
  if (answer != nullptr) gst_bus_set_sync_handler(messages_.bus(), answer, data, nullptr);
  // Set before the harness starts the element, because a failing start posts messages.
  gst_element_set_bus(element.get(), messages_.bus());
  harness_ = gst_harness_new_with_element(element.get(), "sink", "src");
}

Rig::~Rig() {
  const ElementRef element(static_cast<GstElement *>(gst_object_ref(harness_->element)));
  gst_harness_teardown(harness_);
  gst_element_set_bus(element.get(), nullptr);
}

void Rig::set(const char *property, const std::string &value) {
  gst_util_set_object_arg(G_OBJECT(element()), property, value.c_str());
}

void Rig::downstream(const std::string &caps) {
  gst_harness_set_sink_caps(harness_, parse_caps(caps).release());
}

bool Rig::caps(const std::string &text) {
  const CapsRef caps = parse_caps(text);
  event(gst_event_new_caps(caps.get()));
  if (!has_segment_) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    event(gst_event_new_segment(&segment));
    has_segment_ = true;
  }
  // Pushing a sticky event always succeeds; the pad keeps only what its element took.
  PadRef pad(gst_element_get_static_pad(element(), "sink"));
  const CapsRef taken(gst_pad_get_current_caps(pad.get()));
  return taken && gst_caps_is_equal(taken.get(), caps.get());
}

bool Rig::event(GstEvent *event) { return gst_harness_push_event(harness_, event) != FALSE; }

GstFlowReturn Rig::push(BufferRef buffer) { return gst_harness_push(harness_, buffer.release()); }

BufferRef Rig::pull() { return BufferRef(gst_harness_try_pull(harness_)); }

std::vector<MessageRef> Rig::histograms(size_t expected) {
  // Unexpected messages come soon.
  const gulong patience = is_asynchronous(element()) ? 20000 : 0;
  return messages_.elements("cudahistogram", expected, patience);
}

BufferRef Rig::process(BufferRef buffer) {
  EXPECT_EQ(push(std::move(buffer)), GST_FLOW_OK);
  for (const ElementError &error : messages_.errors()) ADD_FAILURE() << error.text;
  BufferRef out = pull();
  EXPECT_NE(out, nullptr);
  EXPECT_EQ(pull(), nullptr) << "more than one buffer";
  return out ? std::move(out) : BufferRef(gst_buffer_new());
}

CapsRef output_caps_of(GstElement *element) {
  PadRef pad(gst_element_get_static_pad(element, "src"));
  return CapsRef(gst_pad_get_current_caps(pad.get()));
}

std::string output_of(GstElement *element, const char *field) {
  const CapsRef caps = output_caps_of(element);
  const GValue *value =
      caps ? gst_structure_get_value(gst_caps_get_structure(caps.get(), 0), field) : nullptr;
  if (value == nullptr) return "";
  if (G_VALUE_HOLDS_STRING(value)) return g_value_get_string(value);
  gchar *text = gst_value_serialize(value);
  const std::string result = text;
  g_free(text);
  return result;
}

testing::AssertionResult mentions(const std::string &text, const std::string &part) {
  gchar *low_text = g_ascii_strdown(text.c_str(), -1),
        *low_part = g_ascii_strdown(part.c_str(), -1);
  const bool found = strstr(low_text, low_part) != nullptr;
  g_free(low_text);
  g_free(low_part);
  if (found) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << text << "\" does not mention \"" << part << "\"";
}

void expect_error(Rig &rig, BufferRef buffer, const std::string &cause) {
  EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_ERROR);
  EXPECT_EQ(rig.pull(), nullptr) << "an output in spite of the error";
  const std::vector<ElementError> errors = rig.messages().errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].source, GST_OBJECT_NAME(rig.element()));
  EXPECT_TRUE(mentions(errors[0].text, cause));
}

namespace {

/// Pushes a buffer and checks that the element treats it as a faulty frame.
void push_fault(Rig &rig, BufferRef buffer) {
  GstBuffer *const pushed = buffer.get();
  EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK);
  const bool passes = g_str_has_prefix(GST_OBJECT_NAME(rig.element()), "cudahistogram");
  EXPECT_EQ(rig.pull().get(), passes ? pushed : nullptr);
  EXPECT_TRUE(rig.messages().errors().empty());
}

}  // namespace

void expect_fault(Rig &rig, BufferRef buffer, const std::string &cause) {
  push_fault(rig, std::move(buffer));
  const std::vector<std::string> warnings = rig.messages().warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(mentions(warnings[0], cause));
}

void expect_silent_fault(Rig &rig, BufferRef buffer) {
  push_fault(rig, std::move(buffer));
  EXPECT_TRUE(rig.messages().warnings().empty());
}

std::string expect_refusal(Rig &rig, const std::string &caps, const BufferRef &buffer,
                           Error::Code code) {
  rig.caps(caps);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(rig.push(BufferRef(gst_buffer_copy(buffer.get()))), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(rig.pull(), nullptr) << "an output in spite of the refusal";
  const auto errors = rig.messages().errors();
  EXPECT_LE(errors.size(), 1u) << "more than one error";
  if (errors.empty()) return "";
  const bool expected = code == Error::Code::input
                            ? errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)
                            : errors[0].is(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS);
  EXPECT_TRUE(expected) << errors[0].text;
  return errors[0].text;
}

Bytes output_bytes(const std::string &description, const std::string &in_caps, BufferRef buffer,
                   const std::string &out_caps) {
  Rig rig(description);
  rig.downstream(out_caps);
  EXPECT_TRUE(rig.caps(in_caps)) << description << ": " << in_caps << " to " << out_caps;
  return bytes_of(rig.process(std::move(buffer)).get());
}

Picture output_picture(const std::string &description, const std::string &in_caps, BufferRef buffer,
                       const ImageDesc &out, const std::string &more) {
  Rig rig(description);
  rig.downstream(video_caps(out, more));
  EXPECT_TRUE(rig.caps(in_caps)) << description << ": " << in_caps << " to " << text_of(out);
  return picture_of(rig.process(std::move(buffer)).get(), out);
}

}  // namespace cudatensor
