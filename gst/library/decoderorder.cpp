// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/frames/decoderorder.h"

#include "gst/library/gstcudatensor.h"

void gst_cuda_tensor_prefer_gpu_decoders(GstElement *decodebin, gint device_id) {
  g_return_if_fail(GST_IS_ELEMENT(decodebin));
  g_return_if_fail(g_signal_lookup("autoplug-sort", G_OBJECT_TYPE(decodebin)) != 0);
  g_return_if_fail(device_id >= 0);
  cudatensor::prefer_decoders_on(decodebin, device_id);
}
