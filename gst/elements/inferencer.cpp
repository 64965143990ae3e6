// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/inferencer.h"

#include <algorithm>
#include <utility>

#include "gst/base/allocation.h"
#include "gst/base/sessionmanager.h"
#include "gst/base/tensorlistpool.h"
#include "gst/caps/memorycaps.h"
#include "gst/meta/carriedmetas.h"

namespace cudatensor {
namespace {

// The length of open axes in a run that only finds out whether outputs are scalars.
constexpr int64_t kProbedLength = 32;

/// Makes the context of a network on a GPU current.
class NetworkScope {
 public:
  explicit NetworkScope(PrimarySession *session) {
    if (session != nullptr) scope_.emplace(session->session());
  }

 private:
  std::optional<SessionScope> scope_;
};

/// Whether all outputs that have no axes in the model are scalars: a model may also leave the axes
/// of an output open altogether.
bool has_only_scalars(const ort::Network &network, const std::vector<TensorShape> &shapes) {
  for (size_t i = 0; i < shapes.size(); ++i)
    if (network.outputs()[i].axes.empty() && shapes[i].dimensions != std::vector<int64_t>{1})
      return false;
  return true;
}

/// Returns the map of a picture onto itself, of a tensor with this layout.
BoxMap unchanged(const TensorShape &shape, const char *layout) {
  const size_t first = g_strcmp0(layout, "nhwc") == 0 ? 1 : 0;
  const auto length = [&](size_t i) {
    return i < shape.dimensions.size() ? static_cast<int>(shape.dimensions[i]) : 1;
  };
  const int width = length(first), height = length(first + 1);
  return scaling(width, height, width, height);
}

}  // namespace

// --- start and stop ----------------------------------------------------------------------------

bool Inferencer::start() {
  errors_.forget();
  errors_.next_frame();
  faulty_frames_.begin();
  return errors_.guard([&] { open(); });
}

void Inferencer::open() {
  const InferenceSettings s = locked(element_, [&] { return settings_; });
  ort::NetworkOptions options;
  options.model = s.model;
  options.outputs = s.outputs;
  options.threads = s.threads;
  options.provider = {s.provider, s.device, nullptr, s.cache_folder()};
  const ort::Library &library = ort::open_library(s.library);
  Started started =
      s.provider == Provider::automatic ? open_best(library, options) : open_with(library, options);
  auto runner = std::make_unique<NetworkRunner>(*started.network, started.session.get());
  started.caps = make_caps(started, *runner);
  runner_ = std::move(runner);
  const Provider active = started.network->options().provider.provider;
  set_started(std::move(started));
  set_active(active);
}

Inferencer::Started Inferencer::open_best(const ort::Library &library,
                                          ort::NetworkOptions options) const {
  try {
    options.provider.provider = Provider::cuda;
    return open_with(library, options);
  } catch (const Error &error) {
    GST_CAT_INFO_OBJECT(category_, element_, "falling back to the CPU: %s", error.what());
  }
  options.provider.provider = Provider::cpu;
  return open_with(library, options);
}

Inferencer::Started Inferencer::open_with(const ort::Library &library,
                                          ort::NetworkOptions options) const {
  ort::check_provider(library, options.provider.provider);
  Started started;
  if (ort::is_on_gpu(options.provider.provider)) {
    started.session =
        std::make_shared<PrimarySession>(GST_ELEMENT(element_), options.provider.device);
    options.provider.device = started.session->device();
    options.provider.stream = started.session->stream().handle;
  }
  started.network = make_network(library, options, started.session.get());
  return started;
}

/// Tells the application that TensorRT compiles the network, which takes minutes.
std::shared_ptr<ort::Network> Inferencer::make_network(const ort::Library &library,
                                                       const ort::NetworkOptions &options,
                                                       PrimarySession *session) const {
  const auto post = [&](GstProgressType type, const char *text) {
    if (options.provider.provider != Provider::tensorrt) return;
    gst_element_post_message(GST_ELEMENT(element_),
                             gst_message_new_progress(GST_OBJECT(element_), type, "engine", text));
  };
  post(GST_PROGRESS_TYPE_START, "TensorRT compiles the network");
  try {
    const NetworkScope scope(session);
    auto network = std::make_shared<ort::Network>(library, options);
    post(GST_PROGRESS_TYPE_COMPLETE, "TensorRT has compiled the network");
    return network;
  } catch (...) {
    post(GST_PROGRESS_TYPE_ERROR, "TensorRT has not compiled the network");
    throw;
  }
}

std::shared_ptr<const NetworkCaps> Inferencer::make_caps(const Started &started,
                                                         NetworkRunner &runner) const {
  const ort::Network &network = *started.network;
  const auto make = [&](bool scalars_are_known) {
    return std::make_shared<const NetworkCaps>(network.options().model, network.input(),
                                               network.outputs(), scalars_are_known);
  };
  const auto caps = make(true);
  if (!caps->has_outputs_without_axes()) return caps;
  try {
    const NetworkScope scope(started.session.get());
    const auto shapes = runner.run_on_zeros(caps->smallest(kProbedLength).run_input);
    if (has_only_scalars(network, shapes)) return caps;
  } catch (const Error &error) {
    GST_CAT_INFO_OBJECT(category_, element_, "the outputs are flexible: %s", error.what());
  }
  return make(false);
}

void Inferencer::stop() {
  const Started old = started();
  try {
    const NetworkScope scope(old.session.get());
    if (runner_ != nullptr) runner_->end();
  } catch (const Error &) {
    // The run has reported the lost device.
  }
  runner_.reset();
  shapes_ = {};
  is_warm_ = false;
  set_started({});
  set_active(Provider::automatic);
}

void Inferencer::terminate() {
  if (const auto network = started().network) network->terminate();
}

Inferencer::Started Inferencer::started() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return started_;
}

