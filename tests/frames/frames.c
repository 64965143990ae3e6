/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames MEDIA: the C interface of GstCudaTensorFrames, with a sanitizer where there is one. */
#include <gstcudatensor.h>
#include <string.h>

static gchar *clip;
static const gchar *const kSmall[] = {"width", "32", "height", "24", "backend", "cpu", NULL};

static GstCudaTensorFrames *open_clip(const GstCudaTensorFramesOptions *options) {
  const gchar *const sources[] = {clip, NULL};
  GError *error = NULL;
  GstCudaTensorFrames *frames = gst_cuda_tensor_frames_new(sources, options, kSmall, &error);
  g_assert_no_error(error);
  return frames;
}

static GstCudaTensor *next(GstCudaTensorFrames *frames) {
  GError *error = NULL;
  GstCudaTensor *tensor = gst_cuda_tensor_frames_next(frames, 60 * GST_SECOND, &error);
  g_assert_no_error(error);
  return tensor;
}

static void test_batches(void) {
  const GstCudaTensorFramesOptions options = {.batch = 5, .every = 1.0, .device = "cpu"};
  GstCudaTensorFrames *frames = open_clip(&options);
  GstCudaTensorFramesInfo info;
  g_assert_true(gst_cuda_tensor_frames_get_info(frames, 0, GST_CLOCK_TIME_NONE, &info, NULL));
  g_assert_cmpint(info.width, ==, 768);
  g_assert_cmpint(info.height, ==, 576);
  g_assert_cmpint(info.frame_rate_n, ==, 10 * info.frame_rate_d);
  g_assert_false(info.is_live);
  guint seconds = 0;
  for (guint expected = 5; expected != 0; expected = expected == 5 ? 3 : 0) {
    GstCudaTensor *tensor = next(frames);
    g_assert_cmpint(gst_cuda_tensor_get_shape(tensor)[0], ==, expected);
    g_assert_cmpuint(gst_cuda_tensor_get_size(tensor), ==, expected * 3 * 24 * 32 * 4);
    g_assert_cmpuint(gst_cuda_tensor_get_n_slots(tensor), ==, expected);
    gint64 pts[5];
    gint pads[5];
    g_assert_cmpuint(gst_cuda_tensor_get_slot_times(tensor, 5, pts, pads), ==, expected);
    for (guint i = 0; i < expected; ++i) {
      g_assert_cmpint(pts[i], ==, seconds++ * GST_SECOND);
      g_assert_cmpint(pads[i], ==, 0);
    }
    gst_cuda_tensor_unref(tensor);
  }
  g_assert_null(next(frames));
  g_assert_null(next(frames));
  g_assert_cmpint(gst_cuda_tensor_frames_get_failed_source(frames), ==, -1);
  gst_cuda_tensor_frames_unref(frames);
}

static void test_tensors_outlive_the_frames(void) {
  const GstCudaTensorFramesOptions options = {.count = 3, .device = "cpu"};
  GstCudaTensorFrames *frames = open_clip(&options);
  GstCudaTensor *tensor = next(frames);
  gst_cuda_tensor_frames_close(frames);
  GError *error = NULL;
  g_assert_null(gst_cuda_tensor_frames_next(frames, 0, &error));
  g_assert_error(error, GST_CUDA_TENSOR_ERROR, GST_CUDA_TENSOR_ERROR_CLOSED);
  g_clear_error(&error);
  gst_cuda_tensor_frames_unref(frames);
  gsize sum = 0;
  const guint8 *data = gst_cuda_tensor_get_data(tensor);
  for (gsize i = 0; i < gst_cuda_tensor_get_size(tensor); ++i) sum += data[i];
  g_assert_cmpuint(sum, !=, 0);
  gst_cuda_tensor_unref(tensor);
}

static void test_errors(void) {
  const gchar *const missing[] = {clip, "/nowhere.mp4", NULL}, *const none[] = {NULL};
  const gchar *const odd[] = {"width", NULL}, *const unknown[] = {"nonsense", "1", NULL};
  const gchar *const direction[] = {"video-direction", "90r", NULL};
  const GstCudaTensorFramesOptions left = {.video_direction = "left"},
                                   custom = {.video_direction = "custom"};
  const gchar *const sources[] = {clip, NULL};
  // Tests every pair of options of which only one can be set, each with its smallest value.
  const GstCudaTensorFramesOptions pairs[] = {
      {.every = 1e-6, .every_frames = 1}, {.every = 1e-6, .keyframes = TRUE},
      {.every = 1e-6, .count = 1},        {.every_frames = 1, .keyframes = TRUE},
      {.every_frames = 1, .count = 1},    {.keyframes = TRUE, .count = 1}};
  const GstCudaTensorFramesOptions nan = {.every = -1.0}, wide = {.batch = 2},
                                   empty = {.has_start = TRUE,
                                            .start = 1.0,
                                            .has_stop = TRUE,
                                            .stop = 1.0};
  const struct {
    const gchar *const *sources;
    const GstCudaTensorFramesOptions *options;
    const gchar *const *properties;
    gint code;
  } cases[] = {{missing, NULL, NULL, GST_CUDA_TENSOR_ERROR_NOT_FOUND},
               {none, NULL, NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, NULL, odd, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, NULL, unknown, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, NULL, direction, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &left, NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &custom, NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &pairs[0], NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &pairs[1], NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &pairs[2], NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &pairs[3], NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &pairs[4], NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &pairs[5], NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &nan, NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {sources, &empty, NULL, GST_CUDA_TENSOR_ERROR_SETTINGS},
               {missing, &wide, NULL, GST_CUDA_TENSOR_ERROR_SETTINGS}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); ++i) {
    GError *error = NULL;
    g_assert_null(gst_cuda_tensor_frames_new(cases[i].sources, cases[i].options,
                                             cases[i].properties, &error));
    g_assert_error(error, GST_CUDA_TENSOR_ERROR, cases[i].code);
    g_clear_error(&error);
  }
}

