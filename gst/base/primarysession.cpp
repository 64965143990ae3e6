// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/primarysession.h"

#include <algorithm>

namespace cudatensor {
namespace {

/// Tells the other elements of the pipeline, as libgstcuda does for its contexts.
void publish(GstElement *element, const CudaSession &session) {
  gstcuda::Context *shared = session.cuda_context().shared();
  if (shared == nullptr) return;
  GstContext *context = gstcuda::loaded().context_new_cuda_context(shared);
  gst_element_set_context(element, context);
  gst_element_post_message(element, gst_message_new_have_context(GST_OBJECT(element), context));
}

std::unique_ptr<CudaSession> open_on(int device) {
  check_cuda_device(device);
  return open_cuda_session(open_primary_context(device));
}

/// Describes a tensor by its bytes.
TensorDesc bytes_of(const TensorShape &shape) {
  return {DType::uint8, Layout::nchw, 1, 1, 1, static_cast<int64_t>(shape.bytes())};
}

}  // namespace

PrimarySession::PrimarySession(GstElement *element, int device)
    : device_(std::max(device, 0)), session_(open_on(device_)) {
  publish(element, *session_);
}

PrimarySession::~PrimarySession() {
  try {
    const SessionScope scope(*session_);
    session_.reset();
  } catch (const Error &) {
    const ContextLostScope gone;
    session_.reset();
  }
}

bool PrimarySession::handle_context_query(GstElement *element, GstQuery *query) const {
  gstcuda::Context *shared = session_->cuda_context().shared();
  return shared != nullptr && gstcuda::loaded().handle_context_query(element, query, shared);
}

DeviceInput::DeviceInput(PrimarySession &owner, const TensorShape &shape, GstBuffer *buffer)
    : owner_(owner),
      pass_(owner.session()),
      input_(pass_.add_input(bytes_of(shape), buffer)),
      map_(bytes_of(shape), buffer, (pass_.begin(), pass_.input_flags(input_))),
      data_(pass_.input(input_, map_.constant()).data) {
  owner_.session().order(pass_.stream(), owner_.stream());
}

void DeviceInput::finish() {
  owner_.session().order(owner_.stream(), pass_.stream());
  pass_.finish_part();
}

bool is_in_other_context(const PrimarySession &session, GstBuffer *buffer) {
  return cuda_memory_of(buffer) != nullptr && !session.session().place_of(buffer).on_device;
}

}  // namespace cudatensor
