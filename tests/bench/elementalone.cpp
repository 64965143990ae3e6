// SPDX-License-Identifier: LGPL-2.1-or-later
#include "elementalone.h"

#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "elementtables.h"
#include "gst/util/ref.h"

namespace {

using cudatensor::Ref;

// Fewer launches than a stream can queue, so that no launch waits for the GPU.
constexpr int kBurst = 200;

constexpr const char *kVideo = "video/x-raw%s,format=NV12,width=1920,height=1080,framerate=30/1";
constexpr const char *kHostVideo = "video/x-raw,format=NV12,width=1920,height=1080,framerate=30/1";
constexpr const char *kSurfaces =
    "video/x-raw(memory:NVMM),format=NV12,width=1920,height=1080,framerate=30/1";
constexpr const char *kTensor =
    "other/tensors%s,format=static,num_tensors=1,types=float32,dimensions=480:270:12:1,"
    "framerate=30/1";

struct Subject {
  const char *element;
  const char *input, *output;  ///< caps; %s stands for their memory feature
};

const Subject kSubjects[] = {
    {"capsfilter", kVideo, "ANY"},
    {"cudanormalize width=640 height=640 resize-mode=ultralytics", kVideo, "other/tensors%s"},
    {"cudanormalize width=640 height=640", kHostVideo, "other/tensors%s"},
    {"cudanormalize width=640 height=640 resize-mode=ultralytics", kSurfaces, "other/tensors%s"},
    {"cudahistogram", kSurfaces, "ANY"},
    {"cudaletterbox", kVideo, "video/x-raw%s,format=RGBP,width=640,height=640"},
    {"cudanv12toyuv444 resize-width=1280 resize-height=720", kVideo,
     "video/x-raw%s,width=1280,height=720"},
    {"cudahistogram", kVideo, "ANY"},
    {"cudahistogram interval=0", kVideo, "ANY"},
    {"cudapixelshuffle", kTensor, "other/tensors%s"},
};

std::string label_of(const Subject &subject) {
  const char *memory = subject.input == kHostVideo  ? ", from pinned memory"
                       : subject.input == kSurfaces ? ", from NVMM"
                                                    : "";
  return subject.element + std::string(memory);
}

std::string in_cuda(const char *caps) {
  const std::string text = caps;
  const size_t at = text.find("%s");
  return at == std::string::npos ? text
                                 : text.substr(0, at) + "(memory:CUDAMemory)" + text.substr(at + 2);
}

Ref<GstPad> new_pad(GstPadDirection direction, const std::string &caps_text) {
  const Ref<GstCaps> caps(gst_caps_from_string(caps_text.c_str()));
  GstPadTemplate *pad_template = gst_pad_template_new(direction == GST_PAD_SRC ? "src" : "sink",
                                                      direction, GST_PAD_ALWAYS, caps.get());
  GstPad *pad = gst_pad_new_from_template(pad_template, nullptr);
  gst_object_unref(pad_template);
  gst_object_ref_sink(pad);
  return Ref<GstPad>(pad);
}

/// An element between two pads. All elements share the context that the first one created.
class Rig {
 public:
  explicit Rig(const Subject &subject);
  ~Rig();
  Rig(const Rig &) = delete;
  Rig &operator=(const Rig &) = delete;

  /// A buffer from the pool that the element offers upstream; null if it offers none.
  Ref<GstBuffer> offered_buffer();
  void push(GstBuffer *buffer);
  /// Waits until the last output is complete.
  void wait() const;

 private:
  static Ref<GstContext> &context();
  static GstFlowReturn keep(GstPad *pad, GstObject *, GstBuffer *buffer);
  void link(const char *name, GstPad *pad) const;
  void start();

