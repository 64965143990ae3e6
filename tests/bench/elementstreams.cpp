// SPDX-License-Identifier: LGPL-2.1-or-later
#include "elementstreams.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <stdexcept>

#include "elementtables.h"

namespace {

// Frames of each stream before the measurement, after which the pools are full.
constexpr uint64_t kWarmUp = 150;

// # stands for the number of the stream.
#define DECODER "nvh264dec ! video/x-raw(memory:CUDAMemory)"
#define DEEPSTREAM "nvv4l2decoder"
#define ELEMENT                                                                                 \
  " ! cudanormalize name=subject# backend=cuda width=640 height=640 resize-mode=ultralytics ! " \
  "other/tensors(memory:CUDAMemory)"
const char *const kDecoder = DECODER;
const char *const kWithElement = DECODER ELEMENT;

struct Chain {
  const char *name, *elements;
};
const Chain kChains[] = {
    {"nvh264dec", DECODER},
    {"nvh264dec, cudanormalize", DECODER ELEMENT},
    {"nvv4l2decoder", DEEPSTREAM},
    {"nvv4l2decoder, cudanormalize", DEEPSTREAM ELEMENT},
    {"nvv4l2decoder, nvvideoconvert to RGBA of 640×640",
     DEEPSTREAM " ! nvvideoconvert interpolation-method=1 ! "
                "video/x-raw(memory:NVMM),format=RGBA,width=640,height=640"},
};

[[noreturn]] void fail(GstMessage *message) {
  GError *error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const std::string what = error->message;
  g_error_free(error);
  gst_message_unref(message);
  throw std::runtime_error(what);
}

class Pipeline {
 public:
  explicit Pipeline(const std::string &line) {
    GError *error = nullptr;
    pipeline_ = gst_parse_launch(line.c_str(), &error);
    if (error != nullptr) throw std::runtime_error(error->message);
    gst_object_ref_sink(pipeline_);
  }
  ~Pipeline() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(pipeline_);
  }
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  GstElement *get() const { return pipeline_; }
  void play() const { gst_element_set_state(pipeline_, GST_STATE_PLAYING); }

  void check() const {
    GstBus *bus = gst_element_get_bus(pipeline_);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    gst_object_unref(bus);
    if (message != nullptr) fail(message);
  }

  /// A borrowed pointer; null if there is no such element.
  GstElement *find(const std::string &name) const {
    GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline_), name.c_str());
    if (element != nullptr) gst_object_unref(element);
    return element;
  }

 private:
  GstElement *pipeline_;
};

/// The clip's compressed pictures.
class Clip {
 public:
  explicit Clip(const std::string &file) {
    const Pipeline pipeline("filesrc location=" + file +
                            " ! qtdemux ! h264parse ! "
                            "video/x-h264,stream-format=byte-stream,alignment=au ! "
                            "appsink name=sink sync=false");
    pipeline.play();
    auto *sink = GST_APP_SINK(pipeline.find("sink"));
    while (GstSample *sample = gst_app_sink_pull_sample(sink)) samples_.push_back(sample);
    pipeline.check();
    if (samples_.empty()) throw std::runtime_error(file + " has no frames");
  }
  ~Clip() {
    for (GstSample *sample : samples_) gst_sample_unref(sample);
  }
  Clip(const Clip &) = delete;
  Clip &operator=(const Clip &) = delete;

  GstCaps *caps() const { return gst_sample_get_caps(samples_[0]); }
  /// A copy of frame `number` of the repeated clip.
  GstBuffer *frame(uint64_t number) const {
    const uint64_t round = number / samples_.size();
    GstBuffer *copy = gst_buffer_copy(gst_sample_get_buffer(samples_[number % samples_.size()]));
    const GstClockTime shift = round * samples_.size() * GST_SECOND / 10;
    if (GST_BUFFER_PTS_IS_VALID(copy)) GST_BUFFER_PTS(copy) += shift;
    if (GST_BUFFER_DTS_IS_VALID(copy)) GST_BUFFER_DTS(copy) += shift;
    return copy;
  }

 private:
  std::vector<GstSample *> samples_;
};

/// Feeds one decoder and counts the frames that reach the sink. One thread does both.
class Branch {
 public:
  Branch(const Pipeline &pipeline, const Clip &clip, int number);

