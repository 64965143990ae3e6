// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts the video of a camera, file or URI to tensors for a detector with cudanormalize. Prints
// frames per second, shape, geometry and means, and writes a contact sheet.
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "contactsheet.h"
#include "pipeline.h"
#include "tensor.h"
#include "watcher.h"

namespace {

constexpr const char *kUsage =
    "SOURCE - convert a camera, file or URI to tensors and write a contact sheet";
constexpr size_t kRows = 3;
constexpr const char *kChannelNames[] = {"R", "G", "B"};

/// Returns a pipeline that makes the tensors of Ultralytics' networks: letterboxed as in their
/// code, RGB from 0 to 1, upright as the stream's tags say. Frames are still interlaced if
/// deinterlace does not support their format.
std::string description_of(const std::string &source) {
  return decoder_of(source) +
         " ! cudanormalize name=normalize width=640 height=640 resize-mode=ultralytics"
         " video-direction=auto interlaced=as-progressive ! other/tensors ! appsink name=tensors "
         "sync=false";
}

/// Prints the frames per second while the pipeline plays: in one line of a terminal, otherwise in a
/// new line each second.
class Progress {
 public:
  explicit Progress(const Watcher &watcher) : watcher_(watcher) {}

  void show() {
    const gint64 now = g_get_monotonic_time();
    const guint64 count = watcher_.count();
    if (count == 0 || now < time_ + (terminal_ ? G_USEC_PER_SEC / 5 : G_USEC_PER_SEC)) return;
    if (time_ != 0)
      print(count, static_cast<double>(count - count_) * G_USEC_PER_SEC / (now - time_));
    time_ = now;
    count_ = count;
  }
  void end() const {
    if (terminal_) std::printf("\r%40s\r", "");
  }

 private:
  void print(guint64 count, double speed) const {
    std::printf("%s%8" G_GUINT64_FORMAT " frames  %7.1f frames/s%s", terminal_ ? "\r" : "", count,
                speed, terminal_ ? "" : "\n");
    std::fflush(stdout);
  }

  const Watcher &watcher_;
  const bool terminal_ = isatty(STDOUT_FILENO) != 0;
  gint64 time_ = 0;
  guint64 count_ = 0;
};

std::string format(const char *format, ...) G_GNUC_PRINTF(1, 2);
std::string format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const Ref<gchar> text(g_strdup_vprintf(format, arguments));
  va_end(arguments);
  return text.get();
}

std::string backend_of(GstElement *element) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), "active-backend", &value);
  const Ref<gchar> text(gst_value_serialize(&value));
  g_value_unset(&value);
  return text.get();
}

std::string speed_text(const Watcher &watcher, GstElement *normalize) {
  return format("%" G_GUINT64_FORMAT
                " frames, %.1f frames/s with decoding, %.2f ms per frame in cudanormalize (%s)",
                watcher.count(), watcher.frames_per_second(), watcher.milliseconds_each(),
                backend_of(normalize).c_str());
}

GstVideoInfo video_info_of(const Capture &capture) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, capture.frame_caps.get()))
    throw Failure("the caps of a frame are not valid video caps");
  return info;
}

double seconds_of(const Capture &capture) {
  const GstClockTime pts = GST_BUFFER_PTS(capture.frame.get());
  return GST_CLOCK_TIME_IS_VALID(pts) ? static_cast<double>(pts) / GST_SECOND : 0;
}

std::string picture_text(const Capture &capture) {
  const GstVideoInfo info = video_info_of(capture);
  return format("%d×%d %s", GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info),
                gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)));
}

std::string shape_text(const Tensor &tensor) {
  return format("float32 1×%d×%d×%d", tensor.channels, tensor.height, tensor.width);
}

std::string content_text(const Geometry &geometry) {
  return format("%d×%d at (%d, %d)", geometry.width, geometry.height, geometry.left, geometry.top);
}

/// Returns whether the tensor shows the frame turned or flipped.
bool is_turned(const Geometry &geometry) {
  return geometry.matrix[0] <= 0 || geometry.matrix[4] <= 0;
}

