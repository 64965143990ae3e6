// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/framepipeline.h"

#include <cstring>
#include <utility>

namespace cudatensor {

// -------------------------------------------------------------------------------------- the inbox

bool FrameInbox::put(Tensor tensor) {
  std::deque<Tensor> old;  // released after the lock
  std::unique_lock<std::mutex> lock(mutex_);
  if (drops_) old.swap(tensors_);
  changed_.wait(lock, [&] { return is_closed_ || tensors_.size() < kMostTensors; });
  if (is_closed_) return false;
  tensors_.push_back(std::move(tensor));
  has_given_ = true;
  progress_ = g_get_monotonic_time();
  changed_.notify_all();
  return true;
}

void FrameInbox::end() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++ends_;
  if (!error_) error_ = end_error_;
  changed_.notify_all();
}

void FrameInbox::report_at_end(PipelineError failed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  failed.is_of_end = true;
  if (!end_error_) end_error_ = std::move(failed);
}

void FrameInbox::report(PipelineError failed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = std::move(failed);
  progress_ = g_get_monotonic_time();
  changed_.notify_all();
}

/// Returns the error if it is due: after the last frames, or after a time without progress,
/// because not all elements send EOS after an error.
const FrameInbox::PipelineError *FrameInbox::due_error() const {
  constexpr gint64 kPatience = G_USEC_PER_SEC;
  if (!error_) return nullptr;
  const bool has_frames =
      error_->source >= 0 && infos_.count(static_cast<size_t>(error_->source)) != 0;
  const bool is_under_way =
      has_frames && ends_ == 0 && g_get_monotonic_time() - progress_ <= kPatience;
  return is_under_way ? nullptr : &*error_;
}

void FrameInbox::set_info(size_t source, const GstCudaTensorFramesInfo &info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  infos_[source] = info;
  changed_.notify_all();
}

std::optional<GstCudaTensorFramesInfo> FrameInbox::info(size_t source) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = infos_.find(source);
  return found != infos_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<FrameInbox::Tensor> FrameInbox::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (tensors_.empty() || is_closed_) return std::nullopt;
  Tensor tensor = std::move(tensors_.front());
  tensors_.pop_front();
  progress_ = g_get_monotonic_time();
  changed_.notify_all();
  return tensor;
}

void FrameInbox::close() {
  std::deque<Tensor> unused;
  const std::lock_guard<std::mutex> lock(mutex_);
  is_closed_ = true;
  unused.swap(tensors_);
  changed_.notify_all();
}

bool FrameInbox::is_over() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_closed_ || (ends_ > 0 && tensors_.empty());
}

bool FrameInbox::has_given() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return has_given_;
}

std::optional<FrameInbox::PipelineError> FrameInbox::error() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

// ------------------------------------------------------------------------------------- the output

GstFlowReturn TensorOutput::chain(Ref<GstBuffer> buffer) {
  Ref<GstCaps> caps(caps_ != nullptr ? gst_caps_ref(caps_.get()) : nullptr);
  return inbox_->put({std::move(buffer), std::move(caps)}) ? GST_FLOW_OK : GST_FLOW_FLUSHING;
}

bool TensorOutput::event(Ref<GstEvent> event) {
  if (GST_EVENT_TYPE(event.get()) == GST_EVENT_CAPS) {
    GstCaps *caps = nullptr;
    gst_event_parse_caps(event.get(), &caps);
    caps_.reset(gst_caps_ref(caps));
  }
  if (GST_EVENT_TYPE(event.get()) == GST_EVENT_EOS) inbox_->end();
  return true;
}

bool TensorOutput::query(GstQuery *query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    GstCaps *filter = nullptr;
    gst_query_parse_caps(query, &filter);
    const Ref<GstCaps> caps(filter != nullptr ? gst_caps_intersect(filter, accepted_.get())
                                              : gst_caps_ref(accepted_.get()));
    gst_query_set_caps_result(query, caps.get());
    return true;
  }
  if (GST_QUERY_TYPE(query) != GST_QUERY_ACCEPT_CAPS) return false;
  GstCaps *caps = nullptr;
  gst_query_parse_accept_caps(query, &caps);
  gst_query_set_accept_caps_result(query, gst_caps_can_intersect(caps, accepted_.get()));
  return true;
}

