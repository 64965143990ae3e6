// SPDX-License-Identifier: LGPL-2.1-or-later
// Splits a frame into the channels that a super-resolution network would compute, combines them
// with cudapixelshuffle, and compares the result with the frame. Writes a picture of the frame at
// half the size, the same enlarged, and the result.
#include <gst/app/app.h>
#include <gst/video/video.h>

#include <cmath>
#include <cstdio>

#include "comparison.h"
#include "pipeline.h"

namespace {

constexpr const char *kUsage =
    "SOURCE - split a frame of SOURCE into channels and combine them with cudapixelshuffle";
constexpr int kFactor = 2, kComponents = Picture::kComponents;

GstFlowReturn keep_first(GstAppSink *sink, gpointer kept) {
  auto *sample = static_cast<Ref<GstSample> *>(kept);
  Ref<GstSample> next(gst_app_sink_pull_sample(sink));
  if (*sample == nullptr) *sample = std::move(next);
  return GST_FLOW_EOS;
}

Picture picture_of(GstSample *sample) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    throw Failure("cannot map a picture");
  Picture picture = {info.width, info.height, {}};
  for (int y = 0; y < info.height; ++y) {
    const auto *row = static_cast<guint8 *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                      static_cast<ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    picture.rgb.insert(picture.rgb.end(), row, row + kComponents * info.width);
  }
  gst_video_frame_unmap(&frame);
  return picture;
}

/// Plays until the appsink `picture` has a picture. `feed` may push buffers to an appsrc.
Picture play_for_picture(const std::string &description,
                         const std::function<void(const Pipeline &)> &feed = nullptr) {
  Ref<GstSample> sample;
  Pipeline pipeline(description);
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = keep_first;
  gst_app_sink_set_callbacks(GST_APP_SINK(pipeline.element("picture").get()), &callbacks, &sample,
                             nullptr);
  if (feed) feed(pipeline);
  pipeline.play();
  if (sample == nullptr) throw Failure("the pipeline produced no frame");
  return picture_of(sample.get());
}

/// Returns the first frame, cropped to even width and height.
Picture first_frame(const std::string &source) {
  const Picture frame = play_for_picture(
      decoder_of(source) + " ! video/x-raw,format=RGB ! appsink name=picture sync=false");
  Picture even = {frame.width / kFactor * kFactor, frame.height / kFactor * kFactor, {}};
  for (int y = 0; y < even.height; ++y) {
    const auto row = frame.rgb.begin() + static_cast<ptrdiff_t>(y) * frame.width * kComponents;
    even.rgb.insert(even.rgb.end(), row, row + even.width * kComponents);
  }
  return even;
}

guint8 as_uint8(guint8 value) { return value; }

/// Returns value/255 as float16, which is 0 or a positive normal number.
guint16 as_float16(guint8 value) {
  int exponent = 0;
  const double mantissa = std::frexp(value / 255.0, &exponent);  // 0, or in [0.5, 1)
  if (value == 0) return 0;
  return static_cast<guint16>(((exponent + 13) << 10) + std::lround(mantissa * 2048));
}

/// Rearranges space to depth: a sample goes to channel c·4 + 2·(y mod 2) + x mod 2, at half the
/// coordinates.
template <class Element>
std::vector<Element> split(const Picture &picture, Element (*convert)(guint8)) {
  std::vector<Element> tensor;
  for (int channel = 0; channel < kComponents * kFactor * kFactor; ++channel) {
    const int c = channel / (kFactor * kFactor), dy = channel / kFactor % kFactor,
              dx = channel % kFactor;
    for (int y = dy; y < picture.height; y += kFactor)
      for (int x = dx; x < picture.width; x += kFactor)
        tensor.push_back(convert(picture.at(y, x)[c]));
  }
  return tensor;
}

std::string dimensions_of(const Picture &picture) {
  return std::to_string(picture.width / kFactor) + ":" + std::to_string(picture.height / kFactor) +
         ":" + std::to_string(kComponents * kFactor * kFactor) + ":1";
}

template <class Element>
Picture shuffle(const std::vector<Element> &tensor, const std::string &caps) {
  const std::string description =
      "appsrc name=tensors format=time caps=" + quoted(caps) +
      " ! cudapixelshuffle ! video/x-raw,format=RGB ! appsink name=picture sync=false";
  return play_for_picture(description, [&](const Pipeline &pipeline) {
    const Ref<GstElement> source = pipeline.element("tensors");
    GstBuffer *buffer = gst_buffer_new_memdup(tensor.data(), tensor.size() * sizeof(Element));
    GST_BUFFER_PTS(buffer) = 0;
    gst_app_src_push_buffer(GST_APP_SRC(source.get()), buffer);
    gst_app_src_end_of_stream(GST_APP_SRC(source.get()));
  });
}

/// Returns the output of cudapixelshuffle. Throws Failure if it differs from the frame.
template <class Element>
Picture check(const Picture &frame, const char *type, Element (*convert)(guint8)) {
  const std::string dimensions = dimensions_of(frame);
  const std::string caps =
      std::string("other/tensors,format=static,num_tensors=1,framerate=0/1,types=") + type +
      ",dimensions=" + dimensions;
  const Picture picture = shuffle(split(frame, convert), caps);
  const std::string text = std::string(type) + " tensor " + dimensions + " to RGB " +
                           std::to_string(picture.width) + "×" + std::to_string(picture.height);
  if (picture.width != frame.width || picture.height != frame.height || picture.rgb != frame.rgb)
    throw Failure(text + ": differs from the frame");
  std::printf("%-40s  equals the frame in all %zu bytes\n", text.c_str(), frame.rgb.size());
  return picture;
}

void run(int argc, char **argv) {
  const auto [source, png] = parse_with_output(argc, argv, kUsage, "Write the picture to this file",
                                               "super-resolution.png");

  const Picture frame = first_frame(source);
  check(frame, "float16", as_float16);
  const Picture result = check(frame, "uint8", as_uint8);
  const Ref<gchar> name(g_path_get_basename(shown_source(source).c_str()));
  write_comparison(png, std::string(name.get()) + " → cudapixelshuffle", halved(frame), result);
  std::printf("picture: %s\n", png.c_str());
}

}  // namespace

int main(int argc, char **argv) {
  return run_application([&] { run(argc, argv); });
}
