// SPDX-License-Identifier: LGPL-2.1-or-later
#include "handed.h"

#include "rig.h"

namespace cudatensor {
namespace {

/// Returns the result of a call that must succeed.
template <class Result>
Result checked(Result result, GError *error) {
  EXPECT_EQ(error, nullptr) << error->message;
  g_clear_error(&error);
  EXPECT_NE(result, nullptr);
  return result;
}

}  // namespace

testing::AssertionResult Refusal::is(GstCudaTensorError code, const std::string &cause) const {
  if (error_ == nullptr) return testing::AssertionFailure() << "no error";
  if (!g_error_matches(error_, GST_CUDA_TENSOR_ERROR, code))
    return testing::AssertionFailure() << "code " << error_->code << ": " << error_->message;
  return mentions(error_->message, cause);
}

TensorRef tensor_of(GstBuffer *buffer, const std::string &caps) {
  const CapsRef parsed(gst_caps_from_string(caps.c_str()));
  GError *error = nullptr;
  GstCudaTensor *tensor = gst_cuda_tensor_new(buffer, parsed.get(), &error);
  return TensorRef(checked(tensor, error));
}

TensorRef tensor_of(GstSample *sample) {
  GError *error = nullptr;
  GstCudaTensor *tensor = gst_cuda_tensor_new_from_sample(sample, &error);
  return TensorRef(checked(tensor, error));
}

Legacy to_dlpack(GstCudaTensor *tensor, gpointer stream, GstCudaTensorAcquireFlags flags) {
  GError *error = nullptr;
  DLManagedTensor *managed = gst_cuda_tensor_to_dlpack(tensor, flags, stream, &error);
  return Legacy(checked(managed, error));
}

Versioned to_versioned(GstCudaTensor *tensor, gpointer stream, GstCudaTensorAcquireFlags flags) {
  GError *error = nullptr;
  auto *managed = gst_cuda_tensor_to_dlpack_versioned(tensor, flags, stream, &error);
  return Versioned(checked(managed, error));
}

Camera::Camera(const std::string &elements)
    : pipeline_("videotestsrc pattern=snow ! " + elements + " ! appsink name=sink sync=false"),
      sink_(pipeline_.find("sink")) {}

SampleRef Camera::pull() {
  GstSample *sample = nullptr;
  g_signal_emit_by_name(sink_.get(), "try-pull-sample", 20 * GST_SECOND, &sample);
  return SampleRef(sample);
}

Watch::Watch(GstBuffer *buffer) {
  static const GQuark quark = g_quark_from_static_string("cudatensor-test-watch");
  using Gone = std::shared_ptr<std::atomic<bool>>;
  gst_mini_object_set_qdata(GST_MINI_OBJECT(buffer), quark, new Gone(gone_), [](gpointer data) {
    const std::unique_ptr<Gone> gone(static_cast<Gone *>(data));
    **gone = true;
  });
}

bool Watch::goes() const {
  for (int i = 0; i < 5000 && !is_gone(); ++i) g_usleep(1000);
  return is_gone();
}

}  // namespace cudatensor
