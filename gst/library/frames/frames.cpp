// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/frames.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gst/caps/tensorcaps.h"
#include "gst/library/buffercount.h"
#include "gst/library/frames/truncation.h"
#include "gst/library/tensor.h"

using namespace cudatensor;

namespace {

[[noreturn]] void refuse(const std::string &text) {
  throw LibraryError(GST_CUDA_TENSOR_ERROR_SETTINGS, text);
}

void check_time(const char *name, double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9)
    refuse(std::string(name) + " is " + std::to_string(seconds) +
           ", but must be from 0 to 1e9 seconds");
}

StreamTime nanoseconds(double seconds) { return std::llround(seconds * GST_SECOND); }

void check(const std::vector<std::string> &sources, const GstCudaTensorFramesOptions &o) {
  if (sources.empty()) refuse("there are no sources");
  check_time("every", o.every);
  if (o.every > 0 && o.every < 1e-6) refuse("every must be 0 or at least 1e-6 seconds");
  if (o.has_start) check_time("start", o.start);
  if (o.has_stop) check_time("stop", o.stop);
  if (o.has_start && o.has_stop && o.stop <= o.start) refuse("stop is not after start");
  const int choices = (o.every > 0) + (o.every_frames > 0) + (o.keyframes != 0) + (o.count > 0);
  if (choices > 1) refuse("only one of every, every_frames, keyframes and count can be set");
  if (o.batch > kMaxSlots)
    refuse("batch is " + std::to_string(o.batch) + ", but must be from 1 to " +
           std::to_string(kMaxSlots));
  if (sources.size() > 1 && o.batch > 1)
    refuse("with several sources, a tensor has one frame of each: batch must be 1");
  for (const std::string &source : sources) {
    if (o.count > 0 && is_live_source(source))
      refuse(source + ": count needs a file, got a live source");
    if (o.count > 0 && is_fifo_source(source))
      refuse(source + ": count needs a file that can be read twice, got a FIFO");
  }
}

GstVideoOrientationMethod direction_of(const gchar *nick) {
  if (nick == nullptr) return GST_VIDEO_ORIENTATION_AUTO;
  auto *type = static_cast<GEnumClass *>(g_type_class_ref(GST_TYPE_VIDEO_ORIENTATION_METHOD));
  const GEnumValue *found = g_enum_get_value_by_nick(type, nick);
  const int value = found != nullptr ? found->value : GST_VIDEO_ORIENTATION_CUSTOM;
  g_type_class_unref(type);
  if (value == GST_VIDEO_ORIENTATION_CUSTOM)
    refuse(std::string("video_direction is ") + nick +
           ", but must be auto, identity, 90r, 180, 90l, horiz, vert, ul-lr or ur-ll");
  return static_cast<GstVideoOrientationMethod>(value);
}

int device_number(const std::string &device) {
  if (device.rfind("cuda:", 0) != 0) return device == "cuda" || device == "auto" ? 0 : -1;
  gint64 number = 0;
  if (!g_ascii_string_to_signed(device.c_str() + 5, 10, 0, 1023, &number, nullptr)) return -1;
  return static_cast<int>(number);
}

GParamSpec *spec_of(GstElement *element, const std::string &name) {
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name.c_str());
  if (spec == nullptr || (spec->flags & G_PARAM_WRITABLE) == 0)
    refuse(std::string(GST_OBJECT_NAME(gst_element_get_factory(element))) + " has no property " +
           name);
  return spec;
}

/// Returns whether the whole text is a number. GStreamer reads an empty text as 0 and ignores what
/// follows a number.
bool is_number(const std::string &text) {
  gchar *end = nullptr;
  const double value = g_ascii_strtod(text.c_str(), &end);
  return text == "min" || text == "max" ||
         (end != text.c_str() && *end == '\0' && std::isfinite(value));
}

