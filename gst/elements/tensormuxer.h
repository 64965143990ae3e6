// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>

#include "gst/base/batchrun.h"
#include "gst/base/elementcore.h"
#include "gst/base/tensorsettings.h"
#include "gst/elements/batchschedule.h"
#include "gst/elements/muxcamera.h"
#include "gst/meta/batchmeta.h"
#include "gst/util/ref.h"

namespace cudatensor {

struct MuxSettings : TensorSettings {
  guint batch_size = 0;
  guint64 window = 0;
  bool qos = true;
};

const Properties<MuxSettings> &mux_properties();

/// A frame that goes into a batch, or a gap.
struct Frame {
  Ref<GstBuffer> buffer;
  GstClockTime time = GST_CLOCK_TIME_NONE;
};

/// A batch on its way, by slot.
struct CollectedBatch {
  CollectedBatch(SlotPads of, GstClockTime at)
      : slots(std::move(of)),
        start(at),
        frames(slots.size()),
        inputs(slots.size()),
        meta(slots.size()) {}

  SlotPads slots;
  GstClockTime start;
  std::vector<Frame> frames;
  std::vector<BatchInput> inputs;
  std::vector<BatchSlot> meta;
  bool timed = false;  // some picture has a time
};

/// What cudatensormux does, in plain C++; of GstAggregator's functions those of the same names.
class TensorMuxer final : public Configurable {
 public:
  TensorMuxer(GstAggregator *element, GstDebugCategory *category)
      : element_(element),
        category_(category),
        settings_(mux_properties()),
        core_(GST_ELEMENT(element), category, *this, [this] { release(); }) {}

  ElementCore &core() { return core_; }

  // With the object lock held.
  std::optional<Effect> set_property(guint index, const GValue *value) override {
    return settings_.set(index, value);
  }
  void get_property(guint index, GValue *value) override { settings_.get(index, value); }
  void latch() override { settings_.latch(); }
  bool has_room() const;

  bool start();
  void stop();
  void flush() {
    schedule_.reset();
    earliest_ = GST_CLOCK_TIME_NONE;
    begins_segment_ = true;
  }
  void hear_qos(GstEvent *event);

  GstCaps *sink_caps(GstCaps *filter);
  bool set_caps(GstAggregatorPad *pad, GstCaps *caps);
  void set_stream_id(GstAggregatorPad *pad, GstEvent *event);
  GstFlowReturn update_src_caps(GstCaps *downstream, GstCaps **result);
  /// After GstAggregator's own; returns what it is given.
  bool end_negotiation(bool negotiated);
  bool set_src_caps(GstCaps *caps);
  bool propose_allocation(GstAggregatorPad *pad, GstQuery *query);
  bool decide_allocation(GstQuery *query) { return core_.decide_allocation(query, out_.bytes()); }

  GstClockTime next_time() const;
  GstFlowReturn aggregate(bool timeout);

 private:
  void release() { batch_.reset(); }
  void take_over_changes();
  MuxSettings pending() const { return settings_.copy_of_pending(GST_ELEMENT(element_)); }
  const MuxSettings &latched() const { return settings_.latched(); }
  GstClockTime now() const;
  BatchSchedule::Heads heads(const std::vector<Ref<GstAggregatorPad>> &pads) const;
  std::optional<GstClockTime> next_start(const std::vector<Ref<GstAggregatorPad>> &pads) const;
  void update_window(const std::vector<Ref<GstAggregatorPad>> &pads);
  void check_caps(const std::vector<Ref<GstAggregatorPad>> &pads) const;
  void hear_refusal(const std::string &cause);
  bool follow(const std::vector<Ref<GstAggregatorPad>> &pads);
  Frame take(GstAggregatorPad *pad, GstClockTime start);
  bool collect(CollectedBatch &batch);
  void prepare(Session &session, const CollectedBatch &batch);
  Ref<GstBuffer> acquire(Session &session);
  Ref<GstBuffer> compute(CollectedBatch &batch);
  void begin_segment();
  GstFlowReturn push(const CollectedBatch &batch, Ref<GstBuffer> buffer);
  bool is_late_downstream(GstClockTime start) const;
  void post_dropped(gpointer where, GstClockTime time, GstClockTime pts);

  GstAggregator *element_;
  GstDebugCategory *category_;
  LatchedSettings<MuxSettings> settings_;
  std::unique_ptr<ImagesToTensor> batch_;  // goes in its session's scope, at last by core_
  ElementCore core_;

  std::atomic<GstClockTime> earliest_{GST_CLOCK_TIME_NONE};  // that is not late downstream

  // The streaming thread's.
  BatchSchedule schedule_;
  bool renegotiating_ = false;  // caps are to be negotiated before the next batch
  bool negotiated_ = true;      // as far as was tried
  bool live_ = false;
  bool begins_segment_ = true;  // before the next batch
  GstClockTime reported_window_ = GST_CLOCK_TIME_NONE;
  TensorDesc out_ = {};
  std::vector<Source> sources_;  // of the slots, those that batch_ was made for; none: to be made
  std::vector<Geometry> geometries_;
};

}  // namespace cudatensor
