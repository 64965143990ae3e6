/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The header alone, in C, beside an application's own declarations of DLPack's structs. */
#include <gstcudatensor.h>

struct DLManagedTensor {
  int whatever;
};

static void use(GstSample *sample) {
  g_autoptr(GstCudaTensor) tensor = gst_cuda_tensor_new_from_sample(sample, NULL);
  struct DLManagedTensor *managed;
  if (tensor == NULL) return;
  managed =
      gst_cuda_tensor_to_dlpack(tensor, GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE, GST_CUDA_TENSOR_NO_STREAM, NULL);
  g_assert(managed == NULL);
}

int main(void) {
  GstCudaTensorHistogram sum = {0}, histogram = {.frames = 1, .pixels = 2, .bins = {[7] = 2}};
  GstCudaTensorGeometry geometry = {.inverse = {2, 0, 0, 0, 2, -280}};
  gdouble box[4] = {0, 140, 640, 500};
  void (*volatile compiled)(GstSample *) = use;
  g_assert(compiled != NULL);
  gst_cuda_tensor_geometry_map_box(&geometry, box, box);
  g_assert(box[0] == 0 && box[1] == 0 && box[2] == 1280 && box[3] == 720);
  gst_cuda_tensor_geometry_map_point(&geometry, box, box);
  g_assert(box[0] == 0 && box[1] == -280);
  gst_cuda_tensor_histogram_add(&sum, &histogram);
  g_assert(sum.mean == 7 && sum.p99 == 7);
  return 0;
}