bool is_numeric(GType type) {
  return g_type_is_a(type, G_TYPE_INT) || g_type_is_a(type, G_TYPE_UINT) ||
         g_type_is_a(type, G_TYPE_INT64) || g_type_is_a(type, G_TYPE_UINT64) ||
         g_type_is_a(type, G_TYPE_FLOAT) || g_type_is_a(type, G_TYPE_DOUBLE);
}

/// Sets a property from text as gst-launch-1.0 does, but throws if the text is wrong.
void set_property(GstElement *element, const std::string &name, const std::string &text) {
  GParamSpec *spec = spec_of(element, name);
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  const bool is_text = spec->value_type == G_TYPE_STRING;
  if (is_text) g_value_set_string(&value, text.c_str());
  const bool may_be_read = !is_numeric(spec->value_type) || is_number(text);
  const bool is_read =
      is_text || (may_be_read && gst_value_deserialize_with_pspec(&value, text.c_str(), spec));
  const bool is_changed = is_read && !is_text && g_param_value_validate(spec, &value);
  if (is_read && !is_changed) g_object_set_property(G_OBJECT(element), name.c_str(), &value);
  g_value_unset(&value);
  if (!is_read || is_changed) refuse(name + " cannot be " + text);
}

}  // namespace

_GstCudaTensorFrames::_GstCudaTensorFrames(std::vector<std::string> sources,
                                           const GstCudaTensorFramesOptions &options,
                                           Properties properties)
    : sources_(std::move(sources)),
      options_(options),
      device_(options.device != nullptr ? options.device : "auto"),
      properties_(std::move(properties)),
      inbox_(make_inbox()) {
  check(sources_, options_);
  if (device_ != "cpu" && device_number(device_) < 0)
    refuse("device is " + device_ + ", but must be auto, cpu, cuda or cuda:NUMBER");
  const GstVideoOrientationMethod direction = direction_of(options_.video_direction);
  source_options_.resize(sources_.size());
  for (FrameSourceOptions &each : source_options_)
    each = {selection(), options_.block != FALSE, nullptr, device_number(device_), maker_name(),
            direction};
  if (options_.count > 0)
    start_counting();
  else
    start_tensors();
}

std::shared_ptr<FrameInbox> _GstCudaTensorFrames::make_inbox() const {
  const bool drops =
      !options_.block && std::all_of(sources_.begin(), sources_.end(), is_live_source);
  return std::make_shared<FrameInbox>(drops);
}

FrameSelection _GstCudaTensorFrames::selection() const {
  FrameSelection selection;
  using Kind = FrameSelection::Kind;
  if (options_.every > 0) {
    selection.kind = Kind::period;
    selection.period = options_.every * GST_SECOND;
  } else if (options_.every_frames > 0) {
    selection.kind = Kind::step;
    selection.step = options_.every_frames;
  } else if (options_.keyframes) {
    selection.kind = Kind::keyframes;
  }
  if (options_.has_start) selection.start = nanoseconds(options_.start);
  if (options_.has_stop) selection.stop = nanoseconds(options_.stop);
  return selection;
}

void _GstCudaTensorFrames::start_counting() {
  std::vector<FrameSourceOptions> options = source_options_;
  for (FrameSourceOptions &each : options) {
    counters_.push_back(std::make_unique<FrameCounter>([inbox = inbox_] { inbox->end(); }));
    each.counter = counters_.back().get();
  }
  pipeline_ = std::make_unique<FramePipeline>(sources_, options, inbox_);
  is_counting_ = true;
  pipeline_->start();
}

GstCaps *_GstCudaTensorFrames::accepted_caps() const {
  const bool may_be_host = device_ == "cpu" || device_ == "auto";
  const bool may_be_device = device_ != "cpu";
  std::string text = may_be_device ? "other/tensors(memory:CUDAMemory)" : "";
  if (may_be_host) text += (text.empty() ? "" : ";") + std::string("other/tensors");
  return gst_caps_from_string(text.c_str());
}