  uint64_t frames() const { return frames_; }
  double cpu_seconds() const {
    clockid_t clock;
    if (pthread_getcpuclockid(thread_, &clock) != 0)
      throw std::runtime_error("cannot read the CPU clock of a streaming thread");
    return seconds_on(clock);
  }

 private:
  static void feed(GstAppSrc *source, guint, gpointer self);
  static GstPadProbeReturn count(GstPad *, GstPadProbeInfo *, gpointer self);
  static GstPadProbeReturn enter(GstPad *pad, GstPadProbeInfo *, gpointer);
  static void probe(GstElement *element, const char *pad, GstPadProbeCallback callback,
                    gpointer data);

  const Clip &clip_;
  uint64_t fed_ = 0;
  pthread_t thread_ = {};  // before the first frame is counted
  std::atomic<uint64_t> frames_{0};
};

Branch::Branch(const Pipeline &pipeline, const Clip &clip, int number) : clip_(clip) {
  const std::string id = std::to_string(number);
  auto *source = GST_APP_SRC(pipeline.find("source" + id));
  GstAppSrcCallbacks callbacks = {};
  callbacks.need_data = feed;
  gst_app_src_set_caps(source, clip.caps());
  gst_app_src_set_callbacks(source, &callbacks, this, nullptr);
  probe(pipeline.find("sink" + id), "sink", count, this);
  GstElement *subject = pipeline.find("subject" + id);
  if (subject == nullptr) return;
  probe(subject, "sink", enter, nullptr);
  probe(subject, "src", enter, nullptr);
}

void Branch::probe(GstElement *element, const char *name, GstPadProbeCallback callback,
                   gpointer data) {
  GstPad *pad = gst_element_get_static_pad(element, name);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, data, nullptr);
  gst_object_unref(pad);
}

void Branch::feed(GstAppSrc *source, guint, gpointer self) {
  auto &branch = *static_cast<Branch *>(self);
  gst_app_src_push_buffer(source, branch.clip_.frame(branch.fed_++));
}

GstPadProbeReturn Branch::count(GstPad *, GstPadProbeInfo *, gpointer self) {
  auto &branch = *static_cast<Branch *>(self);
  if (branch.frames_ == 0) branch.thread_ = pthread_self();
  ++branch.frames_;
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn Branch::enter(GstPad *pad, GstPadProbeInfo *, gpointer) {
  inside_element = GST_PAD_IS_SINK(pad);
  return GST_PAD_PROBE_OK;
}

struct Rates {
  double frames = 0.0;       ///< per second
  double cpu = 0.0;          ///< µs per frame, of the streaming thread
  double process_cpu = 0.0;  ///< µs per frame, of all threads
  uint64_t counted = 0;      ///< frames
};

/// Streams that run until the object is destroyed.
class Streams {
 public:
  Streams(const Clip &clip, int count, const std::string &chain);

  /// The rates of all streams together, measured over `seconds`.
  Rates measure(double seconds) const;

 private:
  static std::string line(int count, const std::string &chain);
  static GstContext *&context();
  void wait_for(uint64_t frames) const;
  void sleep(double seconds) const;

  std::vector<std::unique_ptr<Branch>> branches_;  // must outlive the threads of the pipeline
  Pipeline pipeline_;
};

std::string Streams::line(int count, const std::string &chain) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    const std::string id = std::to_string(i);
    std::string own = chain;
    if (const size_t at = own.find('#'); at != std::string::npos) own.replace(at, 1, id);
    all += "appsrc format=time name=source" + id + " ! " + own +
           " ! fakesink sync=false enable-last-sample=false name=sink" + id + " ";
  }
  return all;
}

/// The context of the first pipeline. The next pipelines use it, so they need not create another.
GstContext *&Streams::context() {
  static GstContext *context = nullptr;
  return context;
}

Streams::Streams(const Clip &clip, int count, const std::string &chain)
    : pipeline_(line(count, chain)) {
  for (int i = 0; i < count; ++i) branches_.push_back(std::make_unique<Branch>(pipeline_, clip, i));
  if (context() != nullptr) gst_element_set_context(pipeline_.get(), context());
  pipeline_.play();
  wait_for(kWarmUp);
  if (context() == nullptr)
    context() = gst_element_get_context(pipeline_.get(), "gst.cuda.context");
}

