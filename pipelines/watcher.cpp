// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watcher.h"

#include <algorithm>
#include <utility>

namespace {

constexpr size_t kMostCaptures = 12;
/// The maximum number of sizes and formats of a camera that are kept.
constexpr size_t kMostKinds = 6;

bool are_of_a_kind(GstCaps *a, GstCaps *b) {
  const GstStructure *first = gst_caps_get_structure(a, 0), *second = gst_caps_get_structure(b, 0);
  for (const char *field : {"width", "height", "format"})
    if (gst_value_compare(gst_structure_get_value(first, field),
                          gst_structure_get_value(second, field)) != GST_VALUE_EQUAL)
      return false;
  return true;
}

}  // namespace

void Watcher::watch(GstElement *element, GstAppSink *sink) {
  const Ref<GstPad> pad(gst_element_get_static_pad(element, "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, on_frame, this, nullptr);
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = on_tensor;
  gst_app_sink_set_callbacks(sink, &callbacks, this, nullptr);
}

double Watcher::frames_per_second() const {
  return last_ > first_ ? static_cast<double>(count_ - 1) * G_USEC_PER_SEC / (last_ - first_) : 0;
}

double Watcher::milliseconds_each() const {
  return count_ > 0 ? static_cast<double>(busy_) / 1000 / count_ : 0;
}

GstPadProbeReturn Watcher::on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer self) {
  auto *watcher = static_cast<Watcher *>(self);
  watcher->frame_.reset(gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
  watcher->frame_caps_.reset(gst_pad_get_current_caps(pad));
  watcher->frame_time_ = g_get_monotonic_time();
  return GST_PAD_PROBE_OK;
}

GstFlowReturn Watcher::on_tensor(GstAppSink *sink, gpointer self) {
  auto *watcher = static_cast<Watcher *>(self);
  watcher->count_tensor();
  const Ref<GstSample> sample(gst_app_sink_pull_sample(sink));
  if (sample == nullptr) return GST_FLOW_EOS;
  const std::lock_guard<std::mutex> lock(watcher->mutex_);
  if ((watcher->count_ - 1) % watcher->stride_ == 0) watcher->keep(sample.get());
  watcher->keep_first_of_kind(sample.get());
  watcher->frame_.reset();
  return GST_FLOW_OK;
}

void Watcher::count_tensor() {
  last_ = g_get_monotonic_time();
  if (count_ == 0) first_ = last_.load();
  busy_ += last_ - frame_time_;
  ++count_;
}

Capture Watcher::capture(GstSample *sample) const {
  return {count_ - 1, Ref<GstBuffer>(gst_buffer_copy_deep(frame_.get())),
          Ref<GstBuffer>(gst_buffer_copy_deep(gst_sample_get_buffer(sample))),
          Ref<GstCaps>(gst_caps_ref(frame_caps_.get())),
          Ref<GstCaps>(gst_caps_ref(gst_sample_get_caps(sample)))};
}

void Watcher::keep(GstSample *sample) {
  captures_.push_back(capture(sample));
  if (captures_.size() < kMostCaptures) return;
  stride_ *= 2;
  for (size_t i = 0; 2 * i < captures_.size(); ++i) std::swap(captures_[i], captures_[2 * i]);
  captures_.resize(captures_.size() / 2);
}

void Watcher::keep_first_of_kind(GstSample *sample) {
  const auto known = [&](const Capture &kind) {
    return are_of_a_kind(kind.frame_caps.get(), frame_caps_.get());
  };
  if (kinds_.size() < kMostKinds && std::none_of(kinds_.begin(), kinds_.end(), known))
    kinds_.push_back(capture(sample));
}

std::vector<Capture> Watcher::take_captures(size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (kinds_.size() > 1) return std::exchange(kinds_, {});
  std::vector<Capture> taken;
  count = std::min(count, captures_.size());
  for (size_t i = 0; i < count; ++i)
    taken.push_back(
        std::move(captures_[count == 1 ? 0 : i * (captures_.size() - 1) / (count - 1)]));
  captures_.clear();
  return taken;
}