Ref<GstElement> _GstCudaTensorFrames::make_maker() const {
  const bool muxes = sources_.size() > 1;
  const char *factory = maker_name();
  GstElement *maker = gst_element_factory_make(factory, nullptr);
  if (maker == nullptr)
    refuse(std::string("there is no element ") + factory +
           ": the plugin cudatensor is not in GStreamer's plugin path");
  Ref<GstElement> owner(GST_ELEMENT(gst_object_ref_sink(maker)));
  if (muxes && options_.every > 0)
    g_object_set(maker, "window", static_cast<guint64>(options_.every * GST_SECOND / 2), nullptr);
  // Also a batch of 1 has priority over the file of a video model.
  if (!muxes) g_object_set(maker, "frames-per-tensor", std::max(options_.batch, 1u), nullptr);
  const char *backend = device_ == "cpu" ? "cpu" : device_ == "auto" ? "auto" : "cuda";
  gst_util_set_object_arg(G_OBJECT(maker), "backend", backend);
  if (device_ != "cpu" && device_ != "auto")
    g_object_set(maker, "cuda-device-id", device_number(device_), nullptr);
  g_object_set(maker, "qos", FALSE, nullptr);
  for (const auto &[name, value] : properties_) {
    if (name == "video-direction")
      refuse("video-direction is no property here, but the option video_direction");
    if (name == "layout" && value == "ncthw")
      refuse("layout cannot be ncthw: the frames of a batch are its first dimension");
    set_property(maker, name, value);
  }
  return owner;
}

/// Shares the primary context, in which consumers work.
void _GstCudaTensorFrames::share_context(GstElement *pipeline) const {
  if (device_ == "cpu") return;
  GError *error = nullptr;
  if (gst_cuda_tensor_share_primary_context(pipeline, device_number(device_), &error)) return;
  const LibraryError failure(GST_CUDA_TENSOR_ERROR_NO_CUDA, error->message);
  g_error_free(error);
  if (device_ != "auto") throw failure;
}

void _GstCudaTensorFrames::start_tensors() {
  auto pipeline = std::make_unique<FramePipeline>(sources_, source_options_, inbox_);
  share_context(pipeline->element());
  pipeline->add_tensors(make_maker(), accepted_caps());
  pipeline_ = std::move(pipeline);
  is_counting_ = false;
  pipeline_->start();
}

/// Starts the second pipeline when the frames are counted.
void _GstCudaTensorFrames::advance() {
  const std::lock_guard<std::mutex> lock(lifecycle_);
  if (!is_counting_ || is_closed_) return;
  if (counts_buffers_) earlier_buffers_ = 1 + cudatensor::count_buffers(pipeline_->element());
  pipeline_.reset();
  for (size_t i = 0; i < sources_.size(); ++i)
    counters_[i]->select(options_.count, source_options_[i].selection);
  inbox_ = make_inbox();
  try {
    start_tensors();
  } catch (const LibraryError &failure) {
    is_counting_ = false;
    inbox_->report({failure.code(), failure.what(), -1});
  }
}

GstCudaTensor *_GstCudaTensorFrames::make_tensor(FrameInbox::Tensor tensor) const {
  return new GstCudaTensor(tensor.buffer.get(), tensor.caps.get(),
                           sources_.size() == 1 ? TensorSlots::of_frames : TensorSlots::of_batch);
}

namespace {

[[noreturn]] void fail(const FrameInbox::PipelineError &error) {
  throw LibraryError(error.code, error.text);
}

}  // namespace

