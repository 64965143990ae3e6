// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/framesource.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <utility>

#include "gst/library/frames/decoderorder.h"
#include "gst/library/frames/storedorientation.h"
#include "gst/library/frames/truncation.h"
#include "gst/library/libraryerror.h"
#include "gst/util/log.h"

namespace cudatensor {
namespace {

bool is_camera(const std::string &source) { return source.rfind("/dev/video", 0) == 0; }

/// Returns the path of a file; empty for other sources.
std::string path_of(const std::string &source) {
  if (source.find("://") == std::string::npos) return source;
  if (source.rfind("file://", 0) != 0) return "";
  gchar *path = g_filename_from_uri(source.c_str(), nullptr, nullptr);
  const std::string result = path != nullptr ? path : source;
  g_free(path);
  return result;
}

void check_file(const std::string &source, const std::string &path) {
  if (!g_file_test(path.c_str(), G_FILE_TEST_EXISTS))
    throw LibraryError(GST_CUDA_TENSOR_ERROR_NOT_FOUND, source + ": there is no such file");
  if (g_file_test(path.c_str(), G_FILE_TEST_IS_DIR))
    throw LibraryError(GST_CUDA_TENSOR_ERROR_SOURCE, source + ": is a directory, not a file");
}

bool is_video(GstPad *pad) {
  Ref<GstCaps> caps(gst_pad_get_current_caps(pad));
  if (caps == nullptr) caps.reset(gst_pad_query_caps(pad, nullptr));
  if (gst_caps_is_empty(caps.get()) || gst_caps_is_any(caps.get())) return false;
  const gchar *name = gst_structure_get_name(gst_caps_get_structure(caps.get(), 0));
  return g_str_has_prefix(name, "video/") || g_str_has_prefix(name, "image/");
}

bool is_live(GstPad *pad) {
  const Ref<GstQuery> query(gst_query_new_latency());
  gboolean live = FALSE;
  if (gst_pad_query(pad, query.get()))
    gst_query_parse_latency(query.get(), &live, nullptr, nullptr);
  return live;
}

/// Returns whether the demuxer's seeks land on the random access point before the requested time,
/// and keep the timestamps.
bool has_exact_seeks(GstElement *parser, GstPad *pad) {
  bool is_exact = false;
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(parser));
  const auto look = [](const GValue *item, gpointer found) {
    auto *element = GST_ELEMENT(g_value_get_object(item));
    GstElementFactory *factory = gst_element_get_factory(element);
    const gchar *name = factory != nullptr ? GST_OBJECT_NAME(factory) : "";
    if (g_str_equal(name, "qtdemux") || g_str_equal(name, "matroskademux"))
      *static_cast<bool *>(found) = true;
  };
  gst_iterator_foreach(elements, look, &is_exact);
  gst_iterator_free(elements);
  const Ref<GstQuery> query(gst_query_new_seeking(GST_FORMAT_TIME));
  gboolean seekable = FALSE;
  if (is_exact && gst_pad_query(pad, query.get()))
    gst_query_parse_seeking(query.get(), nullptr, &seekable, nullptr, nullptr);
  return seekable;
}

/// Discards a stream. A sink would make the bin wait for its first buffer.
class UnusedStream final : public FrameStage {
 public:
  /// The streaming thread calls `on_long` when the stream has lasted a minute.
  explicit UnusedStream(std::function<void()> on_long) : on_long_(std::move(on_long)) {}

  GstFlowReturn chain(Ref<GstBuffer> buffer) override {
    const GstClockTime pts = GST_BUFFER_PTS(buffer.get());
    if (!GST_CLOCK_TIME_IS_VALID(pts)) return GST_FLOW_OK;
    if (!GST_CLOCK_TIME_IS_VALID(first_)) first_ = pts;
    if (pts > first_ && pts - first_ > 60 * GST_SECOND && on_long_)
      std::exchange(on_long_, nullptr)();
    return GST_FLOW_OK;
  }
  bool event(Ref<GstEvent>) override { return true; }

