// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudahistogram
 * @title: cudahistogram
 *
 * Counts the luminance of the pictures that pass, untouched, and posts one element message an
 * interval, named `cudahistogram`: the histogram, mean, standard deviation, percentiles and the
 * shares of clipped pixels.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=60 ! cudahistogram interval=500000000 ! autovideosink
 * ]|
 * Prints two messages for each second of video.
 *
 * Since: 0.1
 */
#include "elements.h"
#include "errors.h"
#include "filter.h"
#include "histogramaccumulator.h"
#include "histogramworker.h"
#include "videocaps.h"

GST_DEBUG_CATEGORY_STATIC(cudahistogram_debug);

struct GstCudaHistogram {
  GstCudaTensorFilter parent;
};
struct GstCudaHistogramClass {
  GstCudaTensorFilterClass parent_class;
};
G_DEFINE_TYPE(GstCudaHistogram, gst_cuda_histogram, GST_TYPE_CUDA_TENSOR_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudahistogram, "cudahistogram", GST_RANK_NONE,
                            gst_cuda_histogram_get_type())

namespace cudatensor {
namespace {

struct Settings {
  guint64 interval = GST_SECOND / 10;
  bool post_messages = true;
  std::vector<int> roi;
};

const Properties<Settings> &properties() {
  static const Properties<Settings> table = [] {
    Properties<Settings> t;
    t.add(uint64_property("interval", "Interval",
                          "Time that one message sums up, in nanoseconds; 0 = every buffer",
                          GST_SECOND / 10),
          Effect::next_frame, [](Settings &s) -> guint64 & { return s.interval; });
    t.add(bool_property("post-messages", "Post messages",
                        "Post element messages; where off, nothing is counted", true),
          Effect::next_frame, [](Settings &s) -> bool & { return s.post_messages; });
    t.add(int_list_property("roi", "Region of interest",
                            "<x,y,width,height> in pixels, clipped to the frame; empty = the "
                            "whole frame (default)"),
          Effect::next_frame, [](Settings &s) -> std::vector<int> & { return s.roi; });
    return t;
  }();
  return table;
}

Rect rect_of(const std::vector<int> &roi, const ImageDesc &image) {
  if (roi.empty()) return {0, 0, image.width, image.height};
  if (roi.size() != 4)
    throw Error(Error::Code::settings,
                "roi has " + std::to_string(roi.size()) + " values; it needs four or none");
  return clip_roi({roi[0], roi[1], roi[2], roi[3]}, image.width, image.height);
}

bool same(const HistogramParams &a, const HistogramParams &b) {
  return a.in.format == b.in.format && a.in.width == b.in.width && a.in.height == b.in.height &&
         a.roi.x == b.roi.x && a.roi.y == b.roi.y && a.roi.width == b.roi.width &&
         a.roi.height == b.roi.height;
}

/// Black and white of the caps, in bins.
ClipLevels clip_levels(const GstVideoInfo &info) {
  const bool limited =
      GST_VIDEO_INFO_IS_YUV(&info) && info.colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255;
  return limited ? ClipLevels{16, 235} : ClipLevels{0, 255};
}

/// A frame as it was when it passed; its bins may come later.
struct CountedFrame {
  FrameTime time;
  ClipLevels levels;
  std::vector<int> roi_property;
  std::optional<Rect> roi;  // clipped to the frame; nothing for whole frames
  guint64 interval;
};

/// Adds frames to intervals and posts those that are complete. Frames come from one thread at a
/// time.
class IntervalPoster {
 public:
  explicit IntervalPoster(GstElement *element) : element_(element) {}

  void add(const CountedFrame &frame, const Bins &bins) {
    // Another region ends the interval: a message speaks of one.
    const bool same_region = roi_property_ == frame.roi_property;
    if (!same_region || !accumulator_.takes(frame.time, frame.interval)) post();
    roi_property_ = frame.roi_property;
    accumulator_.add(bins, frame.levels, frame.time, frame.roi);
    if (frame.interval == 0 || !GST_CLOCK_TIME_IS_VALID(frame.time.timestamp)) post();
  }

  /// Without the object lock.
  void post() {
    if (accumulator_.empty()) return;
    gst_element_post_message(element_,
                             gst_message_new_element(GST_OBJECT(element_), accumulator_.take()));
  }

  void discard() { accumulator_.discard(); }

 private:
  GstElement *element_;
  std::vector<int> roi_property_;  // of the frames in the accumulator
  HistogramAccumulator accumulator_;
};

using BufferRef = std::shared_ptr<GstBuffer>;

BufferRef keep(GstBuffer *buffer) { return {gst_buffer_ref(buffer), gst_buffer_unref}; }

class Histogram final : public FilterWith<Settings> {
 public:
  explicit Histogram(GstBaseTransform *element)
      : FilterWith(element, properties()), poster_(GST_ELEMENT(element)) {}