// ----------------------------------------------------------------------------------- the pipeline

FramePipeline::FramePipeline(const std::vector<std::string> &sources,
                             const std::vector<FrameSourceOptions> &options,
                             std::shared_ptr<FrameInbox> inbox)
    : pipeline_(gst_pipeline_new(nullptr)), inbox_(std::move(inbox)) {
  gst_object_ref_sink(pipeline_);
  GstBus *bus = gst_element_get_bus(pipeline_);
  gst_bus_set_sync_handler(bus, on_message, this, nullptr);
  gst_object_unref(bus);
  try {
    for (size_t i = 0; i < sources.size(); ++i) {
      sources_.push_back(std::make_unique<FrameSource>(
          sources[i], options[i],
          [inbox = inbox_, i](const GstCudaTensorFramesInfo &info) { inbox->set_info(i, info); }));
      gst_bin_add(GST_BIN(pipeline_), sources_.back()->bin());
    }
  } catch (...) {
    gst_object_unref(pipeline_);
    throw;
  }
}

/// Stops the pipeline. A bin that failed to start also fails to stop while its state is the
/// requested one, which stops the pipeline halfway; the elements after the bin have stopped by
/// then.
void FramePipeline::stop() {
  if (gst_element_set_state(pipeline_, GST_STATE_NULL) != GST_STATE_CHANGE_FAILURE) return;
  for (const auto &source : sources_) {
    gst_element_set_locked_state(source->bin(), TRUE);
    gst_element_set_state(source->bin(), GST_STATE_NULL);
  }
  gst_element_set_state(pipeline_, GST_STATE_NULL);
}

FramePipeline::~FramePipeline() {
  stop();
  for (const auto &source : sources_) source->finish();
  GstBus *bus = gst_element_get_bus(pipeline_);
  gst_bus_set_sync_handler(bus, nullptr, nullptr, nullptr);
  gst_object_unref(bus);
  gst_object_unref(pipeline_);
}

GstElement *FramePipeline::add_output(GstCaps *accepted) {
  GstElement *output = make_stage(std::make_unique<TensorOutput>(inbox_, accepted));
  gst_bin_add(GST_BIN(pipeline_), output);
  return output;
}

namespace {

/// Links a source, and sets the direction of the pad, or of an element with a single pad.
void link(const FrameSource &source, GstElement *maker) {
  gst_element_link(source.bin(), maker);
  const Ref<GstPad> src(gst_element_get_static_pad(source.bin(), "src"));
  const Ref<GstPad> sink(gst_pad_get_peer(src.get()));
  if (sink == nullptr) return;
  GObject *turner = GST_IS_VIDEO_DIRECTION(sink.get()) ? G_OBJECT(sink.get()) : G_OBJECT(maker);
  g_object_set(turner, "video-direction", source.direction(), nullptr);
}

}  // namespace

void FramePipeline::add_tensors(const Ref<GstElement> &maker, GstCaps *accepted) {
  gst_bin_add(GST_BIN(pipeline_), maker.get());
  for (const auto &source : sources_) link(*source, maker.get());
  gst_element_link(maker.get(), add_output(accepted));
}

