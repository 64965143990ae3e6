// SPDX-License-Identifier: LGPL-2.1-or-later
// A library to preload into programs with ThreadSanitizer. It reports the synchronization in GLib
// and GStreamer, which distributions build without instrumentation.
//
// GMutex and GCond use futexes; reference counts and queues use atomic instructions.
// ThreadSanitizer does not see these, so all accesses that they protect look like races. The
// functions here replace those of the same names, call the originals and report the order of
// events. They report no more than the truth: a lock orders only the threads that hold it.
//
// Calls within libglib and libgstreamer do not reach these functions, because both libraries bind
// their own functions directly. Comments below and in tests/tsan.supp describe the consequences.
#include <dlfcn.h>
#include <gio/gio.h>
#include <gst/gst.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>

// Also defined as macros.
#undef g_object_ref
#undef g_once_init_enter
#undef g_once_init_leave

// Null in programs without ThreadSanitizer's library, such as a shell that starts a test.
extern "C" {
[[gnu::weak]] void __tsan_acquire(void *address);
[[gnu::weak]] void __tsan_release(void *address);
[[gnu::weak]] void __tsan_read_range(void *address, unsigned long size);
[[gnu::weak]] void __tsan_write_range(void *address, unsigned long size);
}

namespace {

template <class Function>
Function *next(const char *name) {
  void *const found = dlsym(RTLD_NEXT, name);
  if (found != nullptr) return reinterpret_cast<Function *>(found);
  fprintf(stderr, "the function %s to replace was not found\n", name);
  abort();
}

#define NEXT(name)                                            \
  ([]() -> decltype(&name) {                                  \
    static const auto function = next<decltype(name)>(#name); \
    return function;                                          \
  }())

void acquire(const void *address) {
  if (__tsan_acquire != nullptr) __tsan_acquire(const_cast<void *>(address));
}
void release(const void *address) {
  if (__tsan_release != nullptr) __tsan_release(const_cast<void *>(address));
}

// GStreamer's base classes access the segments of elements and pads with the functions below. Other
// code, ours in particular, must hold the same lock.
constexpr unsigned long kSegmentSize = offsetof(GstSegment, _gst_reserved);
void read_segment(const GstSegment *segment) {
  if (__tsan_read_range != nullptr)
    __tsan_read_range(const_cast<GstSegment *>(segment), kSegmentSize);
}
void write_segment(GstSegment *segment) {
  if (__tsan_write_range != nullptr) __tsan_write_range(segment, kSegmentSize);
}

/// Reports that a thread drops a reference. The last one frees the object.
void give_up(gconstpointer object) {
  release(object);
  acquire(object);
}

/// Function of a thread pool.
struct Pooled {
  GFunc function;
  gpointer user_data;

  static void run(gpointer data, gpointer self) {
    acquire(self);
    const auto *pooled = static_cast<const Pooled *>(self);
    pooled->function(data, pooled->user_data);
  }
};

/// One address for all buses, because only the element knows the bus of a message.
const char all_buses = 0;
/// One address for the callbacks of all main contexts, because their threads are unknown.
const char all_sources = 0;

/// Buffers share memories, which are freed with the last buffer.
void acquire_memories(GstMiniObject *object) {
  if (object == nullptr || GST_MINI_OBJECT_TYPE(object) != GST_TYPE_BUFFER) return;
  auto *const buffer = reinterpret_cast<GstBuffer *>(object);
  const guint count = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < count; ++i) acquire(gst_buffer_peek_memory(buffer, i));
}

/// Receives a message from a bus. Waits until the sender has dropped its reference within
/// libgstreamer: if the sender dropped the last one, ThreadSanitizer would not see that it frees
/// the message after it was read.
GstMessage *arrived(GstMessage *message) {
  acquire(&all_buses);
  for (int i = 0; message != nullptr && i < 500; ++i) {
    if (GST_MINI_OBJECT_REFCOUNT_VALUE(message) == 1) break;
    g_usleep(100);
  }
  return message;
}

/// The callback of a bus on a main context.
struct BusWatch {
  GstBusFunc function;
  gpointer user_data;
  GDestroyNotify notify;

