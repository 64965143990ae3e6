// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/regioncounter.h"

#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace luminance {
namespace {

constexpr const char *kFirst = "histogram";

std::string name_of_hole(size_t number) { return "hole" + std::to_string(number); }

void set_roi(GstElement *element, const Box<size_t> &box) {
  const size_t numbers[] = {box.left, box.top, box.right - box.left, box.bottom - box.top};
  std::string text = "<";
  for (const size_t number : numbers) text += (text.size() > 1 ? "," : "") + std::to_string(number);
  gst_util_set_object_arg(G_OBJECT(element), "roi", (text + ">").c_str());
}

bool has_same_region(const Measurement &a, const Measurement &b) {
  return std::tie(a.roi_x, a.roi_y, a.roi_width, a.roi_height) ==
         std::tie(b.roi_x, b.roi_y, b.roi_width, b.roi_height);
}

/// Returns how many of the pixels a share is: a whole number, but for rounding errors of the share.
guint64 pixels_of(double share, guint64 pixels) {
  return static_cast<guint64>(std::llround(share * static_cast<double>(pixels)));
}

double share_of(guint64 part, guint64 pixels) {
  return pixels > 0 ? static_cast<double>(part) / static_cast<double>(pixels) : 0;
}

}  // namespace

Measurement without(const Measurement &whole, const std::vector<Measurement> &holes) {
  GstCudaTensorHistogram rest = whole;
  guint64 low = pixels_of(whole.clipped_low, whole.pixels);
  guint64 high = pixels_of(whole.clipped_high, whole.pixels);
  for (const Measurement &hole : holes) {
    if (has_same_region(hole, whole)) continue;
    for (size_t i = 0; i < G_N_ELEMENTS(rest.bins); ++i) rest.bins[i] -= hole.bins[i];
    rest.pixels -= hole.pixels;
    low -= pixels_of(hole.clipped_low, hole.pixels);
    high -= pixels_of(hole.clipped_high, hole.pixels);
  }
  rest.clipped_low = share_of(low, rest.pixels);
  rest.clipped_high = share_of(high, rest.pixels);
  Measurement left;
  gst_cuda_tensor_histogram_add(&left, &rest);  // which computes the statistics
  return left;
}

std::string RegionCounter::elements(const Region &region, const std::string &properties) {
  const auto element = [&](const std::string &name) {
    return "cudahistogram " + properties + " name=" + name;
  };
  std::string text = element(kFirst);
  const size_t holes = cutout_of(region).holes.size();
  for (size_t i = 0; i < holes; ++i) text += " ! " + element(name_of_hole(i));
  return text;
}

std::shared_ptr<RegionCounter> RegionCounter::in(GstElement *pipeline, const Region &region) {
  std::shared_ptr<RegionCounter> counter(new RegionCounter(region));
  const auto add = [&](const std::string &name) {
    GstElement *const element = gst_bin_get_by_name(GST_BIN(pipeline), name.c_str());
    counter->elements_.push_back(element);  // which the pipeline keeps
    gst_object_unref(element);
  };
  add(kFirst);
  for (size_t i = 0; i < counter->cutout_.holes.size(); ++i) add(name_of_hole(i));
  counter->counts_.resize(counter->elements_.size());
  if (region.is_whole()) return counter;
  g_autoptr(GstPad) pad = gst_element_get_static_pad(counter->elements_.front(), "sink");
  const auto destroy = [](gpointer kept) {
    delete static_cast<std::shared_ptr<RegionCounter> *>(kept);
  };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event,
                    new std::shared_ptr<RegionCounter>(counter), destroy);
  return counter;
}

GstPadProbeReturn RegionCounter::on_event(GstPad *, GstPadProbeInfo *info, gpointer data) {
  GstEvent *const event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps *caps = nullptr;
  gst_event_parse_caps(event, &caps);
  (*static_cast<std::shared_ptr<RegionCounter> *>(data))->follow(caps);
  return GST_PAD_PROBE_OK;
}

/// Sets the region and the holes for frames of this size. Called before the first of them, on the
/// thread on which frames pass all elements.
void RegionCounter::follow(const GstCaps *caps) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return;  // the elements report it
  const auto width = static_cast<size_t>(GST_VIDEO_INFO_WIDTH(&info)),
             height = static_cast<size_t>(GST_VIDEO_INFO_HEIGHT(&info));
  const Cutout<size_t> pixels = luminance::pixels_of(cutout_, width, height);
  is_empty_ = count_of(pixels) == 0;
  if (is_empty_) {
    GST_ELEMENT_ERROR(elements_.front(), STREAM, FAILED,
                      ("the camera's region and masks leave nothing of a picture of %zu x %zu "
                       "pixels",
                       width, height),
                      (nullptr));
    return;
  }
  set_roi(elements_.front(), pixels.frame);
  for (size_t i = 0; i < pixels.holes.size(); ++i)
    set_roi(elements_[i + 1], pixels.holes[i].is_empty() ? pixels.frame : pixels.holes[i]);
}

std::optional<Measurement> RegionCounter::take(GstMessage *message) {
  const GstObject *const source = GST_MESSAGE_SRC(message);
  size_t number = 0;
  while (number < elements_.size() && GST_OBJECT(elements_[number]) != source) ++number;
  Measurement count;
  if (is_empty_ || number == elements_.size() ||
      !gst_cuda_tensor_histogram_parse(message, &count, nullptr))
    return {};
  if (elements_.size() == 1) return count;
  counts_[number].push_back(std::move(count));
  for (const auto &counts : counts_)
    if (counts.empty()) return {};
  std::vector<Measurement> of_frame;
  for (auto &counts : counts_) {
    of_frame.push_back(std::move(counts.front()));
    counts.pop_front();
  }
  const Measurement whole = std::move(of_frame.front());
  of_frame.erase(of_frame.begin());
  return without(whole, of_frame);
}

}  // namespace luminance