/// Returns the error of a pipeline that has ended without a frame.
FrameInbox::PipelineError _GstCudaTensorFrames::emptiness() const {
  const auto seconds = [](double value) {
    std::array<char, G_ASCII_DTOSTR_BUF_SIZE> text = {};
    return std::string(g_ascii_formatd(text.data(), text.size(), "%.9g", value)) + " s";
  };
  std::string text = options_.keyframes ? "no key frame" : "no frame";
  if (options_.has_start) text += " from " + seconds(options_.start);
  if (options_.has_stop)
    text += (options_.has_start ? " to " : " before ") + seconds(options_.stop);
  if (options_.has_start && !options_.has_stop) text += " on";
  const bool is_one = sources_.size() == 1;
  const bool is_range = options_.has_start || options_.has_stop;
  return {is_range ? GST_CUDA_TENSOR_ERROR_NO_FRAMES : GST_CUDA_TENSOR_ERROR_FORMAT,
          is_one ? sources_[0] + ": it has " + text : "the sources have " + text, is_one ? 0 : -1};
}

void _GstCudaTensorFrames::check_progress() {
  const std::lock_guard<std::mutex> lock(lifecycle_);
  if (pipeline_ != nullptr) pipeline_->check_progress();
}

template <class Done>
std::shared_ptr<FrameInbox> _GstCudaTensorFrames::wait(GstClockTime timeout, const Done &is_done) {
  constexpr GstClockTime kSlice = GST_SECOND / 2;
  for (GstClockTime left = timeout;;) {
    std::shared_ptr<FrameInbox> inbox;
    bool counting = false, ended = false, done = false;
    {
      const std::lock_guard<std::mutex> lock(lifecycle_);
      inbox = inbox_;
      counting = is_counting_;
    }
    const GstClockTime slice = std::min<GstClockTime>(left, kSlice);
    const bool has_changed = inbox->wait(slice, [&] {
      ended = inbox->ends() >= (counting ? sources_.size() : 1);
      done = !counting && is_done(*inbox);
      const auto *error = inbox->due_error();
      return done || ended || inbox->is_closed() ||
             (error != nullptr && !(counting && error->is_of_end));
    });
    if (is_closed_) throw LibraryError(GST_CUDA_TENSOR_ERROR_CLOSED, "the frames are closed");
    if (!has_changed) {
      check_progress();
      if (GST_CLOCK_TIME_IS_VALID(timeout)) left -= slice;
      if (left == 0)
        throw LibraryError(GST_CUDA_TENSOR_ERROR_TIMEOUT, "no frame has come within the timeout");
      continue;
    }
    if (done) return inbox;
    if (!counting && ended && !inbox->has_given()) inbox->report(emptiness());
    // The frames of a truncated file are counted up to its end, and then read.
    const auto error = inbox->error();
    if (error && !(counting && error->is_of_end)) fail(*error);
    if (!counting) return inbox;
    advance();
  }
}

GstCudaTensor *_GstCudaTensorFrames::next(GstClockTime timeout) {
  for (;;) {
    const auto inbox = wait(timeout, [](const FrameInbox &box) { return box.has_tensor(); });
    if (auto tensor = inbox->take()) return make_tensor(std::move(*tensor));
    // Another thread may have taken the tensor.
    if (inbox->is_over()) return nullptr;
  }
}

GstCudaTensorFramesInfo _GstCudaTensorFrames::info(guint source, GstClockTime timeout) {
  if (source >= sources_.size()) refuse("there is no source " + std::to_string(source));
  const auto inbox = wait(timeout, [&](const FrameInbox &box) { return box.has_info(source); });
  if (const auto info = inbox->info(source)) return *info;
  throw LibraryError(GST_CUDA_TENSOR_ERROR_FORMAT, sources_[source] + ": no frame was decoded");
}

int _GstCudaTensorFrames::failed_source() const {
  const std::lock_guard<std::mutex> lock(lifecycle_);
  const auto error = inbox_->error();
  return error ? error->source : -1;
}

guint _GstCudaTensorFrames::count_buffers() {
  const std::lock_guard<std::mutex> lock(lifecycle_);
  counts_buffers_ = true;
  if (pipeline_ == nullptr) return earlier_buffers_;
  return earlier_buffers_ + cudatensor::count_buffers(pipeline_->element());
}

