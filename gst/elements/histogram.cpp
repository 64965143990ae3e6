// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudahistogram
 * @title: cudahistogram
 *
 * Measures the luminance of pictures and passes them through unchanged. Once per interval it posts
 * an element message named `cudahistogram` with the histogram, mean, standard deviation,
 * percentiles and the fractions of clipped pixels.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=60 ! cudahistogram interval=500000000 ! autovideosink
 * ]|
 * Prints two messages per second of video.
 *
 * Since: 0.1
 */
#include <utility>

#include "gst/base/framepass.h"
#include "gst/base/metadata.h"
#include "gst/base/transformelement.h"
#include "gst/caps/videocaps.h"
#include "gst/elements/elements.h"
#include "gst/elements/histogramaccumulator.h"
#include "gst/elements/histogramworker.h"
#include "gst/util/errors.h"

GST_DEBUG_CATEGORY_STATIC(cudahistogram_debug);

struct GstCudaHistogram {
  GstCudaTensorTransform parent;
};
struct GstCudaHistogramClass {
  GstCudaTensorTransformClass parent_class;
};
G_DEFINE_TYPE(GstCudaHistogram, gst_cuda_histogram, GST_TYPE_CUDA_TENSOR_TRANSFORM)
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
  static const Properties<Settings> &table = immortal([] {
    Properties<Settings> t;
    t.add(uint64_property("interval", "Interval",
                          "Length of the interval that each message covers, in nanoseconds; 0 = "
                          "one message per buffer",
                          G_MAXUINT64, GST_SECOND / 10),
          Effect::next_frame, [](Settings &s) -> guint64 & { return s.interval; });
    t.add(bool_property("post-messages", "Post messages",
                        "Post element messages; if false, no histogram is computed", true),
          Effect::next_frame, [](Settings &s) -> bool & { return s.post_messages; });
    t.add(int_list_property("roi", "Region of interest",
                            "Region to measure, <x,y,width,height> in pixels, clipped to the "
                            "frame; empty = the whole frame (default)"),
          Effect::next_frame, [](Settings &s) -> std::vector<int> & { return s.roi; });
    return t;
  });
  return table;
}

/// Returns the region to count; no value if it lies outside the picture.
std::optional<Rect> rect_of(const std::vector<int> &roi, const ImageDesc &image) {
  if (roi.empty()) return Rect{0, 0, image.width, image.height};
  if (roi.size() != 4)
    throw Error(Error::Code::settings,
                "roi has " + std::to_string(roi.size()) +
                    " values; it must have four (x, y, width, height) or none");
  return clip_roi({roi[0], roi[1], roi[2], roi[3]}, image.width, image.height);
}

bool same(const HistogramParams &a, const HistogramParams &b) {
  return a.in.format == b.in.format && a.in.width == b.in.width && a.in.height == b.in.height &&
         a.roi.x == b.roi.x && a.roi.y == b.roi.y && a.roi.width == b.roi.width &&
         a.roi.height == b.roi.height;
}

/// Returns the bins of black and white for the picture's range.
ClipLevels clip_levels(const Source &source) {
  const bool limited = layout_of(source.image.format).model == ColorModel::yuv &&
                       source.colorimetry.range == ColorRange::limited;
  return limited ? ClipLevels{16, 235} : ClipLevels{0, 255};
}

class Histogram final : public ElementWithSettings<Settings> {
 public:
  explicit Histogram(GstBaseTransform *element) : ElementWithSettings(element, properties()) {}

  GstCaps *transform_caps(GstPadDirection, GstCaps *caps) override { return gst_caps_ref(caps); }
  GstCaps *fixate_caps(GstPadDirection, GstCaps *, GstCaps *othercaps) override {
    return gst_caps_fixate(othercaps);
  }
  void set_caps(GstCaps *in, GstCaps *) override { in_ = parse_single_input_caps(in); }
  gsize input_size() const override { return in_.info.size; }
  gsize output_size() const override { return in_.info.size; }

  void prepare(Backend &backend) override;
  void release() override;
  void process(Session &session, GstBuffer *in, GstBuffer *) override;
  void stop() override;

  /// Waits until the worker has added all counts submitted to it, and holds no frame.
  void drain() {
    if (worker_) worker_->drain();
  }
  /// Returns whether the worker has reported an error, which it does after its frame was passed on.
  bool has_failed() const { return failed_; }
  /// Called before a serialized event is forwarded.
  void before_event(GstEvent *event);

 private:
  [[noreturn]] void throw_outside() const;
  void count(Session &session, GstBuffer *in, const CountedFrames &frame, bool alone);
  void count_later(DeviceSession &device, GstBuffer *in, const CountedFrames &frame, bool alone);
  void start_worker(const DeviceContextRef &context);
  HistogramJob take_counted();
  void hand_over();
  void end_interval();
  void forget();
  FrameTime time_of(GstBuffer *buffer) const;