  static gboolean call(GstBus *bus, GstMessage *message, gpointer self) {
    const auto *watch = static_cast<const BusWatch *>(self);
    return watch->function(bus, arrived(message), watch->user_data);
  }
  static void forget(gpointer self) {
    auto *const watch = static_cast<BusWatch *>(self);
    if (watch->notify != nullptr) watch->notify(watch->user_data);
    delete watch;
  }
};

const char task_function[] = "threads-function";

/// Never destroyed.
std::mutex &quarks() {
  static auto &mutex = *new std::mutex;
  return mutex;
}

void run_task(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  acquire(task);
  const auto function =
      reinterpret_cast<GTaskThreadFunc>(g_object_get_data(G_OBJECT(task), task_function));
  function(task, source, data, cancellable);
}

}  // namespace

extern "C" {

// --- GLib: locks -------------------------------------------------------------------------------

void g_mutex_lock(GMutex *mutex) {
  NEXT(g_mutex_lock)(mutex);
  acquire(mutex);
}

gboolean g_mutex_trylock(GMutex *mutex) {
  const gboolean locked = NEXT(g_mutex_trylock)(mutex);
  if (locked) acquire(mutex);
  return locked;
}

void g_mutex_unlock(GMutex *mutex) {
  release(mutex);
  NEXT(g_mutex_unlock)(mutex);
}

void g_cond_wait(GCond *cond, GMutex *mutex) {
  release(mutex);
  NEXT(g_cond_wait)(cond, mutex);
  acquire(mutex);
}

gboolean g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end_time) {
  release(mutex);
  const gboolean signalled = NEXT(g_cond_wait_until)(cond, mutex, end_time);
  acquire(mutex);
  return signalled;
}

void g_bit_lock(volatile gint *address, gint bit) {
  NEXT(g_bit_lock)(address, bit);
  acquire(const_cast<const gint *>(address));
}

void g_bit_unlock(volatile gint *address, gint bit) {
  release(const_cast<const gint *>(address));
  NEXT(g_bit_unlock)(address, bit);
}

// Most code uses the macro, which reads the location itself; ThreadSanitizer sees that.
gboolean g_once_init_enter(volatile void *location) {
  const gboolean first = NEXT(g_once_init_enter)(location);
  if (!first) acquire(const_cast<const void *>(location));
  return first;
}

void g_once_init_leave(volatile void *location, gsize result) {
  release(const_cast<const void *>(location));
  NEXT(g_once_init_leave)(location, result);
}

// --- GLib: quarks ------------------------------------------------------------------------------

// Their strings are in blocks that GLib fills under a lock that ThreadSanitizer does not see.
GQuark g_quark_from_string(const gchar *string) {
  const std::lock_guard lock(quarks());
  return NEXT(g_quark_from_string)(string);
}

GQuark g_quark_from_static_string(const gchar *string) {
  const std::lock_guard lock(quarks());
  return NEXT(g_quark_from_static_string)(string);
}

const gchar *g_intern_string(const gchar *string) {
  const std::lock_guard lock(quarks());
  return NEXT(g_intern_string)(string);
}

const gchar *g_intern_static_string(const gchar *string) {
  const std::lock_guard lock(quarks());
  return NEXT(g_intern_static_string)(string);
}

// --- GLib: queues and callbacks ----------------------------------------------------------------

void g_async_queue_push(GAsyncQueue *queue, gpointer data) {
  release(queue);
  NEXT(g_async_queue_push)(queue, data);
}

gpointer g_async_queue_pop(GAsyncQueue *queue) {
  gpointer data = NEXT(g_async_queue_pop)(queue);
  acquire(queue);
  return data;
}

gpointer g_async_queue_try_pop(GAsyncQueue *queue) {
  gpointer data = NEXT(g_async_queue_try_pop)(queue);
  acquire(queue);
  return data;
}

gpointer g_async_queue_timeout_pop(GAsyncQueue *queue, guint64 timeout) {
  gpointer data = NEXT(g_async_queue_timeout_pop)(queue, timeout);
  acquire(queue);
  return data;
}