void Streams::sleep(double seconds) const {
  const double end = seconds_on(CLOCK_MONOTONIC) + seconds;
  while (seconds_on(CLOCK_MONOTONIC) < end) {
    usleep(10000);
    pipeline_.check();
  }
}

void Streams::wait_for(uint64_t frames) const {
  const double end = seconds_on(CLOCK_MONOTONIC) + 60.0;
  for (const auto &branch : branches_)
    while (branch->frames() < frames) {
      if (seconds_on(CLOCK_MONOTONIC) > end)
        throw std::runtime_error("a decoder produces no frames");
      sleep(0.01);
    }
}

Rates Streams::measure(double seconds) const {
  std::vector<uint64_t> frames;
  std::vector<double> cpu;
  for (const auto &branch : branches_) cpu.push_back(branch->cpu_seconds());
  for (const auto &branch : branches_) frames.push_back(branch->frames());
  const double begin = seconds_on(CLOCK_MONOTONIC), process = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
  sleep(seconds);
  const double passed = seconds_on(CLOCK_MONOTONIC) - begin;
  Rates rates;
  for (size_t i = 0; i < branches_.size(); ++i) rates.counted += branches_[i]->frames() - frames[i];
  for (size_t i = 0; i < branches_.size(); ++i) rates.cpu += branches_[i]->cpu_seconds() - cpu[i];
  rates.frames = static_cast<double>(rates.counted) / passed;
  rates.cpu *= 1e6 / static_cast<double>(rates.counted);
  rates.process_cpu =
      (seconds_on(CLOCK_PROCESS_CPUTIME_ID) - process) * 1e6 / static_cast<double>(rates.counted);
  return rates;
}

/// The results of the rounds, with the decoder alone and with the element in turn.
struct Pairs {
  std::vector<double> alone, with, ratio, cpu_alone, cpu_with, cpu_element;
};

Pairs measure_pairs(const Clip &clip, int count, int rounds, double seconds) {
  Pairs pairs;
  for (int i = 0; i < rounds; ++i) {
    const Rates alone = Streams(clip, count, kDecoder).measure(seconds);
    const Rates with = Streams(clip, count, kWithElement).measure(seconds);
    pairs.alone.push_back(alone.frames);
    pairs.with.push_back(with.frames);
    pairs.ratio.push_back(with.frames / alone.frames);
    pairs.cpu_alone.push_back(alone.cpu);
    pairs.cpu_with.push_back(with.cpu);
    pairs.cpu_element.push_back(with.cpu - alone.cpu);
  }
  return pairs;
}

void print_work(const Trace &trace, uint64_t frames) {
  std::vector<double> kernels, gaps;
  std::map<uint32_t, uint64_t> last_end;  // by stream
  uint64_t busy = 0;
  for (const Trace::Work &work : trace.work()) {
    busy += work.end - work.begin;
    const auto before = last_end.find(work.stream);
    if (work.own) kernels.push_back(static_cast<double>(work.end - work.begin) / 1000.0);
    if (work.own && before != last_end.end())
      gaps.push_back((static_cast<double>(work.begin) - before->second) / 1000.0);
    last_end[work.stream] = work.end;
  }
  if (trace.work().empty()) return;
  const auto span = trace.work().back().end - trace.work().front().begin;
  printf(
      "\ncudanormalize launches %s kernels per frame. A kernel runs for %s µs and begins %s µs "
      "after the previous work on its stream has ended. Kernels and copies take %.1f %% of the "
      "time.\n",
      per_frame(kernels.size(), frames).c_str(), spread(kernels).c_str(), spread(gaps).c_str(),
      100.0 * static_cast<double>(busy) / static_cast<double>(span));
}

}  // namespace