  Ref<GstElement> element_;
  Ref<GstPad> src_, sink_;
  Ref<GstCaps> caps_;
  Ref<GstBuffer> last_;
  Ref<GstBufferPool> pool_;
  GstClockTime time_ = 0;
};

Ref<GstContext> &Rig::context() {
  static auto *const context = new Ref<GstContext>;
  return *context;
}

Rig::Rig(const Subject &subject)
    : src_(new_pad(GST_PAD_SRC, in_cuda(subject.input))),
      sink_(new_pad(GST_PAD_SINK, in_cuda(subject.output))),
      caps_(gst_caps_from_string(in_cuda(subject.input).c_str())) {
  std::string text = subject.element;
  if (text != "capsfilter") text += " backend=cuda";
  GstElement *element = gst_parse_launch(text.c_str(), nullptr);
  if (element == nullptr) throw std::runtime_error("cannot create the element " + text);
  element_.reset(GST_ELEMENT(gst_object_ref_sink(element)));
  gst_pad_set_chain_function(sink_.get(), keep);
  gst_pad_set_element_private(sink_.get(), this);
  link("sink", src_.get());
  link("src", sink_.get());
  start();
}

Rig::~Rig() {
  gst_element_set_state(element_.get(), GST_STATE_NULL);
  if (pool_) gst_buffer_pool_set_active(pool_.get(), FALSE);
}

void Rig::link(const char *name, GstPad *pad) const {
  const Ref<GstPad> own(gst_element_get_static_pad(element_.get(), name));
  const bool is_source = GST_PAD_IS_SRC(pad);
  gst_pad_link(is_source ? pad : own.get(), is_source ? own.get() : pad);
  gst_pad_set_active(pad, TRUE);
}

void Rig::start() {
  if (context()) gst_element_set_context(element_.get(), context().get());
  if (gst_element_set_state(element_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    throw std::runtime_error("the element does not start; check that a GPU is usable");
  if (!context()) context().reset(gst_element_get_context(element_.get(), "gst.cuda.context"));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(src_.get(), gst_event_new_stream_start("bench"));
  if (!gst_pad_push_event(src_.get(), gst_event_new_caps(caps_.get())))
    throw std::runtime_error("the element rejects its caps");
  gst_pad_push_event(src_.get(), gst_event_new_segment(&segment));
}

GstFlowReturn Rig::keep(GstPad *pad, GstObject *, GstBuffer *buffer) {
  static_cast<Rig *>(gst_pad_get_element_private(pad))->last_.reset(buffer);
  return GST_FLOW_OK;
}

Ref<GstBuffer> Rig::offered_buffer() {
  const Ref<GstQuery> query(gst_query_new_allocation(caps_.get(), TRUE));
  if (!gst_pad_peer_query(src_.get(), query.get()) ||
      gst_query_get_n_allocation_pools(query.get()) == 0)
    return nullptr;
  GstBufferPool *pool = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &pool, nullptr, nullptr, nullptr);
  pool_.reset(pool);
  GstBuffer *buffer = nullptr;
  gst_buffer_pool_set_active(pool, TRUE);
  gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr);
  return Ref<GstBuffer>(buffer);
}

void Rig::push(GstBuffer *buffer) {
  GST_BUFFER_PTS(buffer) = time_;
  time_ += GST_SECOND / 30;
  inside_element = true;
  const GstFlowReturn flow = gst_pad_push(src_.get(), gst_buffer_ref(buffer));
  inside_element = false;
  if (flow != GST_FLOW_OK) throw std::runtime_error(gst_flow_get_name(flow));
}

void Rig::wait() const {
  GstMapInfo map;
  if (gst_buffer_map(last_.get(), &map, GST_MAP_READ)) gst_buffer_unmap(last_.get(), &map);
}

/// A frame as DeepStream makes it; null if it is not installed.
Ref<GstBuffer> new_surface() {
  const std::string line = std::string("videotestsrc num-buffers=1 ! ") + kHostVideo +
                           " ! nvvideoconvert ! " + kSurfaces + " ! appsink name=sink sync=false";
  const Ref<GstElementFactory> converter(gst_element_factory_find("nvvideoconvert"));
  if (!converter) return nullptr;
  const Ref<GstElement> pipeline(gst_parse_launch(line.c_str(), nullptr));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Ref<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  GstSample *sample = gst_app_sink_pull_sample(GST_APP_SINK(sink.get()));
  Ref<GstBuffer> frame(sample != nullptr ? gst_buffer_ref(gst_sample_get_buffer(sample)) : nullptr);
  if (sample != nullptr) gst_sample_unref(sample);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return frame;
}

struct Cost {
  std::vector<double> cpu, wall, allocations;  ///< per frame, for each burst
};

void burst(Rig &rig, GstBuffer *buffer, Cost &cost) {
  const uint64_t allocated = allocations();
  const double cpu = seconds_on(CLOCK_THREAD_CPUTIME_ID), wall = seconds_on(CLOCK_MONOTONIC);
  for (int i = 0; i < kBurst; ++i) rig.push(buffer);
  cost.cpu.push_back((seconds_on(CLOCK_THREAD_CPUTIME_ID) - cpu) * 1e6 / kBurst);
  cost.wall.push_back((seconds_on(CLOCK_MONOTONIC) - wall) * 1e6 / kBurst);
  cost.allocations.push_back(static_cast<double>(allocations() - allocated) / kBurst);
  rig.wait();
}

void print_row(const Subject &subject, const Cost &cost) {
  printf("| %s | %s | %.2f | %.2f |\n", label_of(subject).c_str(), spread(cost.cpu).c_str(),
         median(cost.wall), median(cost.allocations));
}

void print_calls(const Subject &subject, const Trace &trace, int frames) {
  std::string names;
  for (const auto &[name, calls] : trace.calls())
    if (calls.all * 100 >= static_cast<uint64_t>(frames))
      names += (names.empty() ? "" : ", ") + per_frame(calls.all, frames) + " " + name;
  std::vector<double> kernels, gaps;
  const auto &work = trace.work();
  for (size_t i = 0; i < work.size(); ++i) {
    if (!work[i].kernel) continue;
    kernels.push_back(static_cast<double>(work[i].end - work[i].begin) / 1000.0);
    if (i > 0 && work[i - 1].kernel && work[i - 1].stream == work[i].stream)
      gaps.push_back((static_cast<double>(work[i].begin) - work[i - 1].end) / 1000.0);
  }
  printf("| %s | %s | %s | %s | %s |\n", label_of(subject).c_str(), names.c_str(),
         per_frame(kernels.size(), frames).c_str(), spread(kernels).c_str(), spread(gaps).c_str());
}

void measure(const Subject &subject, GstBuffer *given, int bursts, Trace *trace) {
  Rig rig(subject);
  const Ref<GstBuffer> own = rig.offered_buffer();
  GstBuffer *buffer = own ? own.get() : given;
  Cost cost;
  for (int i = 0; i < 2; ++i) burst(rig, buffer, cost);  // the element allocates what it keeps
  cost = {};
  if (trace != nullptr) trace->begin();
  for (int i = 0; i < bursts; ++i) burst(rig, buffer, cost);
  if (trace != nullptr) trace->end();
  if (trace == nullptr)
    print_row(subject, cost);
  else
    print_calls(subject, *trace, bursts * kBurst);
}

}  // namespace

void measure_alone(const std::string &only, int bursts, Trace *trace) {
  // Provides frames for the elements that offer no pool, and the context for all elements.
  Rig donor(kSubjects[1]);
  const Ref<GstBuffer> frame = donor.offered_buffer();
  if (!frame) throw std::runtime_error("cudanormalize offers no pool");
  if (trace == nullptr)
    printf("\n| element | CPU time, µs | elapsed time, µs | allocations |\n|---|---|---|---|\n");
  else
    printf(
        "\n| element | driver calls | kernels | kernel time, µs | gap between kernels, µs |\n"
        "|---|---|---|---|---|\n");
  const Ref<GstBuffer> surface = new_surface();
  for (const Subject &subject : kSubjects) {
    GstBuffer *given = subject.input == kSurfaces ? surface.get() : frame.get();
    if (given != nullptr && std::string(subject.element).rfind(only, 0) == 0)
      measure(subject, given, bursts, trace);
  }
}