 private:
  std::function<void()> on_long_;
  GstClockTime first_ = GST_CLOCK_TIME_NONE;
};

/// Returns whether a demuxer has paused its reading task before it has found a stream.
bool has_stopped(GstElement *parser) {
  bool has_stopped = false;
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(parser));
  const auto look = [](const GValue *item, gpointer found) {
    auto *element = GST_ELEMENT(g_value_get_object(item));
    const Ref<GstPad> sink(gst_element_get_static_pad(element, "sink"));
    const bool is_paused = sink != nullptr && gst_pad_get_task_state(sink.get()) == GST_TASK_PAUSED;
    GST_OBJECT_LOCK(element);
    const bool has_streams = element->numsrcpads > 0;
    GST_OBJECT_UNLOCK(element);
    if (is_paused && !has_streams) *static_cast<bool *>(found) = true;
  };
  gst_iterator_foreach(elements, look, &has_stopped);
  gst_iterator_free(elements);
  return has_stopped;
}

void link(GstPad *from, GstElement *to) {
  GstPad *sink = gst_element_get_static_pad(to, "sink");
  const GstPadLinkReturn linked = gst_pad_link(from, sink);
  gst_object_unref(sink);
  if (GST_PAD_LINK_FAILED(linked))
    GST_ELEMENT_ERROR(to, STREAM, FORMAT, ("the video cannot be decoded"),
                      ("%s", gst_pad_link_get_name(linked)));
}

void require(const char *factory) {
  GstElementFactory *found = gst_element_factory_find(factory);
  if (found == nullptr)
    throw LibraryError(
        GST_CUDA_TENSOR_ERROR_DECODER,
        std::string("there is no element ") + factory + ": a plugin of GStreamer is missing");
  gst_object_unref(found);
}

}  // namespace

bool is_live_source(const std::string &source) {
  return is_camera(source) || source.rfind("rtsp", 0) == 0;
}

bool is_fifo_source(const std::string &source) {
  std::error_code failed;
  return std::filesystem::is_fifo(path_of(source), failed);
}

FrameSource::FrameSource(std::string source, FrameSourceOptions options, OnInfo on_info)
    : source_(std::move(source)),
      options_(std::move(options)),
      on_info_(std::move(on_info)),
      bin_(GST_ELEMENT(gst_object_ref_sink(gst_bin_new(nullptr)))) {
  // Lets the pipeline reach PLAYING while decodebin still waits for a stream.
  g_object_set(bin_, "async-handling", TRUE, nullptr);
  try {
    // Checked now, because these are created later, when streams are found.
    for (const char *factory : {"parsebin", "decodebin"}) require(factory);
    const auto picks = std::make_shared<FramePicks>();
    if (!is_camera(source_)) {
      auto coded = std::make_unique<CodedFrames>(options_.selection, picks, options_.counter);
      coded_ = coded.get();
      coded_->set_on_unused([this] { end_undecoded(); });
      coded_element_ = add(make_stage(std::move(coded)));
    }
    add_frames(picks);
    if (is_camera(source_))
      add_camera();
    else
      add_input();
  } catch (...) {
    gst_object_unref(bin_);
    throw;
  }
}

FrameSource::~FrameSource() {
  gst_object_unref(bin_);
  if (fifo_ >= 0) close(fifo_);
}

void FrameSource::add_frames(std::shared_ptr<FramePicks> picks) {
  shown_element_ = add(make_stage(std::make_unique<ShownFrames>(
      options_.selection, std::move(picks), coded_, options_.counter)));
  queue_ = add("queue");
  g_object_set(queue_, "max-size-buffers", 2, "max-size-bytes", 0, "max-size-time",
               G_GUINT64_CONSTANT(0), nullptr);
  if (options_.counter == nullptr)
    add_given();
  else
    gst_element_link(shown_element_, queue_);
  if (coded_ != nullptr) add_decoder(coded_->src());
}

void FrameSource::add_given() {
  const bool is_auto = options_.direction == GST_VIDEO_ORIENTATION_AUTO;
  const Direction stored = is_auto ? stored_orientation(path_of(source_)) : Direction::identity;
  auto given = std::make_unique<GivenFrames>(options_.taker, options_.direction, stored,
                                             [this](const GstVideoInfo &info) { tell_info(info); });
  gst_element_link_many(shown_element_, add(make_stage(std::move(given))), queue_, nullptr);
  add_output(queue_);
}