/// Prints how frames of a size are converted. `since`: whether to print the first frame of the
/// size, because there are several sizes.
void print_facts(const Capture &capture, bool since) {
  const Tensor tensor = read_tensor(capture.tensor.get(), capture.tensor_caps.get());
  const Geometry geometry = read_geometry(capture.tensor.get());
  const auto &m = geometry.matrix;
  std::printf("frame    %s", picture_text(capture).c_str());
  if (since) std::printf(", first frame %" G_GUINT64_FORMAT, capture.number);
  std::puts("");
  std::printf("tensor   %s, NCHW, %zu bytes\n", shape_text(tensor).c_str(),
              gst_buffer_get_size(capture.tensor.get()));
  std::printf("content  %s\n", content_text(geometry).c_str());
  std::printf("matrix   %9.6f %9.6f %9.3f   from the frame to the tensor\n", m[0], m[1], m[2]);
  std::printf("         %9.6f %9.6f %9.3f\n\n", m[3], m[4], m[5]);
}

void print_means(const std::vector<Capture> &captures) {
  std::printf("   frame      time   mean R   mean G   mean B\n");
  for (const Capture &capture : captures) {
    const Tensor tensor = read_tensor(capture.tensor.get(), capture.tensor_caps.get());
    std::printf("%8" G_GUINT64_FORMAT " %7.1f s %8.4f %8.4f %8.4f\n", capture.number,
                seconds_of(capture), tensor.mean(0), tensor.mean(1), tensor.mean(2));
  }
}

SheetRow row_of(const Capture &capture) {
  const Tensor tensor = read_tensor(capture.tensor.get(), capture.tensor_caps.get());
  SheetRow row;
  row.geometry = read_geometry(capture.tensor.get());
  row.source = surface_of(capture.frame.get(), video_info_of(capture));
  row.source_caption =
      format("frame %" G_GUINT64_FORMAT ", %.1f s: %s%s", capture.number, seconds_of(capture),
             picture_text(capture).c_str(), is_turned(row.geometry) ? ", as stored" : "");
  row.tensor = surface_of(tensor);
  row.tensor_caption = shape_text(tensor) + ", content " + content_text(row.geometry);
  for (int c = 0; c < tensor.channels; ++c) {
    row.channels.push_back(surface_of_channel(tensor, c));
    row.channel_captions.push_back(format("%s  mean %.2f", kChannelNames[c], tensor.mean(c)));
  }
  return row;
}

void write_sheet(const std::string &path, const std::string &source, const std::string &subtitle,
                 const std::vector<Capture> &captures) {
  std::vector<SheetRow> rows;
  for (const Capture &capture : captures) rows.push_back(row_of(capture));
  const Ref<gchar> name(g_path_get_basename(shown_source(source).c_str()));
  write_contact_sheet(path, std::string(name.get()) + " → cudanormalize → tensor", subtitle, rows);
  std::printf("contact sheet: %s\n", path.c_str());
}

void show(const std::vector<Capture> &captures, const std::string &path, const std::string &source,
          const std::string &speed) {
  std::printf("%s\n\n", speed.c_str());
  const auto of_first_size = [&](const Capture &capture) {
    return picture_text(capture) == picture_text(captures.front());
  };
  const bool changed = !std::all_of(captures.begin(), captures.end(), of_first_size);
  for (const Capture &capture : captures) {
    print_facts(capture, changed);
    if (!changed) break;
  }
  print_means(captures);
  write_sheet(path, source, speed, captures);
}

void run(int argc, char **argv) {
  const auto [source, path] = parse_with_output(
      argc, argv, kUsage, "Write the contact sheet to this file", "camera-to-tensor.png");

  Watcher watcher;
  Progress progress(watcher);
  Pipeline pipeline(description_of(source));
  const Ref<GstElement> normalize = pipeline.element("normalize");
  watcher.watch(normalize.get(), GST_APP_SINK(pipeline.element("tensors").get()));
  std::string failure;
  try {
    pipeline.play(nullptr, [&] { progress.show(); });
  } catch (const Failure &why) {
    failure = why.what();  // the results up to the failure are shown
  }
  progress.end();

  const std::vector<Capture> captures = watcher.take_captures(kRows);
  if (captures.empty())
    throw Failure(failure.empty() ? "'" + shown_source(source) + "' sent no frame" : failure);
  show(captures, path, source, speed_text(watcher, normalize.get()));
  if (!failure.empty()) throw Failure(failure);
}

}  // namespace

int main(int argc, char **argv) {
  return run_application([&] { run(argc, argv); });
}