GThreadPool *g_thread_pool_new(GFunc function, gpointer user_data, gint most, gboolean exclusive,
                               GError **error) {
  // Not freed, because pools live about as long as the process.
  auto *const pooled = new Pooled{function, user_data};
  GThreadPool *const pool = NEXT(g_thread_pool_new)(Pooled::run, pooled, most, exclusive, error);
  if (pool == nullptr) delete pooled;
  return pool;
}

gboolean g_thread_pool_push(GThreadPool *pool, gpointer data, GError **error) {
  release(pool->user_data);
  return NEXT(g_thread_pool_push)(pool, data, error);
}

void g_task_run_in_thread(GTask *task, GTaskThreadFunc function) {
  g_object_set_data(G_OBJECT(task), task_function, reinterpret_cast<gpointer>(function));
  release(task);
  NEXT(g_task_run_in_thread)(task, run_task);
}

void g_task_return_pointer(GTask *task, gpointer result, GDestroyNotify destroy) {
  release(task);
  NEXT(g_task_return_pointer)(task, result, destroy);
}

gpointer g_task_propagate_pointer(GTask *task, GError **error) {
  acquire(task);
  return NEXT(g_task_propagate_pointer)(task, error);
}

guint g_source_attach(GSource *source, GMainContext *context) {
  release(&all_sources);
  return NEXT(g_source_attach)(source, context);
}

// --- references --------------------------------------------------------------------------------

gpointer g_object_ref(gpointer object) {
  release(object);
  return NEXT(g_object_ref)(object);
}

void g_object_unref(gpointer object) {
  give_up(object);
  NEXT(g_object_unref)(object);
}

void gst_object_unref(gpointer object) {
  give_up(object);
  NEXT(gst_object_unref)(object);
}

// The thread that drops the last reference has exclusive access to the object, and sees all that
// others did before they dropped theirs. Other threads only decrement the count here.
void gst_mini_object_unref(GstMiniObject *object) {
  release(object);
  gint count = g_atomic_int_get(&object->refcount);
  while (count > 1) {
    if (g_atomic_int_compare_and_exchange(&object->refcount, count, count - 1)) return;
    count = g_atomic_int_get(&object->refcount);
  }
  acquire(object);
  acquire_memories(object);
  NEXT(gst_mini_object_unref)(object);
}

gboolean gst_mini_object_replace(GstMiniObject **place, GstMiniObject *object) {
  if (object != nullptr) gst_mini_object_ref(object);
  GstMiniObject *const old = __atomic_exchange_n(place, object, __ATOMIC_SEQ_CST);
  if (old != nullptr) gst_mini_object_unref(old);
  return old != object;
}

gboolean gst_mini_object_is_writable(const GstMiniObject *object) {
  const gboolean writable = NEXT(gst_mini_object_is_writable)(object);
  if (writable) acquire(object);
  return writable;
}

GstMiniObject *gst_mini_object_make_writable(GstMiniObject *object) {
  GstMiniObject *const writable = NEXT(gst_mini_object_make_writable)(object);
  acquire(object);
  return writable;
}

// --- GStreamer: memory, pools, pads and buses
// ---------------------------------------------------------

void gst_buffer_unmap(GstBuffer *buffer, GstMapInfo *info) {
  release(info->memory);
  NEXT(gst_buffer_unmap)(buffer, info);
}

void gst_memory_unmap(GstMemory *memory, GstMapInfo *info) {
  release(memory);
  NEXT(gst_memory_unmap)(memory, info);
}

// A buffer returns to its pool in gst_mini_object_unref().
GstFlowReturn gst_buffer_pool_acquire_buffer(GstBufferPool *pool, GstBuffer **buffer,
                                             GstBufferPoolAcquireParams *params) {
  const GstFlowReturn flow = NEXT(gst_buffer_pool_acquire_buffer)(pool, buffer, params);
  if (flow != GST_FLOW_OK) return flow;
  acquire(*buffer);
  acquire_memories(GST_MINI_OBJECT_CAST(*buffer));
  return flow;
}