void Inferencer::set_started(Started started) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::swap(started_, started);
}

void Inferencer::set_active(Provider active) {
  const bool is_other = locked(element_, [&] { return std::exchange(active_, active) != active; });
  if (is_other) g_object_notify(G_OBJECT(element_), "active-provider");
}

bool Inferencer::handle_context_query(GstQuery *query) {
  const auto session = started().session;
  return session != nullptr && session->handle_context_query(GST_ELEMENT(element_), query);
}

// --- negotiation -------------------------------------------------------------------------------

namespace {

/// Returns the caps of both memories that a pad may have.
GstCaps *in_memories(GstCaps *caps, bool cuda) { return with_memories(caps, {cuda, false}); }

/// Returns the caps of the input for those of the outputs.
Ref<GstCaps> inputs_of(const NetworkCaps &network, const GstCaps *outputs) {
  Ref<GstCaps> result(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(outputs); ++i)
    result.reset(
        gst_caps_merge(result.release(), network.sink(gst_caps_get_structure(outputs, i))));
  return result;
}

Ref<GstCaps> outputs_of(const NetworkCaps &network, const GstCaps *inputs) {
  Ref<GstCaps> result(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(inputs); ++i)
    result.reset(gst_caps_merge(result.release(), network.src(gst_caps_get_structure(inputs, i))));
  return result;
}

}  // namespace

GstCaps *Inferencer::transform_caps(GstPadDirection direction, GstCaps *caps) {
  const Started now = started();
  if (now.caps == nullptr) {
    GstPad *other = direction == GST_PAD_SINK ? element_->srcpad : element_->sinkpad;
    return gst_pad_get_pad_template_caps(other);
  }
  if (direction == GST_PAD_SRC)
    return in_memories(inputs_of(*now.caps, caps).release(), has_cuda_memory());
  const bool on_gpu = now.session != nullptr && now.session->is_shared();
  return in_memories(outputs_of(*now.caps, caps).release(), on_gpu && !now.caps->is_flexible());
}