void measure_streams(const std::string &file, bool quick) {
  const Clip clip(file);
  printf(
      "\n| streams | decoder, frames/s | with cudanormalize, frames/s | ratio | share of linear "
      "scaling | decoder, CPU µs per frame | with cudanormalize, CPU µs per frame | difference, µs "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n");
  double one = 0.0;
  for (const int count : {1, 2, 4, 8}) {
    const Pairs pairs = measure_pairs(clip, count, quick ? 1 : 5, quick ? 0.5 : 1.5);
    if (count == 1) one = median(pairs.with);
    printf("| %d | %.0f | %.0f | %s | %.3f | %.1f | %.1f | %s |\n", count, median(pairs.alone),
           median(pairs.with), spread(pairs.ratio, "%.3f").c_str(),
           median(pairs.with) / (count * one), median(pairs.cpu_alone), median(pairs.cpu_with),
           spread(pairs.cpu_element, "%.1f").c_str());
  }
}

void trace_streams(const std::string &file, Trace &trace) {
  const Clip clip(file);
  std::map<std::string, Trace::Calls> calls[2];
  uint64_t frames[2] = {};
  for (const bool with_element : {false, true}) {
    const Streams streams(clip, 1, with_element ? kWithElement : kDecoder);
    trace.begin();
    frames[with_element] = streams.measure(1.0).counted;
    trace.end();
    calls[with_element] = trace.calls();
  }
  printf(
      "\n| driver calls per frame | decoder | with cudanormalize | within cudanormalize |\n"
      "|---|---|---|---|\n");
  for (const auto &[name, with] : calls[1])
    printf("| %s | %s | %s | %s |\n", name.c_str(),
           per_frame(calls[0][name].all, frames[0]).c_str(), per_frame(with.all, frames[1]).c_str(),
           per_frame(with.inside, frames[1]).c_str());
  print_work(trace, frames[1]);
}

namespace {

bool is_installed(const Chain &chain) {
  const std::string elements = chain.elements;
  GstElementFactory *factory =
      gst_element_factory_find(elements.substr(0, elements.find(' ')).c_str());
  if (factory != nullptr) gst_object_unref(factory);
  return factory != nullptr;
}

struct GpuWork {
  double kernels = 0.0, kernel_time = 0.0, copies = 0.0, copy_time = 0.0;  ///< per frame; µs
};

GpuWork work_per_frame(const Trace &trace, uint64_t frames) {
  GpuWork sum;
  for (const Trace::Work &work : trace.work()) {
    const double time = static_cast<double>(work.end - work.begin) / 1000.0;
    (work.kernel ? sum.kernels : sum.copies) += 1.0 / static_cast<double>(frames);
    (work.kernel ? sum.kernel_time : sum.copy_time) += time / static_cast<double>(frames);
  }
  return sum;
}

void trace_chain(const Clip &clip, const Chain &chain, int count, Trace &trace) {
  const Streams streams(clip, count, chain.elements);
  trace.begin();
  const uint64_t frames = streams.measure(1.0).counted;
  trace.end();
  const GpuWork work = work_per_frame(trace, frames);
  printf("| %s | %d | %.2f | %.2f | %.2f | %.2f |\n", chain.name, count, work.kernels,
         work.kernel_time, work.copies, work.copy_time);
}

void time_chain(const Clip &clip, const Chain &chain, int count, int rounds, double seconds) {
  std::vector<double> frames, cpu;
  for (int i = 0; i < rounds; ++i) {
    const Rates rates = Streams(clip, count, chain.elements).measure(seconds);
    frames.push_back(rates.frames);
    cpu.push_back(rates.process_cpu);
  }
  printf("| %s | %d | %s | %s |\n", chain.name, count, spread(frames, "%.0f").c_str(),
         spread(cpu, "%.1f").c_str());
}

}  // namespace

void measure_chains(const std::string &file, bool quick, Trace *trace) {
  const Clip clip(file);
  printf(trace != nullptr
             ? "\n| chain | streams | kernels per frame | kernel time per frame, µs | copies per "
               "frame | copy time per frame, µs |\n|---|---|---|---|---|---|\n"
             : "\n| chain | streams | frames/s | CPU time of the process per frame, µs "
               "|\n|---|---|---|---|\n");
  for (const int count : {1, 8})
    for (const Chain &chain : kChains) {
      if (!is_installed(chain)) continue;
      if (trace != nullptr)
        trace_chain(clip, chain, count, *trace);
      else
        time_chain(clip, chain, count, quick ? 1 : 5, quick ? 0.5 : 1.5);
    }
}