  /// The caller must not hold the object lock.
  void post();

  InputCaps in_;
  std::unique_ptr<HistogramOperation> operation_;
  HistogramParams params_ = {};  // the parameters of operation_
  bool is_outside_ = false;      // if true, operation_ does not match the region
  std::optional<Rect> roi_;
  HistogramInterval interval_;

  // On a device only: the session, and the frames whose counts are still on the device.
  DeviceSession *device_ = nullptr;
  CountedFrames open_;

  HistogramAccumulator accumulator_;         // used by the worker thread, if there is one
  std::unique_ptr<HistogramWorker> worker_;  // on a device only
  std::atomic<bool> failed_{false};
};

void Histogram::prepare(Backend &backend) {
  const Settings &s = latched();
  if (!s.post_messages) {
    forget();
    return release();
  }
  // Submits the counts of the previous caps and region.
  hand_over();
  const ImageDesc image = in_.source.image;
  const auto region = rect_of(s.roi, image);
  is_outside_ = !region;
  if (is_outside_) return;
  const HistogramParams params = {image, *region};
  // If only the interval has changed, the operation is kept: recreating it would wait for the GPU.
  if (!operation_ || !same(params, params_)) operation_ = backend.histogram(params);
  params_ = params;
  roi_ = s.roi.empty() ? std::nullopt : std::optional<Rect>(params.roi);
}

/// Submits the pending counts, if the device still works.
void Histogram::release() {
  try {
    hand_over();
  } catch (const Error &error) {
    failed_ = true;
    report(error);
  }
  open_ = {};
  device_ = nullptr;
  worker_.reset();
  operation_.reset();
}

void Histogram::process(Session &session, GstBuffer *in, GstBuffer *) {
  const Settings &s = latched();
  if (!s.post_messages) return;
  const FrameTime time = time_of(in);
  if (!interval_.takes(time, s.interval, s.roi)) end_interval();
  if (is_outside_) throw_outside();
  // An interval may still take further frames; a frame alone is complete.
  const bool alone = s.interval == 0 || !GST_CLOCK_TIME_IS_VALID(time.timestamp);
  count(session, in, {1, time, time, clip_levels(source_of(in_, in)), roi_}, alone);
  if (!alone) interval_.add(time, s.roi);
}

/// Throws a fault of the frame only, because the camera may have fallen back to a smaller stream
/// for a time.
void Histogram::throw_outside() const {
  const std::vector<int> &r = latched().roi;
  const ImageDesc &image = in_.source.image;
  throw Error(Error::Code::frame, "roi=<" + std::to_string(r[0]) + "," + std::to_string(r[1]) +
                                      "," + std::to_string(r[2]) + "," + std::to_string(r[3]) +
                                      "> lies outside the picture of " +
                                      std::to_string(image.width) + "x" +
                                      std::to_string(image.height));
}

void Histogram::before_event(GstEvent *event) {
  const bool ends =
      GST_EVENT_TYPE(event) == GST_EVENT_EOS || GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT_DONE;
  if (ends) {
    end_interval();
    drain();
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    hand_over();
    forget();
  }
}

void Histogram::stop() {
  forget();
  failed_ = false;
}

void Histogram::forget() {
  open_ = {};
  interval_.end();
  drain();
  accumulator_.discard();
}

void Histogram::post() {
  if (accumulator_.empty()) return;
  gst_element_post_message(GST_ELEMENT(element()),
                           gst_message_new_element(GST_OBJECT(element()), accumulator_.take()));
}

void Histogram::count(Session &session, GstBuffer *in, const CountedFrames &frame, bool alone) {
  if (DeviceSession *device = session.device_session())
    return count_later(*device, in, frame, alone);
  Bins bins;
  {
    FramePass pass(session);
    const size_t input = pass.add_input(in_, in);
    pass.begin();
    const InputMap source(in_, in, pass.input_flags(input));
    operation_->run(pass.luminance(input, source.constant()), bins);
  }
  accumulator_.add(bins, frame);
  if (alone) post();
}

/// Counts on the device, which keeps the sums until the interval ends. If the frame is an interval of
/// its own, its bins are fetched at once. Surfaces of NVMM need a wait, because downstream may
/// overwrite a surface as soon as it has the buffer.
void Histogram::count_later(DeviceSession &device, GstBuffer *in, const CountedFrames &frame,
                            bool alone) {
  device_ = &device;
  if (!worker_) start_worker(device.context());
  HistogramJob job;
  FramePass pass(device);
  const size_t input = pass.add_input(in_, in);
  pass.begin();
  {
    const InputMap source(in_, in, pass.input_flags(input));
    const ConstImage view = pass.luminance(input, source.constant());
    if (alone) job.bins = worker_->take();
    if (alone)
      operation_->run(view, job.bins.bins(), pass.stream());
    else
      operation_->add(view, pass.stream());
    open_.add(frame);
    if (alone) job.counted = std::exchange(open_, {});
    pass.finish();
  }
  if (in_.in_nvmm)
    device.synchronize();
  else if (pass.is_read_later(input))
    job.input.reset(gst_buffer_ref(in));
  if (!alone && !job.input) return;
  if (!job.bins.ready) job.bins = worker_->take();
  job.bins.ready->record(pass.stream());
  job.ends_interval = alone;
  worker_->push(std::move(job));
}

