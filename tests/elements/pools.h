// SPDX-License-Identifier: LGPL-2.1-or-later
// What downstream answers to an ALLOCATION query, and what an element answers itself.
#pragma once

#include "rig.h"

namespace cudatensor {

/// Answers for a rig's downstream while it lives.
class PoolOffer {
 public:
  enum class Kind {
    none,          ///< neither pool nor metas
    plain,         ///< a GstBufferPool of the caps' size
    several,       ///< two of them
    larger,        ///< one whose buffers are larger than the query's
    smaller,       ///< one whose buffers are smaller
    rounding,      ///< one that makes its buffers larger when it is configured, and says so
    silent,        ///< the same, and only its configuration says so
    pages,         ///< one that offers whole pages, and makes them whatever it is told
    padded_video,  ///< a GstVideoBufferPool that pads, and GstVideoMeta
    video,         ///< a GstVideoBufferPool, and GstVideoMeta
    meta,          ///< GstVideoMeta, but no pool
  };

  PoolOffer(Rig &rig, Kind kind, guint size = 0);
  ~PoolOffer();
  PoolOffer(const PoolOffer &) = delete;
  PoolOffer &operator=(const PoolOffer &) = delete;

  int asked() const { return asked_; }
  GstBufferPool *pool() const { return pool_.get(); }

 private:
  static GstPadProbeReturn answer(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  void fill(GstQuery *query);

  PadRef pad_;
  Kind kind_;
  guint size_;
  gulong probe_;
  int asked_ = 0;
  Ref<GstBufferPool> pool_;
};

/// The pool that a rig's element offers its upstream, active; null where it offers none.
Ref<GstBufferPool> offered_pool(Rig &rig);
BufferRef acquire(const Ref<GstBufferPool> &pool);

}  // namespace cudatensor