void _GstCudaTensorFrames::close() {
  is_closed_ = true;
  const std::lock_guard<std::mutex> lock(lifecycle_);
  inbox_->close();
  pipeline_.reset();
}

// --------------------------------------------------------------------------------- the C functions

namespace {

std::vector<std::string> strings_of(const gchar *const *strings) {
  std::vector<std::string> result;
  for (; strings != nullptr && *strings != nullptr; ++strings) result.emplace_back(*strings);
  return result;
}

_GstCudaTensorFrames::Properties pairs_of(const gchar *const *strings) {
  const std::vector<std::string> all = strings_of(strings);
  if (all.size() % 2 != 0) refuse("a property has no value");
  _GstCudaTensorFrames::Properties pairs;
  for (size_t i = 0; i < all.size(); i += 2) pairs.emplace_back(all[i], all[i + 1]);
  return pairs;
}

void initialize() {
  GError *error = nullptr;
  if (gst_init_check(nullptr, nullptr, &error)) return;
  const LibraryError failure(GST_CUDA_TENSOR_ERROR_SETTINGS,
                             std::string("GStreamer cannot be initialized: ") + error->message);
  g_error_free(error);
  throw failure;
}

}  // namespace

G_DEFINE_BOXED_TYPE(GstCudaTensorFrames, gst_cuda_tensor_frames, gst_cuda_tensor_frames_ref,
                    gst_cuda_tensor_frames_unref)

GstCudaTensorFrames *gst_cuda_tensor_frames_new(const gchar *const *sources,
                                                const GstCudaTensorFramesOptions *options,
                                                const gchar *const *properties, GError **error) {
  g_return_val_if_fail(sources != nullptr, nullptr);
  return caught(error, [&] {
    initialize();
    return new GstCudaTensorFrames(strings_of(sources),
                                   options != nullptr ? *options : GstCudaTensorFramesOptions(),
                                   pairs_of(properties));
  });
}

GstCudaTensorFrames *gst_cuda_tensor_frames_ref(GstCudaTensorFrames *frames) {
  g_return_val_if_fail(frames != nullptr, nullptr);
  ++frames->references;
  return frames;
}

void gst_cuda_tensor_frames_unref(GstCudaTensorFrames *frames) {
  g_return_if_fail(frames != nullptr);
  if (--frames->references == 0) delete frames;
}

GstCudaTensor *gst_cuda_tensor_frames_next(GstCudaTensorFrames *frames, GstClockTime timeout,
                                           GError **error) {
  g_return_val_if_fail(frames != nullptr, nullptr);
  return caught(error, [&] { return frames->next(timeout); });
}

gboolean gst_cuda_tensor_frames_get_info(GstCudaTensorFrames *frames, guint source,
                                         GstClockTime timeout, GstCudaTensorFramesInfo *info,
                                         GError **error) {
  g_return_val_if_fail(frames != nullptr, FALSE);
  g_return_val_if_fail(info != nullptr, FALSE);
  return caught(error, [&] {
    *info = frames->info(source, timeout);
    return TRUE;
  });
}

gint gst_cuda_tensor_frames_get_failed_source(GstCudaTensorFrames *frames) {
  g_return_val_if_fail(frames != nullptr, -1);
  return frames->failed_source();
}

guint gst_cuda_tensor_frames_count_buffers(GstCudaTensorFrames *frames) {
  g_return_val_if_fail(frames != nullptr, 0);
  return frames->count_buffers();
}

void gst_cuda_tensor_frames_close(GstCudaTensorFrames *frames) {
  g_return_if_fail(frames != nullptr);
  frames->close();
}

guint64 gst_cuda_tensor_stated_length(GstCudaTensorReadFunc read, gpointer user_data,
                                      guint64 length) {
  g_return_val_if_fail(read != nullptr, 0);
  return stated_length(
      [&](uint64_t offset, FileHead &head) {
        return read(offset, head.data(), head.size(), user_data) != FALSE;
      },
      length);
}
