// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/libraryerror.h"

GQuark gst_cuda_tensor_error_quark() {
  return g_quark_from_static_string("gst-cuda-tensor-error-quark");
}

namespace cudatensor {

void set_error(GError **error, const LibraryError &thrown) {
  g_set_error_literal(error, GST_CUDA_TENSOR_ERROR, thrown.code(), thrown.what());
}

void set_error(GError **error, const Error &thrown) {
  const auto code = thrown.code() == Error::Code::not_found ? GST_CUDA_TENSOR_ERROR_NO_CUDA
                                                            : GST_CUDA_TENSOR_ERROR_CUDA;
  g_set_error_literal(error, GST_CUDA_TENSOR_ERROR, code, thrown.what());
}

GstDebugCategory *interop_category() {
  static GstDebugCategory *const category =
      _gst_debug_category_new("cudatensor-interop", 0, "tensor interop (DLPack, CUDA streams)");
  return category;
}

}  // namespace cudatensor