GstElement *FrameSource::add(GstElement *element) {
  gst_bin_add(GST_BIN(bin_), element);
  return element;
}

GstElement *FrameSource::add(const char *factory) {
  require(factory);
  return add(gst_element_factory_make(factory, nullptr));
}

GstElement *FrameSource::add_late(const char *factory) {
  GstElement *element = add(factory);
  gst_element_set_locked_state(element, TRUE);
  late_.push_back(element);
  return element;
}

/// Sets the late elements to PLAYING, not to the state of the bin: the bin waits for decodebin,
/// which waits for these elements. The bus has the cause of a failure.
void FrameSource::start(GstClock *clock, GstClockTime base_time) {
  is_started_ = true;
  for (auto late = late_.rbegin(); late != late_.rend(); ++late) {
    gst_element_set_clock(*late, clock);
    gst_element_set_start_time(*late, GST_CLOCK_TIME_NONE);
    gst_element_set_base_time(*late, base_time);
    gst_element_set_locked_state(*late, FALSE);
    gst_element_set_state(*late, GST_STATE_PLAYING);
  }
}

void FrameSource::add_output(GstElement *last) {
  GstPad *src = gst_element_get_static_pad(last, "src");
  gst_element_add_pad(bin_, gst_ghost_pad_new("src", src));
  gst_object_unref(src);
}

void FrameSource::add_input() {
  const std::string path = path_of(source_);
  if (path.empty()) {
    GstElement *input = add_late("urisourcebin");
    g_object_set(input, "uri", source_.c_str(), "use-buffering", FALSE, nullptr);
    g_signal_connect(input, "pad-added", G_CALLBACK(on_source_pad), this);
    return;
  }
  check_file(source_, path);
  if (const auto truncation = find_truncation(path)) {
    truncation_ = *truncation;
    coded_->set_end_warning(truncation_);
  }
  GstElement *input = nullptr;
  if (is_fifo_source(source_)) {
    input = add_fifo(path);
  } else {
    input = add_late("filesrc");
    g_object_set(input, "location", path.c_str(), nullptr);
  }
  GstPad *src = gst_element_get_static_pad(input, "src");
  file_parser_ = add_parser(src);
  gst_object_unref(src);
}

/// Opens the FIFO for an fdsrc. filesrc would open it twice, which ends its writer, and block in
/// open(), which cannot be interrupted.
GstElement *FrameSource::add_fifo(const std::string &path) {
  GstElement *input = add_late("fdsrc");
  fifo_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fifo_ < 0)
    throw LibraryError(GST_CUDA_TENSOR_ERROR_SOURCE, source_ + ": " + g_strerror(errno));
  g_object_set(input, "fd", fifo_, nullptr);
  return input;
}

void FrameSource::add_camera() {
  if (!g_file_test(source_.c_str(), G_FILE_TEST_EXISTS))
    throw LibraryError(GST_CUDA_TENSOR_ERROR_NOT_FOUND, source_ + ": there is no such camera");
  GstElement *input = add_late("v4l2src");
  g_object_set(input, "device", source_.c_str(), nullptr);
  if (!options_.block) gst_util_set_object_arg(G_OBJECT(queue_), "leaky", "downstream");
  GstPad *src = gst_element_get_static_pad(input, "src");
  add_decoder(src);
  gst_object_unref(src);
}

GstElement *FrameSource::add_parser(GstPad *from) {
  GstElement *parser = is_started_ ? add("parsebin") : add_late("parsebin");
  g_signal_connect(parser, "pad-added", G_CALLBACK(on_stream), this);
  g_signal_connect(parser, "drained", G_CALLBACK(on_drained), this);
  link(from, parser);
  if (is_started_) gst_element_set_state(parser, GST_STATE_PLAYING);
  return parser;
}

void FrameSource::add_decoder(GstPad *from) {
  GstElement *decoder = add("decodebin");
  if (options_.gpu < 0)
    g_object_set(decoder, "force-sw-decoders", TRUE, nullptr);
  else
    prefer_decoders_on(decoder, options_.gpu);
  g_signal_connect(decoder, "pad-added", G_CALLBACK(on_decoded), this);
  link(from, decoder);
}

