// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/buffercount.h"

#include "gst/library/gstcudatensor.h"

namespace cudatensor {
namespace {

constexpr char kKey[] = "gst-cuda-tensor-buffers";

// The count is shared with the pads, because elements can outlive their bin.
void release(gpointer count) { g_atomic_rc_box_release(count); }
void release_closure(gpointer count, GClosure *) { release(count); }

GstPadProbeReturn on_buffer(GstPad *, GstPadProbeInfo *, gpointer count) {
  g_atomic_int_inc(static_cast<guint *>(count));
  return GST_PAD_PROBE_OK;
}

/// Probes the pad in push and in pull mode. In the latter, a demuxer reads a file without sending
/// buffers before its first frame.
void on_pad(GstElement *, GstPad *pad, gpointer count) {
  if (!GST_PAD_IS_SRC(pad)) return;
  const auto types =
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST);
  gst_pad_add_probe(pad, types, on_buffer, g_atomic_rc_box_acquire(count), release);
}

void connect(GstElement *element, const char *signal, GCallback callback, gpointer count) {
  g_signal_connect_data(element, signal, callback, g_atomic_rc_box_acquire(count), release_closure,
                        static_cast<GConnectFlags>(0));
}

/// Leaves out bins, whose pads are those of their elements.
void watch(GstElement *element, gpointer count) {
  if (GST_IS_BIN(element)) return;
  connect(element, "pad-added", G_CALLBACK(on_pad), count);
  const auto each = [](GstElement *of, GstPad *pad, gpointer data) -> gboolean {
    on_pad(of, pad, data);
    return TRUE;
  };
  gst_element_foreach_src_pad(element, each, count);
}

void on_element(GstBin *, GstBin *, GstElement *element, gpointer count) { watch(element, count); }

/// Connects before it looks at the present elements and pads, so that none is missed. One that is
/// added in between counts twice, which does no harm.
gpointer start_count(GstElement *bin) {
  gpointer count = g_atomic_rc_box_new0(guint);
  g_object_set_data_full(G_OBJECT(bin), kKey, count, release);
  connect(bin, "deep-element-added", G_CALLBACK(on_element), count);
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(bin));
  const auto each = [](const GValue *item, gpointer data) {
    watch(GST_ELEMENT(g_value_get_object(item)), data);
  };
  while (gst_iterator_foreach(elements, each, count) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(elements);
  gst_iterator_free(elements);
  return count;
}

}  // namespace

guint count_buffers(GstElement *bin) {
  gpointer count = g_object_get_data(G_OBJECT(bin), kKey);
  if (count == nullptr) count = start_count(bin);
  return static_cast<guint>(g_atomic_int_get(static_cast<guint *>(count)));
}

}  // namespace cudatensor

guint gst_cuda_tensor_count_buffers(GstElement *bin) {
  g_return_val_if_fail(GST_IS_BIN(bin), 0);
  return cudatensor::count_buffers(bin);
}
