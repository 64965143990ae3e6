// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/sessionmanager.h"

#include <utility>

#include "gst/cuda/cudamemory.h"
#include "gst/nvmm/deepstream.h"
#include "gst/nvmm/surfaces.h"
#include "gst/util/ref.h"
#include "kernels/error.h"
#include "kernels/fault.h"

namespace cudatensor {
std::unique_ptr<Session> SessionManager::open() {
  if (opened_.choice != BackendChoice::cpu) {
    try {
      return open_cuda_session(open_cuda_context(element_, opened_.device, &context_));
    } catch (const Error &error) {
      if (opened_.choice == BackendChoice::cuda) throw;
      const bool absent = error.code() == Error::Code::not_found;
      GST_CAT_LEVEL_LOG(category_, absent ? GST_LEVEL_INFO : GST_LEVEL_WARNING, element_,
                        "falling back to the CPU: %s", error.what());
    }
  }
  return make_cpu_session(opened_.threads);
}

/// Releases the context, which an element that never started, or failed to start, may still hold.
SessionManager::~SessionManager() {
  close();
  replace(context_, nullptr);
}

void SessionManager::close() {
  if (session_ == nullptr) return;
  std::optional<SessionScope> scope;
  std::optional<ContextLostScope> gone;
  try {
    scope.emplace(*session_);
  } catch (const Error &) {
    gone.emplace();
  }
  release_();
  session_.reset();
}

void SessionManager::reopen() {
  close();
  {
    const ObjectLock lock(element_);
    opened_.threads = settings_.threads;
  }
  session_ = open();
  set_active(session_->kind());
}

void SessionManager::reopen_cpu_session() {
  close();
  {
    const ObjectLock lock(element_);
    opened_.threads = settings_.threads;
  }
  session_ = make_cpu_session(opened_.threads);
}

void SessionManager::set_active(BackendChoice active) {
  bool other;
  {
    const ObjectLock lock(element_);
    other = std::exchange(active_, active) != active;
  }
  if (other) g_object_notify(G_OBJECT(element_), "active-backend");
}

/// Takes the context from GstElement, which keeps the contexts it has received even after the
/// element is stopped.
void SessionManager::restore_context() {
  GstContext *context = gst_element_get_context(element_, gstcuda::kContextType);
  if (context == nullptr) return;
  set_context(context);
  gst_context_unref(context);
}

void SessionManager::start() {
  arm_faults();
  {
    const ObjectLock lock(element_);
    opened_ = settings_;
  }
  restore_context();
  {
    // The context may have been set before cuda-device-id.
    const ObjectLock lock(element_);
    const bool other =
        context_ != nullptr && opened_.device >= 0 && device_id_of(context_) != opened_.device;
    if (other) replace(context_, nullptr);
  }
  reopen();
  started_ = true;
}

void SessionManager::stop() {
  started_ = false;
  close();
  {
    const ObjectLock lock(element_);
    replace(context_, nullptr);
  }
  set_active(BackendChoice::automatic);
}

Session &SessionManager::session() {
  if (!started_) throw Error(Error::Code::input, "a frame arrived before the element was started");
  bool other_threads;
  {
    const ObjectLock lock(element_);
    other_threads = settings_.threads != opened_.threads;
  }
  // The session is null if move_to() failed to open a new one.
  if (session_ == nullptr) reopen();
  // Only the thread count can change here: the backend is chosen when the element starts.
  if (other_threads && session_->kind() == BackendChoice::cpu) reopen_cpu_session();
  return *session_;
}

void SessionManager::check_device(const char *memory, int device) const {
  if (opened_.device >= 0 && device != opened_.device)
    throw Error(Error::Code::settings, std::string("upstream's ") + memory + " is on device " +
                                           std::to_string(device) + ", but cuda-device-id is " +
                                           std::to_string(opened_.device) +
                                           ": set the same device on both elements");
}

void SessionManager::move_to(const CudaContextRef &context) {
  GST_CAT_INFO_OBJECT(category_, element_, "switching to upstream's CUDA context %" GST_PTR_FORMAT,
                      context->shared());
  close();
  {
    const ObjectLock lock(element_);
    replace(context_, context->shared());
  }
  session_ = open_cuda_session(context);
  followed_ = false;
}

bool SessionManager::is_on_device(GstBuffer *buffer) const {
  return cuda_memory_of(buffer) != nullptr;
}

/// Adopts only the first stream if upstream alternates between two, because each change costs a
/// negotiation.
bool SessionManager::adopt(gstcuda::Stream *stream) {
  auto *shared = reinterpret_cast<SharedStream *>(stream);
  if (shared == nullptr || shared == cuda().stream() || followed_) return false;
  cuda().adopt(shared);
  followed_ = true;
  return true;
}

bool SessionManager::follow(GstBuffer *input, const std::function<void()> &before_move) {
  if (session().kind() != BackendChoice::cuda) return false;
  gstcuda::Memory *memory = cuda_memory_of(input);
  if (memory == nullptr) return false;
  const bool moves = memory->context != cuda().cuda_context().shared();
  if (moves) {
    before_move();
    check_device("CUDAMemory", device_id_of(memory->context));
    move_to(std::make_shared<CudaContext>(memory->context));
  }
  const bool adopted = adopt(stream_of(memory));
  return moves || adopted;
}

bool SessionManager::follow_surfaces(GstBuffer *input, const std::function<void()> &before_move) {
  if (session().kind() != BackendChoice::cuda) return false;
  const int gpu = nvmm::SurfaceMap(input).gpu();
  if (cuda().reads_memory_of(gpu)) return false;
  before_move();
  check_device("NVMM", gpu);
  move_to(open_primary_context(gpu));
  return true;
}

void SessionManager::set_context(GstContext *context) {
  if (!gst_context_has_context_type(context, gstcuda::kContextType)) return;
  if (gstcuda::library() == nullptr) return;
  int device;
  {
    const ObjectLock lock(element_);
    device = settings_.device;
  }
  gstcuda::Context *given = nullptr;
  gstcuda::loaded().handle_set_context(element_, context, device, &given);
  {
    const ObjectLock lock(element_);
    if (context_ == nullptr) std::swap(context_, given);
  }
  replace(given, nullptr);
}

bool SessionManager::handle_context_query(GstQuery *query) {
  gstcuda::Context *context = nullptr;
  {
    const ObjectLock lock(element_);
    replace(context, context_);
  }
  if (context == nullptr) return false;
  const bool answered = gstcuda::loaded().handle_context_query(element_, query, context);
  replace(context, nullptr);
  return answered;
}

/// Returns whether the pad can offer CUDAMemory. The CPU backend can read it through libgstcuda,
/// but does not write it.
bool SessionManager::can_have_cuda_memory(GstPadDirection pad, BackendChoice active) const {
  // While the element is stopped its backend is not known yet.
  if (active == BackendChoice::automatic) return cuda_is_built();
  if (pad == GST_PAD_SRC && active != BackendChoice::cuda) return false;
  return gstcuda::library() != nullptr;
}

/// Offers NVMM only if all its surfaces can be read, because caps do not say where surfaces are and
/// converters choose NVMM if it is offered. The CPU backend can read only surfaces in host memory;
/// neither backend can read those of a Jetson.
PadMemories SessionManager::memories(GstPadDirection pad) const {
  const BackendChoice active = locked(element_, [&] { return active_; });
  const bool nvmm = pad == GST_PAD_SINK && active != BackendChoice::cpu && nvmm::is_installed() &&
                    !nvmm::is_jetson();
  return {can_have_cuda_memory(pad, active), nvmm};
}

bool has_cuda_memory() { return cuda_is_built() && gstcuda::library() != nullptr; }

PadMemories template_memories(GstPadDirection pad) {
  return {cuda_is_built(), pad == GST_PAD_SINK && nvmm::is_installed()};
}

}  // namespace cudatensor
