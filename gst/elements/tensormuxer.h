// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>

#include "gst/base/elementcore.h"
#include "gst/elements/muxbatch.h"
#include "gst/elements/muxcamera.h"
#include "gst/elements/muxframes.h"
#include "gst/tensor/tensormaker.h"
#include "gst/util/ref.h"

namespace cudatensor {

struct MuxSettings : TensorSettings {
  guint batch_size = 0;
  guint64 window = 0;
  bool qos = true;
};

const Properties<MuxSettings> &mux_properties();

/// The implementation of cudatensormux. Functions named like those of GstAggregator implement them.
class TensorMuxer final : public Configurable {
 public:
  TensorMuxer(GstAggregator *element, GstDebugCategory *category)
      : element_(element),
        category_(category),
        settings_(mux_properties()),
        core_(GST_ELEMENT(element), category, *this, [this] { maker_.release(); }),
        frames_(element, category) {}

  ElementCore &core() { return core_; }

  // Called with the object lock held, except prepare_change().
  Change prepare_change(guint index, const GValue *value) override;
  std::optional<Effect> set_property(guint index, const GValue *value) override;
  void get_property(guint index, GValue *value) override { settings_.get(index, value); }
  void latch() override { settings_.latch(); }
  bool has_free_slot() const;

  bool start();
  void stop();
  void flush();
  void handle_qos(GstEvent *event);

  GstCaps *sink_caps(GstCaps *filter);
  bool set_caps(GstAggregatorPad *pad, GstCaps *caps);
  void set_stream_id(GstAggregatorPad *pad, GstEvent *event);
  /// Follows the orientation in the tags of a camera.
  void follow_direction(GstAggregatorPad *pad, GstEvent *event);
  GstFlowReturn update_src_caps(GstCaps *downstream, GstCaps **result);
  /// Called after GstAggregator's implementation, with its result, which it returns.
  bool finish_negotiation(bool negotiated);
  bool set_src_caps(GstCaps *caps);
  bool propose_allocation(GstAggregatorPad *pad, GstQuery *query);
  bool decide_allocation(GstQuery *query) { return core_.decide_allocation(query, out_.bytes()); }

  GstClockTime next_time() const;
  GstFlowReturn aggregate(bool timeout);

 private:
  void apply_changes();
  void use(const NetworkInput &network);
  MuxSettings pending() const { return settings_.copy_of_pending(GST_ELEMENT(element_)); }
  const MuxSettings &latched() const { return settings_.latched(); }
  void update_window(const std::vector<Ref<GstAggregatorPad>> &pads);
  void check_caps(const MuxFrames::Pads &pads, const std::vector<Frame> &heads) const;
  void report_negotiation_error(const Error &cause);
  bool follow(const MuxFrames::Pads &pads, const std::vector<Frame> &heads);
  bool follow_surfaces(const MuxFrames::Pads &pads, const std::vector<Frame> &heads, bool &moved);
  std::optional<GstClockTime> start_of_next(const MuxFrames::Pads &pads, bool timeout,
                                            std::vector<Frame> &heads);
  void collect(MuxBatch &batch);
  int64_t batch_of(size_t cameras) const;
  Ref<GstBuffer> acquire(Session &session);
  Ref<GstBuffer> compute(MuxBatch &batch);
  void warn_of_faults(const MuxBatch &batch);
  void begin_segment();
  GstFlowReturn push(const MuxBatch &batch, Ref<GstBuffer> buffer);
  bool is_late_downstream(GstClockTime start) const;

  GstAggregator *element_;
  GstDebugCategory *category_;
  LatchedSettings<MuxSettings> settings_;
  TensorMaker maker_;
  ElementCore core_;

  /// The running time up to which batches are too late downstream.
  std::atomic<GstClockTime> earliest_{GST_CLOCK_TIME_NONE};

  // Used only by the streaming thread.
  MuxFrames frames_;
  bool renegotiating_ = false;  // negotiate caps before the next batch
  bool negotiated_ = true;      // false if the last negotiation failed
  bool begins_segment_ = true;  // send a segment before the next batch
  GstClockTime reported_window_ = GST_CLOCK_TIME_NONE;
  TensorDesc out_ = {};
  NetworkInput network_;  // of the output's caps
  MuxSettings used_;      // the latched settings, with what the network needs
};

}  // namespace cudatensor