/// Sets clock and base time of the sources from the beginning, because they run before the pipeline
/// reaches PLAYING and distributes its own. Otherwise the timestamps of live sources would go back.
void FramePipeline::start() {
  const Ref<GstClock> clock(gst_system_clock_obtain());
  const GstClockTime now = gst_clock_get_time(clock.get());
  gst_pipeline_use_clock(GST_PIPELINE(pipeline_), clock.get());
  gst_element_set_start_time(pipeline_, GST_CLOCK_TIME_NONE);
  gst_element_set_base_time(pipeline_, now);
  if (gst_element_set_state(pipeline_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    return inbox_->report({GST_CUDA_TENSOR_ERROR_SETTINGS, "the pipeline cannot be started", -1});
  for (const auto &source : sources_) source->start(clock.get(), now);
}

void FramePipeline::check_progress() {
  for (const auto &source : sources_) source->check_progress();
}

int FramePipeline::source_of(GstObject *object) const {
  for (size_t i = 0; i < sources_.size(); ++i)
    if (object == GST_OBJECT(sources_[i]->bin()) ||
        gst_object_has_as_ancestor(object, GST_OBJECT(sources_[i]->bin())))
      return static_cast<int>(i);
  return -1;
}

namespace {

GstCudaTensorError code_of(const GError *error, bool in_source, bool is_input) {
  if (error->domain == GST_RESOURCE_ERROR && error->code == GST_RESOURCE_ERROR_NOT_FOUND)
    return in_source ? GST_CUDA_TENSOR_ERROR_NOT_FOUND : GST_CUDA_TENSOR_ERROR_SETTINGS;
  if (is_input && error->domain == GST_STREAM_ERROR) return GST_CUDA_TENSOR_ERROR_SOURCE;
  if (error->domain == GST_RESOURCE_ERROR)
    return in_source ? GST_CUDA_TENSOR_ERROR_SOURCE : GST_CUDA_TENSOR_ERROR_CUDA;
  if (error->domain == GST_STREAM_ERROR && error->code == GST_STREAM_ERROR_FORMAT)
    return GST_CUDA_TENSOR_ERROR_FORMAT;
  if (error->domain == GST_CORE_ERROR && error->code == GST_CORE_ERROR_MISSING_PLUGIN)
    return GST_CUDA_TENSOR_ERROR_DECODER;
  if (error->domain == GST_STREAM_ERROR && error->code == GST_STREAM_ERROR_CODEC_NOT_FOUND)
    return GST_CUDA_TENSOR_ERROR_DECODER;
  return in_source ? GST_CUDA_TENSOR_ERROR_FORMAT : GST_CUDA_TENSOR_ERROR_SETTINGS;
}

/// Returns the text of an error with its cause, which some elements state only in the details.
std::string text_of(const GError *error, const gchar *details) {
  std::string text = error->message;
  while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
  const bool is_general =
      error->domain == GST_STREAM_ERROR && error->code == GST_STREAM_ERROR_FAILED;
  const gchar *last = details != nullptr ? strrchr(details, '\n') : nullptr;
  if (is_general && last != nullptr && last[1] != '\0') text += " (" + std::string(last + 1) + ")";
  return text;
}

/// Returns whether a truncated file may be the cause. Missing decoders and unknown formats have
/// other causes.
bool may_be_truncation(const GError *error) {
  return error->domain == GST_STREAM_ERROR && error->code != GST_STREAM_ERROR_FORMAT &&
         error->code != GST_STREAM_ERROR_CODEC_NOT_FOUND;
}

}  // namespace

std::string FramePipeline::describe(const GError *error, const gchar *details, int source) const {
  const std::string text = text_of(error, details);
  if (source < 0) return text;
  const std::string &truncation = sources_[source]->truncation();
  const bool is_truncated = !truncation.empty() && truncation != text && may_be_truncation(error);
  return sources_[source]->name() + ": " + (is_truncated ? truncation + " (" + text + ")" : text);
}

void FramePipeline::report(GstMessage *message) {
  GError *error = nullptr;
  gchar *details = nullptr;
  const bool is_warning = GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
  if (is_warning)
    gst_message_parse_warning(message, &error, &details);
  else
    gst_message_parse_error(message, &error, &details);
  const int source = source_of(GST_MESSAGE_SRC(message));
  const GstObject *from = GST_MESSAGE_SRC(message);
  const bool is_input = GST_IS_ELEMENT(from) && GST_ELEMENT(from)->numsinkpads == 0 &&
                        !GST_IS_BIN(from) && source >= 0;
  FrameInbox::PipelineError failed = {code_of(error, source >= 0, is_input),
                                      describe(error, details, source), source};
  if (is_warning)
    inbox_->report_at_end(std::move(failed));
  else
    inbox_->report(std::move(failed));
  g_error_free(error);
  g_free(details);
}

GstBusSyncReply FramePipeline::on_message(GstBus *, GstMessage *message, gpointer self) {
  const bool is_warning = GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR ||
      (is_warning && is_stage(GST_MESSAGE_SRC(message))))
    static_cast<FramePipeline *>(self)->report(message);
  gst_message_unref(message);
  return GST_BUS_DROP;
}

}  // namespace cudatensor