/// Holds the event, and the one that it replaces on the pad, until libgstreamer has dropped its
/// references, because a receiver may drop its own earlier.
gboolean gst_pad_push_event(GstPad *pad, GstEvent *event) {
  GstEvent *const old = GST_EVENT_IS_STICKY(event)
                            ? gst_pad_get_sticky_event(pad, GST_EVENT_TYPE(event), 0)
                            : nullptr;
  gst_event_ref(event);
  const gboolean taken = NEXT(gst_pad_push_event)(pad, event);
  gst_mini_object_unref(GST_MINI_OBJECT_CAST(event));
  if (old != nullptr) gst_mini_object_unref(GST_MINI_OBJECT_CAST(old));
  return taken;
}

gboolean gst_element_post_message(GstElement *element, GstMessage *message) {
  release(&all_buses);
  return NEXT(gst_element_post_message)(element, message);
}

void gst_element_message_full(GstElement *element, GstMessageType type, GQuark domain, gint code,
                              gchar *text, gchar *debug, const gchar *file, const gchar *function,
                              gint line) {
  release(&all_buses);
  NEXT(gst_element_message_full)(element, type, domain, code, text, debug, file, function, line);
}

gboolean gst_bus_post(GstBus *bus, GstMessage *message) {
  release(&all_buses);
  return NEXT(gst_bus_post)(bus, message);
}

guint gst_bus_add_watch_full(GstBus *bus, gint priority, GstBusFunc function, gpointer user_data,
                             GDestroyNotify notify) {
  return NEXT(gst_bus_add_watch_full)(bus, priority, BusWatch::call,
                                      new BusWatch{function, user_data, notify}, BusWatch::forget);
}

guint gst_bus_add_watch(GstBus *bus, GstBusFunc function, gpointer user_data) {
  return gst_bus_add_watch_full(bus, G_PRIORITY_DEFAULT, function, user_data, nullptr);
}

GstMessage *gst_bus_pop(GstBus *bus) { return arrived(NEXT(gst_bus_pop)(bus)); }

GstMessage *gst_bus_pop_filtered(GstBus *bus, GstMessageType types) {
  return arrived(NEXT(gst_bus_pop_filtered)(bus, types));
}

GstMessage *gst_bus_timed_pop(GstBus *bus, GstClockTime timeout) {
  return arrived(NEXT(gst_bus_timed_pop)(bus, timeout));
}

GstMessage *gst_bus_timed_pop_filtered(GstBus *bus, GstClockTime timeout, GstMessageType types) {
  return arrived(NEXT(gst_bus_timed_pop_filtered)(bus, timeout, types));
}

// --- GStreamer: segments -----------------------------------------------------------------------

void gst_segment_init(GstSegment *segment, GstFormat format) {
  write_segment(segment);
  NEXT(gst_segment_init)(segment, format);
}

void gst_segment_copy_into(const GstSegment *from, GstSegment *to) {
  read_segment(from);
  write_segment(to);
  NEXT(gst_segment_copy_into)(from, to);
}

void gst_event_copy_segment(GstEvent *event, GstSegment *to) {
  write_segment(to);
  NEXT(gst_event_copy_segment)(event, to);
}

GstEvent *gst_event_new_segment(const GstSegment *segment) {
  read_segment(segment);
  return NEXT(gst_event_new_segment)(segment);
}

guint64 gst_segment_to_running_time(const GstSegment *segment, GstFormat format, guint64 position) {
  read_segment(segment);
  return NEXT(gst_segment_to_running_time)(segment, format, position);
}

guint64 gst_segment_to_stream_time(const GstSegment *segment, GstFormat format, guint64 position) {
  read_segment(segment);
  return NEXT(gst_segment_to_stream_time)(segment, format, position);
}

gboolean gst_segment_clip(const GstSegment *segment, GstFormat format, guint64 start, guint64 stop,
                          guint64 *clip_start, guint64 *clip_stop) {
  read_segment(segment);
  return NEXT(gst_segment_clip)(segment, format, start, stop, clip_start, clip_stop);
}

gboolean gst_segment_do_seek(GstSegment *segment, gdouble rate, GstFormat format,
                             GstSeekFlags flags, GstSeekType start_type, guint64 start,
                             GstSeekType stop_type, guint64 stop, gboolean *update) {
  write_segment(segment);
  return NEXT(gst_segment_do_seek)(segment, rate, format, flags, start_type, start, stop_type, stop,
                                   update);
}

}  // extern "C"
