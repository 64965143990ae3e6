// SPDX-License-Identifier: LGPL-2.1-or-later
// RAII for references and locks.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace cudatensor {

/// Releases one reference, or frees what has no count.
struct Unref {
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps *caps) const { gst_caps_unref(caps); }
  void operator()(GstContext *context) const { gst_context_unref(context); }
  void operator()(GstEvent *event) const { gst_event_unref(event); }
  void operator()(GstMessage *message) const { gst_message_unref(message); }
  void operator()(GstMiniObject *object) const { gst_mini_object_unref(object); }
  void operator()(GstQuery *query) const { gst_query_unref(query); }
  void operator()(GstSample *sample) const { gst_sample_unref(sample); }
  void operator()(GstStructure *structure) const { gst_structure_free(structure); }
  void operator()(GKeyFile *file) const { g_key_file_unref(file); }
  void operator()(gchar *text) const { g_free(text); }
  void operator()(gchar **texts) const { g_strfreev(texts); }
  /// Any GstObject, including libgstcuda's objects.
  void operator()(gpointer object) const { gst_object_unref(object); }
};

/// An owned reference.
template <class T>
using Ref = std::unique_ptr<T, Unref>;

/// Holds a GstObject's lock.
class ObjectLock {
 public:
  explicit ObjectLock(gpointer object) : object_(object) { GST_OBJECT_LOCK(object_); }
  ~ObjectLock() { GST_OBJECT_UNLOCK(object_); }
  ObjectLock(const ObjectLock &) = delete;
  ObjectLock &operator=(const ObjectLock &) = delete;

 private:
  gpointer object_;
};

/// Calls `body` with the object's lock held and returns its result.
template <class Body>
auto locked(gpointer object, const Body &body) {
  const ObjectLock lock(object);
  return body();
}

}  // namespace cudatensor