void Histogram::start_worker(const DeviceContextRef &context) {
  const auto deliver = [this](const HistogramJob &job) {
    if (job.counted.frames > 0) accumulator_.add(job.bins.bins(), job.counted);
    if (job.ends_interval) post();
  };
  const auto failed = [this](const Error &error) {
    failed_ = true;
    report(error);
  };
  worker_ = std::make_unique<HistogramWorker>(context, deliver, failed);
}

/// Queues the copy of the GPU's sums after all pending counts. Enters the session's scope because
/// events are handled outside it.
HistogramJob Histogram::take_counted() {
  if (open_.frames == 0) return {};
  const SessionScope scope(*device_);
  const Stream stream = device_->last_stream();
  HistogramJob job;
  job.bins = worker_->take();
  operation_->take(job.bins.bins(), stream);
  job.counted = std::exchange(open_, {});
  job.bins.ready->record(stream);
  return job;
}

void Histogram::hand_over() {
  if (open_.frames > 0) worker_->push(take_counted());
}

void Histogram::end_interval() {
  interval_.end();
  if (!worker_) return post();
  HistogramJob job = take_counted();
  job.ends_interval = true;
  worker_->push(std::move(job));
}

FrameTime Histogram::time_of(GstBuffer *buffer) const {
  const GstSegment &segment = element()->segment;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  FrameTime time = {pts, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, GST_BUFFER_DURATION(buffer),
                    segment.rate < 0.0};
  if (GST_CLOCK_TIME_IS_VALID(pts) && segment.format == GST_FORMAT_TIME) {
    time.stream_time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts);
    time.running_time = gst_segment_to_running_time(&segment, GST_FORMAT_TIME, pts);
  }
  if (!GST_CLOCK_TIME_IS_VALID(time.duration) && in_.info.fps_n > 0)
    time.duration = gst_util_uint64_scale(GST_SECOND, in_.info.fps_d, in_.info.fps_n);
  return time;
}

TransformElement *create(GstBaseTransform *element) { return new Histogram(element); }

// --- GstBaseTransform, for the counts that are not posted yet -----------------------------------

Histogram &histogram_of(GstBaseTransform *trans) {
  return static_cast<Histogram &>(transform_of(trans));
}

GstBaseTransformClass *parent_class() {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_histogram_parent_class);
}

/// Other threads may send non-serialized events while a frame is being processed.
gboolean sink_event(GstBaseTransform *trans, GstEvent *event) {
  if (GST_EVENT_IS_SERIALIZED(event))
    core_of(trans).errors().guard([&] { histogram_of(trans).before_event(event); });
  return parent_class()->sink_event(trans, event);
}

gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query) {
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE(query) == GST_QUERY_DRAIN)
    histogram_of(trans).drain();
  return parent_class()->query(trans, direction, query);
}

GstFlowReturn submit_input_buffer(GstBaseTransform *trans, gboolean is_discont, GstBuffer *input) {
  if (!histogram_of(trans).has_failed())
    return parent_class()->submit_input_buffer(trans, is_discont, input);
  gst_buffer_unref(input);
  return GST_FLOW_ERROR;
}

void install_overrides(GstBaseTransformClass *klass) {
  klass->sink_event = sink_event;
  klass->query = query;
  klass->submit_input_buffer = submit_input_buffer;
}

}  // namespace
}  // namespace cudatensor

static void gst_cuda_histogram_class_init(GstCudaHistogramClass *klass) {
  GST_DEBUG_CATEGORY_INIT(cudahistogram_debug, "cudahistogram", 0, "cudahistogram");
  cudatensor::set_metadata(GST_ELEMENT_CLASS(klass),
                           {"cudahistogram", "CUDA histogram", "Filter/Analyzer/Video",
                            "Posts luminance histograms and their statistics as element messages"});
  cudatensor::install_analyzer(&klass->parent_class, cudahistogram_debug,
                               cudatensor::make_video_template_caps(cudatensor::input_formats()),
                               cudatensor::create);
  cudatensor::install_overrides(GST_BASE_TRANSFORM_CLASS(klass));
  cudatensor::properties().install(G_OBJECT_CLASS(klass), cudatensor::kFirstProperty);
}

static void gst_cuda_histogram_init(GstCudaHistogram *) {}
