// SPDX-License-Identifier: LGPL-2.1-or-later
// Downstream's answers to ALLOCATION queries, and those of an element.
#pragma once

#include "rig.h"

namespace cudatensor {

/// While it lives, answers ALLOCATION queries for a rig's downstream.
class PoolOffer {
 public:
  enum class Kind {
    none,          ///< neither pool nor metas
    plain,         ///< a GstBufferPool of the caps' size
    two,           ///< the same, of two buffers
    several,       ///< two such pools
    larger,        ///< one whose buffers are larger than the query's
    smaller,       ///< one whose buffers are smaller
    rounding,      ///< one that enlarges its buffers when it is configured, and returns FALSE
    silent,        ///< the same, but only its configuration tells
    pages,         ///< one that always makes whole pages
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

/// Returns the pool that a rig's element offers upstream, activated; null if it offers none.
Ref<GstBufferPool> offered_pool(Rig &rig);
BufferRef acquire(const Ref<GstBufferPool> &pool);

}  // namespace cudatensor