/// Reports the error itself, because parsebin drops the error of a demuxer that fails while
/// parsebin still plugs it.
void FrameSource::check_progress() {
  constexpr gint64 kPatience = G_USEC_PER_SEC;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (has_video_ || file_parser_ == nullptr || !is_started_) return;
    const gint64 now = g_get_monotonic_time();
    if (!has_stopped(file_parser_)) return static_cast<void>(stopped_since_ = 0);
    if (stopped_since_ == 0) stopped_since_ = now;
    if (now - stopped_since_ < kPatience) return;
  }
  GST_ELEMENT_ERROR(bin_, STREAM, DEMUX, ("it ends before its first picture"), (nullptr));
}

/// Sends an empty stream to the shown stage directly, because decodebin would report that a stream
/// has no data.
void FrameSource::end_undecoded() {
  const Ref<GstPad> sink(gst_element_get_static_pad(shown_element_, "sink"));
  gst_pad_send_event(sink.get(), gst_event_new_stream_start("undecoded"));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_send_event(sink.get(), gst_event_new_segment(&segment));
  gst_pad_send_event(sink.get(), gst_event_new_eos());
}

void FrameSource::finish() {
  if (coded_ != nullptr) coded_->wait_for_seeks();
}

void FrameSource::on_source_pad(GstElement *, GstPad *pad, gpointer self) {
  static_cast<FrameSource *>(self)->add_parser(pad);
}

void FrameSource::on_stream(GstElement *parser, GstPad *pad, gpointer self) {
  static_cast<FrameSource *>(self)->take_stream(parser, pad);
}

/// Links without a check of the caps: another stage refuses them with a cause.
void FrameSource::on_decoded(GstElement *, GstPad *pad, gpointer self) {
  const auto *source = static_cast<FrameSource *>(self);
  const Ref<GstPad> sink(gst_element_get_static_pad(source->shown_element_, "sink"));
  gst_pad_link_full(pad, sink.get(), GST_PAD_LINK_CHECK_HIERARCHY);
}

/// Takes the first video and discards all other streams.
void FrameSource::take_stream(GstElement *parser, GstPad *pad) {
  bool takes = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    takes = !has_video_ && is_video(pad);
    has_video_ |= takes;
  }
  if (!takes) {
    GstElement *sink = add(make_stage(std::make_unique<UnusedStream>([this] { check_video(); })));
    gst_element_set_state(sink, GST_STATE_PLAYING);
    return link(pad, sink);
  }
  const bool live = is_live(pad);
  const Ref<GstCaps> caps(gst_pad_query_caps(pad, nullptr));
  const bool may_start_open = starts_at_recovery_points(caps.get(), options_.gpu);
  coded_->set_options({!live, !live && has_exact_seeks(parser, pad), may_start_open});
  if (live && !options_.block) gst_util_set_object_arg(G_OBJECT(queue_), "leaky", "downstream");
  link(pad, coded_element_);
}

/// Checks for a video when the parser is drained, not at the first streams: demuxers may find
/// streams one by one, and RTSP has a parser for each.
void FrameSource::on_drained(GstElement *, gpointer self) {
  static_cast<FrameSource *>(self)->check_video();
}

/// Reports an error if there is no video among the streams of a file.
void FrameSource::check_video() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (has_video_ || is_live_source(source_)) return;
  }
  GST_ELEMENT_ERROR(bin_, STREAM, WRONG_TYPE, ("there is no video in it"), (nullptr));
}

void FrameSource::tell_info(const GstVideoInfo &info) const {
  GstCudaTensorFramesInfo known = {};
  gint64 duration = 0;
  known.width = info.width;
  known.height = info.height;
  known.frame_rate_n = info.fps_n;
  known.frame_rate_d = info.fps_d;
  known.duration = GST_CLOCK_TIME_NONE;
  known.is_live = is_live_source(source_);
  if (coded_ != nullptr &&
      gst_pad_peer_query_duration(coded_->sink(), GST_FORMAT_TIME, &duration) && duration > 0)
    known.duration = static_cast<GstClockTime>(duration);
  on_info_(known);
}

}  // namespace cudatensor