/* The format and the tensor are of the picture as it is seen, the geometry of the stored one. */
static void test_directions(void) {
  const struct {
    const gchar *direction;
    gint width, height;
  } cases[] = {{NULL, 768, 576}, {"identity", 768, 576}, {"90r", 576, 768}, {"horiz", 768, 576}};
  const gchar *const sources[] = {clip, NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); ++i) {
    const GstCudaTensorFramesOptions options = {.device = "cpu",
                                                .video_direction = cases[i].direction};
    GError *error = NULL;
    GstCudaTensorFrames *frames = gst_cuda_tensor_frames_new(sources, &options, NULL, &error);
    g_assert_no_error(error);
    GstCudaTensorFramesInfo info;
    g_assert_true(gst_cuda_tensor_frames_get_info(frames, 0, GST_CLOCK_TIME_NONE, &info, NULL));
    g_assert_cmpint(info.width, ==, cases[i].width);
    g_assert_cmpint(info.height, ==, cases[i].height);
    GstCudaTensor *tensor = next(frames);
    g_assert_cmpint(gst_cuda_tensor_get_shape(tensor)[3], ==, cases[i].width);
    GstCudaTensorSlot slot;
    g_assert_true(gst_cuda_tensor_get_slot(tensor, 0, &slot));
    g_assert_cmpint(slot.geometry.src_width, ==, 768);
    g_assert_cmpint(slot.geometry.dst_width, ==, cases[i].width);
    gst_cuda_tensor_unref(tensor);
    gst_cuda_tensor_frames_unref(frames);
  }
}

static gpointer close_soon(gpointer frames) {
  g_usleep(G_USEC_PER_SEC / 5);
  gst_cuda_tensor_frames_close(frames);
  return NULL;
}

/* Another thread closes them while this one waits, with the pipeline in any state. */
static void test_close(void) {
  for (guint i = 0; i < 20; ++i) {
    GstCudaTensorFrames *frames = open_clip(NULL);
    GThread *thread = g_thread_new("close", close_soon, frames);
    GError *error = NULL;
    GstCudaTensor *tensor;
    while ((tensor = gst_cuda_tensor_frames_next(frames, GST_CLOCK_TIME_NONE, &error)) != NULL) {
      gst_cuda_tensor_unref(tensor);
      if (i % 2 != 0) g_usleep(i * 1000);
    }
    if (error != NULL) g_assert_error(error, GST_CUDA_TENSOR_ERROR, GST_CUDA_TENSOR_ERROR_CLOSED);
    g_clear_error(&error);
    g_thread_join(thread);
    gst_cuda_tensor_frames_unref(gst_cuda_tensor_frames_ref(frames));
    gst_cuda_tensor_frames_unref(frames);
  }
}

static void test_timeout(void) {
  GstCudaTensorFrames *frames = open_clip(NULL);
  GError *error = NULL;
  g_assert_null(gst_cuda_tensor_frames_next(frames, 1, &error));
  g_assert_error(error, GST_CUDA_TENSOR_ERROR, GST_CUDA_TENSOR_ERROR_TIMEOUT);
  g_clear_error(&error);
  GstCudaTensor *tensor = next(frames);
  g_assert_nonnull(tensor);
  gst_cuda_tensor_unref(tensor);
  gst_cuda_tensor_frames_unref(frames);
}

static void test_buffers_are_counted(void) {
  const gchar *const line = "videotestsrc num-buffers=5 ! identity ! fakesink";
  GstElement *pipeline = gst_parse_launch(line, NULL);
  g_assert_cmpuint(gst_cuda_tensor_count_buffers(pipeline), ==, 0);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_message_unref(gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS));
  g_assert_cmpuint(gst_cuda_tensor_count_buffers(pipeline), ==, 10);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}

/* With a count there are two pipelines. The number also changes between them. */
static void test_buffers_of_frames_are_counted(void) {
  const GstCudaTensorFramesOptions options = {.count = 4, .device = "cpu"};
  GstCudaTensorFrames *frames = open_clip(&options);
  g_assert_cmpuint(gst_cuda_tensor_frames_count_buffers(frames), ==, 0);
  gst_cuda_tensor_unref(next(frames));
  g_assert_cmpuint(gst_cuda_tensor_frames_count_buffers(frames), >, 0);
  gst_cuda_tensor_frames_unref(frames);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  clip = g_build_filename(argv[1], "pedestrians.webm", NULL);
  g_test_add_func("/frames/batches", test_batches);
  g_test_add_func("/frames/tensors outlive the frames", test_tensors_outlive_the_frames);
  g_test_add_func("/frames/errors", test_errors);
  g_test_add_func("/frames/directions", test_directions);
  g_test_add_func("/frames/close", test_close);
  g_test_add_func("/frames/timeout", test_timeout);
  g_test_add_func("/frames/buffers are counted", test_buffers_are_counted);
  g_test_add_func("/frames/buffers of frames are counted", test_buffers_of_frames_are_counted);
  const int result = g_test_run();
  g_free(clip);
  return result;
}
