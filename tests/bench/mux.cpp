// SPDX-License-Identifier: LGPL-2.1-or-later
// bench-mux cpu|cuda
// Measures how long a complete set of live frames takes through cudatensormux, from the push of the
// last frame to the arrival of the batch; on the CPU also the operation alone on the same frames.
// On a GPU, frames are in CUDAMemory, and since GStreamer 1.24 the batch becomes complete later, on
// its stream.
#include <gst/gst.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gst/util/ref.h"
#include "imagenet.h"

namespace {

using namespace cudatensor;

constexpr int kWidth = 1920, kHeight = 1080, kSize = 640;
constexpr int kRounds = 200;
constexpr const char *kVideo =
    ",format=NV12,width=1920,height=1080,framerate=30/1,colorimetry=bt709";

double microseconds(gint64 since) { return static_cast<double>(g_get_monotonic_time() - since); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

gboolean answer_as_live(GstPad *pad, GstObject *parent, GstQuery *query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return gst_pad_query_default(pad, parent, query);
  gst_query_set_latency(query, TRUE, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

/// cudatensormux between live pads and a sink pad that records when batches arrive.
class Rig {
 public:
  Rig(int cameras, bool cuda);
  ~Rig();
  Rig(const Rig &) = delete;
  Rig &operator=(const Rig &) = delete;

  /// Microseconds from the push of the last frame to the batch.
  double batch();

 private:
  static GstFlowReturn arrive(GstPad *pad, GstObject *, GstBuffer *buffer);
  void add_camera();
  GstBuffer *gpu_buffer();
  void push(GstPad *camera, GstClockTime time);

  Ref<GstElement> mux_;
  Ref<GstElement> donor_;
  Ref<GstPad> donor_pad_;
  Ref<GstCaps> caps_;
  Ref<GstBufferPool> pool_;  // of the GPU
  std::vector<Ref<GstPad>> cameras_;
  Ref<GstPad> sink_;
  GstBuffer *frame_ = nullptr;
  GAsyncQueue *arrivals_ = g_async_queue_new();
};

Rig::Rig(int cameras, bool cuda)
    : caps_(gst_caps_from_string(
          ((cuda ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw") + std::string(kVideo))
              .c_str())),
      sink_(GST_PAD(gst_object_ref_sink(gst_pad_new("sink", GST_PAD_SINK)))) {
  GError *error = nullptr;
  const std::string text = "cudatensormux backend=" + std::string(cuda ? "cuda" : "cpu") +
                           " width=" + std::to_string(kSize) + " height=" + std::to_string(kSize) +
                           " resize-mode=ultralytics" +
                           " mean=<0.485,0.456,0.406> std=<0.229,0.224,0.225>";
  GstElement *mux = gst_parse_launch(text.c_str(), &error);
  if (mux == nullptr) throw std::runtime_error(error->message);
  mux_.reset(GST_ELEMENT(gst_object_ref_sink(mux)));
  gst_pad_set_chain_function(sink_.get(), arrive);
  gst_pad_set_element_private(sink_.get(), arrivals_);
  gst_pad_set_active(sink_.get(), TRUE);
  const Ref<GstPad> src(gst_element_get_static_pad(mux, "src"));
  gst_pad_link(src.get(), sink_.get());
  const Ref<GstClock> clock(gst_system_clock_obtain());
  gst_element_set_clock(mux, clock.get());
  gst_element_set_base_time(mux, gst_clock_get_time(clock.get()));
  if (gst_element_set_state(mux, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    throw std::runtime_error("cudatensormux does not start; check that a GPU is usable");
  for (int i = 0; i < cameras; ++i) add_camera();
  frame_ =
      cuda ? gpu_buffer() : gst_buffer_new_allocate(nullptr, kWidth * kHeight * 3 / 2, nullptr);
  gst_buffer_memset(frame_, 0, 100, G_MAXSIZE);
}

Rig::~Rig() {
  gst_element_set_state(mux_.get(), GST_STATE_NULL);
  for (const auto &camera : cameras_) gst_pad_set_active(camera.get(), FALSE);
  g_async_queue_unref(arrivals_);
  gst_buffer_unref(frame_);
  if (pool_) gst_buffer_pool_set_active(pool_.get(), FALSE);
  if (donor_) gst_element_set_state(donor_.get(), GST_STATE_NULL);
}

/// A buffer of the pool that cudanormalize offers: up to GStreamer 1.22.8, cudatensormux offers none.
GstBuffer *Rig::gpu_buffer() {
  GstElement *donor = gst_parse_bin_from_description(
      "cudanormalize backend=cuda ! fakesink async=false", TRUE, nullptr);
  if (donor == nullptr) throw std::runtime_error("cudanormalize is not installed");
  donor_.reset(GST_ELEMENT(gst_object_ref_sink(donor)));
  const Ref<GstContext> context(gst_element_get_context(mux_.get(), "gst.cuda.context"));
  if (context) gst_element_set_context(donor, context.get());
  donor_pad_.reset(GST_PAD(gst_object_ref_sink(gst_pad_new(nullptr, GST_PAD_SRC))));
  const Ref<GstPad> sink(gst_element_get_static_pad(donor, "sink"));
  gst_pad_link(donor_pad_.get(), sink.get());
  gst_pad_set_active(donor_pad_.get(), TRUE);
  gst_element_set_state(donor, GST_STATE_PLAYING);
  gst_pad_push_event(donor_pad_.get(), gst_event_new_stream_start("donor"));
  gst_pad_push_event(donor_pad_.get(), gst_event_new_caps(caps_.get()));
  const Ref<GstQuery> query(gst_query_new_allocation(caps_.get(), TRUE));
  GstBufferPool *pool = nullptr;
  GstBuffer *buffer = nullptr;
  if (gst_pad_peer_query(donor_pad_.get(), query.get()) &&
      gst_query_get_n_allocation_pools(query.get()) > 0)
    gst_query_parse_nth_allocation_pool(query.get(), 0, &pool, nullptr, nullptr, nullptr);
  pool_.reset(pool);
  if (pool != nullptr && gst_buffer_pool_set_active(pool, TRUE))
    gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr);
  if (buffer == nullptr) throw std::runtime_error("cudanormalize offers no buffer pool");
  return buffer;
}

void Rig::add_camera() {
  GstPad *pad = gst_pad_new(nullptr, GST_PAD_SRC);
  cameras_.emplace_back(GST_PAD(gst_object_ref_sink(pad)));
  gst_pad_set_query_function(pad, answer_as_live);
  gst_pad_set_active(pad, TRUE);
  const Ref<GstPad> sink(gst_element_request_pad_simple(mux_.get(), "sink_%u"));
  gst_pad_link(pad, sink.get());
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(pad, gst_event_new_stream_start("camera"));
  gst_pad_push_event(pad, gst_event_new_caps(caps_.get()));
  gst_pad_push_event(pad, gst_event_new_segment(&segment));
}

GstFlowReturn Rig::arrive(GstPad *pad, GstObject *, GstBuffer *buffer) {
  gst_buffer_unref(buffer);
  g_async_queue_push(static_cast<GAsyncQueue *>(gst_pad_get_element_private(pad)),
                     GSIZE_TO_POINTER(g_get_monotonic_time()));
  return GST_FLOW_OK;
}

void Rig::push(GstPad *camera, GstClockTime time) {
  GstBuffer *buffer = gst_buffer_copy(frame_);
  GST_BUFFER_PTS(buffer) = time;
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
  if (gst_pad_push(camera, buffer) != GST_FLOW_OK)
    throw std::runtime_error("cudatensormux rejects a frame");
}

double Rig::batch() {
  const Ref<GstClock> clock(gst_element_get_clock(mux_.get()));
  const GstClockTime time = gst_clock_get_time(clock.get()) - gst_element_get_base_time(mux_.get());
  for (size_t i = 0; i + 1 < cameras_.size(); ++i) push(cameras_[i].get(), time);
  const gint64 last = g_get_monotonic_time();
  push(cameras_.back().get(), time);
  const auto arrival = static_cast<gint64>(GPOINTER_TO_SIZE(g_async_queue_pop(arrivals_)));
  return static_cast<double>(arrival - last);
}

/// Times the operation without the element.
class Alone {
 public:
  explicit Alone(int cameras)
      : backend_(open_cpu_backend(0)),
        params_(imagenet_letterbox(kWidth, kHeight, kSize)),
        frame_(kWidth * kHeight * 3 / 2, 100) {
    params_.out.n = cameras;
    out_.resize(params_.out.bytes() / sizeof(float));
    operation_ = normalize_pictures(
        backend_, std::vector<Source>(static_cast<size_t>(cameras), params_.source), params_);
    const uint8_t *data = frame_.data();
    views_.assign(
        static_cast<size_t>(cameras),
        {params_.source.image, {{data, kWidth}, {data + kWidth * kHeight, kWidth}, {nullptr, 0}}});
  }

  double batch() {
    const gint64 begin = g_get_monotonic_time();
    operation_->run(views_, {params_.out, out_.data()});
    return microseconds(begin);
  }

 private:
  std::unique_ptr<Backend> backend_;
  NormalizeCase params_;
  std::vector<uint8_t> frame_;
  std::vector<float> out_;
  std::vector<ConstImage> views_;
  std::unique_ptr<NormalizePictures> operation_;
};

void compare(int cameras) {
  Rig rig(cameras, false);
  Alone alone(cameras);
  std::vector<double> element, operation;
  for (int i = -20; i < kRounds; ++i) {
    const double through = rig.batch(), without = alone.batch();
    if (i < 0) continue;
    element.push_back(through);
    operation.push_back(without);
  }
  std::vector<double> added;
  for (size_t i = 0; i < element.size(); ++i) added.push_back(element[i] - operation[i]);
  std::printf("| %d | %.0f | %.0f | %.0f |\n", cameras, median(element), median(operation),
              median(added));
}

void time_on_gpu(int cameras) {
  Rig rig(cameras, true);
  std::vector<double> element;
  for (int i = -20; i < kRounds; ++i) {
    const double through = rig.batch();
    if (i >= 0) element.push_back(through);
    // Lets the previous batch complete.
    g_usleep(2000);
  }
  std::printf("| %d | %.0f |\n", cameras, median(element));
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  const std::string where = argc == 2 ? argv[1] : "";
  if (where == "cpu") {
    std::printf(
        "| cameras | last frame to batch, µs | operation alone, µs | added, µs |\n"
        "|---|---|---|---|\n");
    for (const int cameras : {1, 4, 16}) compare(cameras);
  } else if (where == "cuda") {
    std::printf("| cameras | last frame to batch, µs |\n|---|---|\n");
    for (const int cameras : {1, 4, 16, 64}) time_on_gpu(cameras);
  } else {
    std::fputs("usage: bench-mux cpu|cuda\n", stderr);
    return 2;
  }
}