  GstCaps *transform_caps(GstPadDirection, GstCaps *caps) override { return gst_caps_ref(caps); }
  GstCaps *fixate_caps(GstPadDirection, GstCaps *, GstCaps *othercaps) override {
    return gst_caps_fixate(othercaps);
  }
  void set_caps(GstCaps *in, GstCaps *) override { info_ = parse_video_caps(in); }
  gsize input_size() const override { return info_.size; }
  gsize output_size() const override { return info_.size; }

  void prepare(Backend &backend) override {
    const Settings &s = latched();
    if (!s.post_messages) {
      release();
      return poster_.discard();
    }
    const ImageDesc image = image_desc_of(info_);
    const HistogramParams params = {image, rect_of(s.roi, image)};
    // Not for another interval: on a GPU it would wait.
    if (!operation_ || !same(params, counted_)) operation_ = backend.histogram(params);
    counted_ = params;
    roi_ = s.roi.empty() ? std::nullopt : std::optional<Rect>(params.roi);
  }

  void release() override {
    worker_.reset();
    operation_.reset();
  }

  void process(Engine &engine, GstBuffer *in, GstBuffer *) override {
    if (!operation_) return;
    const CountedFrame frame = {time_of(in), clip_levels(info_), latched().roi, roi_,
                                latched().interval};
    if (engine.cuda() != nullptr) return count_later(*engine.cuda(), in, frame);
    Bins bins;
    {
      const VideoMap source(info_, in, GST_MAP_READ);
      operation_->run(source.constant(), bins);
    }
    poster_.add(frame, bins);
  }

  bool has_failed() const override { return failed_; }

  void on_event(GstEvent *event) override {
    const bool end = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
    const bool flush = GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP;
    if (!end && !flush) return;
    drain();
    if (end) poster_.post();
    if (flush) poster_.discard();
  }
  void on_stop() override {
    drain();
    poster_.discard();
    failed_ = false;
  }

 private:
  void count_later(CudaEngine &cuda, GstBuffer *in, const CountedFrame &frame);
  void queue(CudaEngine &cuda, GstBuffer *in, const CountedFrame &frame);
  FrameTime time_of(GstBuffer *buffer) const;

  /// The frames that passed have been added.
  void drain() {
    if (worker_) worker_->drain();
  }

  GstVideoInfo info_ = {};
  std::unique_ptr<HistogramOperation> operation_;
  HistogramParams counted_ = {};  // what the operation was made for
  std::optional<Rect> roi_;
  IntervalPoster poster_;
  std::unique_ptr<HistogramWorker> worker_;  // for CUDA; while it has work, the poster is its
  std::atomic<bool> failed_{false};
};

void Histogram::count_later(CudaEngine &cuda, GstBuffer *in, const CountedFrame &frame) {
  if (!worker_) {
    worker_ = std::make_unique<HistogramWorker>(cuda.context(), [this](const Error &error) {
      failed_ = true;
      report(error);
    });
  }
  queue(cuda, in, frame);
}

void Histogram::queue(CudaEngine &cuda, GstBuffer *in, const CountedFrame &frame) {
  PendingBins pending = worker_->take();
  CudaFrame work(cuda, in, nullptr);
  {
    const VideoMap source(info_, in, work.input_flags());
    operation_->run(work.luminance(source.constant()), pending.bins(), work.stream());
    work.finish();
  }
  pending.ready->record(work.stream());
  const BufferRef kept = work.needs_input() ? keep(in) : nullptr;
  worker_->push(std::move(pending),
                [this, frame, kept](const Bins &bins) { poster_.add(frame, bins); });
}

FrameTime Histogram::time_of(GstBuffer *buffer) const {
  const GstSegment &segment = element()->segment;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  FrameTime time = {pts, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, GST_BUFFER_DURATION(buffer)};
  if (GST_CLOCK_TIME_IS_VALID(pts) && segment.format == GST_FORMAT_TIME) {
    time.stream_time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts);
    time.running_time = gst_segment_to_running_time(&segment, GST_FORMAT_TIME, pts);
  }
  if (!GST_CLOCK_TIME_IS_VALID(time.duration) && info_.fps_n > 0)
    time.duration = gst_util_uint64_scale(GST_SECOND, info_.fps_d, info_.fps_n);
  return time;
}

Filter *create(GstBaseTransform *element) { return new Histogram(element); }

}  // namespace
}  // namespace cudatensor

static void gst_cuda_histogram_class_init(GstCudaHistogramClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudahistogram_debug, "cudahistogram", 0, "cudahistogram");
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "CUDA histogram", "Filter/Analyzer/Video/Hardware",
      "Posts the luminance histogram of the pictures that pass, and its statistics",
      "The gst-cudatensor developers");
  cudatensor::install_analyzer(
      &klass->parent_class, cudahistogram_debug,
      cudatensor::make_video_template_caps(CUDATENSOR_INPUT_FORMATS ", P010_10LE"),
      cudatensor::create);
  cudatensor::properties().install(G_OBJECT_CLASS(klass), cudatensor::kFirstProperty);
}

static void gst_cuda_histogram_init(GstCudaHistogram *) {}
