// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes a crop of the first frame, resized in fixed-point arithmetic by cudanv12toyuv444, as PNG.
#include <gst/app/gstappsink.h>

#include <cstdio>

#include "pipeline.h"

namespace {

constexpr const char *kUsage = "SOURCE - resize and crop the first frame in fixed-point arithmetic";

std::string description_of(const std::string &source) {
  return decoder_of(source) +
         " ! videoconvert ! video/x-raw,format=NV12 ! cudanv12toyuv444 resize-width=1024 "
         "resize-height=768 crop-x=192 crop-y=144 ! video/x-raw,width=640,height=480 ! "
         "videoconvert ! pngenc snapshot=true ! appsink name=picture "
         "wait-on-eos=false sync=false";
}

/// Writes the picture. The file keeps its former contents until the picture is complete.
void write_file(const std::string &path, GstSample *sample) {
  GstMapInfo map;
  if (!gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ))
    throw Failure("cannot map the picture");
  GError *error = nullptr;
  g_file_set_contents(path.c_str(), reinterpret_cast<const gchar *>(map.data),
                      static_cast<gssize>(map.size), &error);
  gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
  const Ref<GError> owned(error);
  if (error != nullptr) throw Failure(error->message);
}

void run(int argc, char **argv) {
  const Arguments arguments =
      parse_with_output(argc, argv, kUsage, "Write the crop to this file", "fixed-point.png");
  Pipeline pipeline(description_of(arguments.source));
  pipeline.play();
  const Ref<GstElement> sink = pipeline.element("picture");
  const Ref<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), 0));
  if (sample == nullptr) throw Failure("'" + shown_source(arguments.source) + "' sent no frame");
  write_file(arguments.output, sample.get());
  std::printf("Wrote the crop of 640x480 at (192, 144) in 1024x768: %s\n",
              arguments.output.c_str());
}

}  // namespace

int main(int argc, char **argv) {
  return run_application([&] { run(argc, argv); });
}
