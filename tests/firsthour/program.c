// SPDX-License-Identifier: LGPL-2.1-or-later
// A user's program in C and C++: prints the shape of a tensor from a pipeline.
#include <gst/gst.h>
#include <gstcudatensor.h>

int main(int argc, char **argv) {
  GstElement *pipeline, *sink;
  GstSample *sample = NULL;
  GstCudaTensor *tensor;
  GError *error = NULL;
  const gint64 *shape;
  int wrong;

  gst_init(&argc, &argv);
  pipeline = gst_parse_launch(
      "videotestsrc num-buffers=1 ! cudanormalize width=64 height=48 ! other/tensors ! "
      "appsink name=sink",
      &error);
  if (error != NULL) g_error("%s", error->message);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_signal_emit_by_name(sink, "pull-sample", &sample);
  tensor = gst_cuda_tensor_new_from_sample(sample, &error);
  if (tensor == NULL) g_error("%s", error->message);
  shape = gst_cuda_tensor_get_shape(tensor);
  wrong = gst_cuda_tensor_get_n_dims(tensor) != 4 || shape[1] != 3 || shape[2] != 48 || shape[3] != 64;
  gst_cuda_tensor_unref(tensor);
  gst_sample_unref(sample);
  gst_object_unref(sink);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return wrong;
}