bool Inferencer::accepts(GstCaps *caps) {
  const auto network = started().caps;
  if (network == nullptr) return true;
  return !negotiation_error_of(GST_ELEMENT(element_), category_,
                               [&] { network->shapes(gst_caps_get_structure(caps, 0)); });
}

bool Inferencer::set_caps(GstCaps *in, GstCaps *out) {
  const Started now = started();
  return errors_.guard([&] {
    if (now.caps == nullptr) throw Error(Error::Code::input, "caps arrived before the start");
    const NetworkScope scope(now.session.get());
    shapes_ = now.caps->shapes(gst_caps_get_structure(in, 0));
    runner_->begin(shapes_, !in_cuda_memory(out));
    is_warm_ = false;
    faulty_frames_.begin();
  });
}

bool Inferencer::propose_allocation(GstQuery *query) {
  const auto session = started().session;
  if (session == nullptr) return true;
  return errors_.guard([&] {
    const NetworkScope scope(session.get());
    propose_pool(query, shapes_.input.bytes(), session->session());
  });
}

bool Inferencer::decide_allocation(GstQuery *query) {
  if (adds_memories()) {
    remove_allocation(query);
    return true;
  }
  std::vector<TensorMemory> memories;
  for (size_t i = 0; i < shapes_.outputs.size(); ++i)
    memories.push_back({shapes_.run_outputs[i].bytes(), shapes_.outputs[i].bytes()});
  const auto session = started().session;
  return errors_.guard([&] {
    const NetworkScope scope(session.get());
    decide_tensor_list_pool(query, memories, session != nullptr ? &session->session() : nullptr);
  });
}

// --- buffers -----------------------------------------------------------------------------------

void Inferencer::post_allocation_error() {
  gsize size = 0;
  for (const TensorShape &shape : shapes_.run_outputs) size += shape.bytes();
  errors_.report(Error(Error::Code::out_of_memory,
                       "cannot allocate an output buffer of " + std::to_string(size) + " bytes"));
}

GstFlowReturn Inferencer::run(GstBuffer *in, GstBuffer *out) {
  errors_.next_frame();
  const auto network = started().network;
  if (network == nullptr || network->is_terminated()) return GST_FLOW_FLUSHING;
  std::optional<Error> fault;
  const bool done = errors_.guard([&] {
    try {
      fault = frame_fault_of([&] { run_in_session(in, out); });
    } catch (const Error &) {
      // A run that was ended while the element stops is no error.
      if (!network->is_terminated()) throw;
    }
  });
  if (network->is_terminated()) return GST_FLOW_FLUSHING;
  if (!done) return GST_FLOW_ERROR;
  if (fault) faulty_frames_.add(errors_, std::string("a buffer is dropped: ") + fault->what());
  faulty_frames_.end_frame();
  if (fault) return GST_BASE_TRANSFORM_FLOW_DROPPED;
  describe(in, out);
  return GST_FLOW_OK;
}

void Inferencer::run_in_session(GstBuffer *in, GstBuffer *out) {
  const Started now = started();
  const bool warms_up = !is_warm_ && locked(element_, [&] { return settings_.warm_up; });
  const NetworkScope scope(now.session.get());
  if (warms_up) runner_->warm_up();
  is_warm_ = true;
  if (now.session != nullptr && is_in_other_context(*now.session, in))
    errors_.warn(
        "upstream's CUDA memory is not of the device's primary context, in which the "
        "network runs: each buffer is copied");
  runner_->run(in, out);
}

/// Carries what upstream has attached, in coordinates of the tensor that the network has read.
void Inferencer::describe(GstBuffer *in, GstBuffer *out) const {
  carry_metas(in, out, unchanged(shapes_.input, started().caps->layout()));
}

}  // namespace cudatensor
