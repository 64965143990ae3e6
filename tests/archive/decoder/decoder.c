/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A decoder of VP8 that is preferred to all others, and gives black pictures. It waits 100 ms for each
 * one, without work. If pictures are 64 pixels wide, it hangs at the fifth one, and works. */
#include <gst/video/video.h>

typedef GstVideoDecoder TestDecoder;
typedef GstVideoDecoderClass TestDecoderClass;

G_DEFINE_TYPE(TestDecoder, test_decoder, GST_TYPE_VIDEO_DECODER)

enum { HANGING_WIDTH = 64, HANGING_PICTURE = 4 };

static gboolean set_format(GstVideoDecoder *decoder, GstVideoCodecState *input) {
  GstVideoCodecState *output = gst_video_decoder_set_output_state(
      decoder, GST_VIDEO_FORMAT_GRAY8, input->info.width, input->info.height, input);
  gst_video_codec_state_unref(output);
  return TRUE;
}

static GstFlowReturn handle_frame(GstVideoDecoder *decoder, GstVideoCodecFrame *frame) {
  GstVideoCodecState *output = gst_video_decoder_get_output_state(decoder);
  const gint width = output->info.width;
  gst_video_codec_state_unref(output);
  while (width == HANGING_WIDTH && frame->system_frame_number == HANGING_PICTURE) g_usleep(100);
  g_usleep(G_USEC_PER_SEC / 10);
  GstFlowReturn flow = gst_video_decoder_allocate_output_frame(decoder, frame);
  if (flow != GST_FLOW_OK) return flow;
  gst_buffer_memset(frame->output_buffer, 0, 0, gst_buffer_get_size(frame->output_buffer));
  return gst_video_decoder_finish_frame(decoder, frame);
}

static void test_decoder_class_init(TestDecoderClass *klass) {
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstCaps *coded = gst_caps_from_string("video/x-vp8");
  GstCaps *decoded = gst_caps_from_string("video/x-raw,format=GRAY8");
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, coded));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, decoded));
  gst_caps_unref(coded);
  gst_caps_unref(decoded);
  gst_element_class_set_static_metadata(element, "Test decoder", "Codec/Decoder/Video",
                                        "Decodes slowly, or hangs", "gst-cudatensor");
  klass->set_format = set_format;
  klass->handle_frame = handle_frame;
}

static void test_decoder_init(TestDecoder *decoder) { (void)decoder; }

static gboolean init(GstPlugin *plugin) {
  return gst_element_register(plugin, "cudatensortestdecoder", GST_RANK_PRIMARY + 1000,
                              test_decoder_get_type());
}

#define PACKAGE "gst-cudatensor"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudatensortestdecoder,
                  "A decoder for tests", init, "1.0", "LGPL", PACKAGE, "https://invalid")
