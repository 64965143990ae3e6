// SPDX-License-Identifier: LGPL-2.1-or-later
// threads-noticed HOW: two threads access a number, with the synchronization HOW or without. With a
// race, ThreadSanitizer's library makes the exit status nonzero.
#include <gst/gst.h>

#include <cstring>
#include <thread>

namespace {

int number = 0;
GMutex mutex, other_mutex;
GCond cond;
bool ready = false;

void with_mutex(GMutex &theirs) {
  std::thread other([&] {
    g_mutex_lock(&theirs);
    ++number;
    g_mutex_unlock(&theirs);
  });
  g_mutex_lock(&mutex);
  ++number;
  g_mutex_unlock(&mutex);
  other.join();
}

void with_queue() {
  GAsyncQueue *queue = g_async_queue_new();
  std::thread other([&] {
    ++number;
    g_async_queue_push(queue, &number);
  });
  ++*static_cast<int *>(g_async_queue_pop(queue));
  other.join();
  g_async_queue_unref(queue);
}

/// The thread that frees a buffer may not be the one that accessed its memory last.
void with_buffer() {
  GstBuffer *buffer = gst_buffer_new_allocate(nullptr, 8, nullptr);
  GstBuffer *copy = gst_buffer_copy(buffer);
  std::thread other([copy] {
    GstMapInfo map;
    if (gst_buffer_map(copy, &map, GST_MAP_READ)) {
      number = map.data[0];
      gst_buffer_unmap(copy, &map);
    }
    gst_buffer_unref(copy);
  });
  gst_buffer_unref(buffer);
  other.join();
}

void with_message() {
  GstElement *bin = gst_bin_new(nullptr);
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(bin, bus);
  std::thread other([&] {
    ++number;
    gst_element_post_message(bin, gst_message_new_eos(nullptr));
  });
  GstMessage *message = gst_bus_timed_pop(bus, GST_CLOCK_TIME_NONE);
  ++number;
  gst_message_unref(message);
  other.join();
  gst_object_unref(bus);
  gst_object_unref(bin);
}

void add_one(gpointer, gpointer) {
  ++number;
  g_mutex_lock(&mutex);
  ready = true;
  g_cond_signal(&cond);
  g_mutex_unlock(&mutex);
}

void with_pool() {
  GThreadPool *pool = g_thread_pool_new(add_one, nullptr, 1, TRUE, nullptr);
  ++number;
  g_thread_pool_push(pool, &number, nullptr);
  g_mutex_lock(&mutex);
  while (!ready) g_cond_wait(&cond, &mutex);
  g_mutex_unlock(&mutex);
  ++number;
  g_thread_pool_free(pool, FALSE, TRUE);
}

/// A base class reads a segment while an element writes it.
void with_segment() {
  static GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  std::thread other([] { segment.position = 5; });
  gst_segment_to_running_time(&segment, GST_FORMAT_TIME, 0);
  other.join();
}

void with_nothing() {
  std::thread other([] { ++number; });
  ++number;
  other.join();
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(nullptr, nullptr);
  const char *how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "mutex") == 0)
    with_mutex(mutex);
  else if (strcmp(how, "another-mutex") == 0)
    with_mutex(other_mutex);
  else if (strcmp(how, "queue") == 0)
    with_queue();
  else if (strcmp(how, "buffer") == 0)
    with_buffer();
  else if (strcmp(how, "message") == 0)
    with_message();
  else if (strcmp(how, "pool") == 0)
    with_pool();
  else if (strcmp(how, "segment") == 0)
    with_segment();
  else if (strcmp(how, "nothing") == 0)
    with_nothing();
  else
    return 0;
  return 0;
}
