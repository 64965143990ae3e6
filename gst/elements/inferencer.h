// SPDX-License-Identifier: LGPL-2.1-or-later
// The logic of cudainference: a network from start to stop, its caps, and its runs.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <memory>
#include <mutex>

#include "gst/elements/inferencesettings.h"
#include "gst/elements/networkrunner.h"
#include "gst/util/errors.h"
#include "gst/util/faultyframes.h"

namespace cudatensor {

class Inferencer {
 public:
  Inferencer(GstBaseTransform *element, GstDebugCategory *category)
      : element_(element), category_(category), errors_(GST_ELEMENT(element)) {}
  ~Inferencer() { stop(); }

  // The caller holds the object lock.
  InferenceSettings &settings() { return settings_; }
  Provider active() const { return active_; }

  // Called while no streaming thread runs.
  /// Reads the model and makes the session. Posts the error and returns false if that fails.
  bool start();
  void stop();

  // Any thread.
  /// Ends a run that goes on, and all others until the next start.
  void terminate();
  /// Returns the caps of the other pad, before they are intersected with its template.
  GstCaps *transform_caps(GstPadDirection direction, GstCaps *caps);
  /// Returns whether the network takes these fixed caps. Logs a warning that says why not.
  bool accepts(GstCaps *caps);
  bool handle_context_query(GstQuery *query);

  // Streaming thread only.
  bool set_caps(GstCaps *in, GstCaps *out);
  bool propose_allocation(GstQuery *query);
  bool decide_allocation(GstQuery *query);
  /// Whether run() adds the memories of the outputs, because their shapes depend on the data.
  bool adds_memories() const { return !shapes_.is_known(); }
  /// Posts the error of an output buffer that cannot be allocated.
  void post_allocation_error();
  /// Runs the network and fills `out`.
  GstFlowReturn run(GstBuffer *in, GstBuffer *out);

 private:
  /// What belongs to a started element. Other threads may use it while the element stops.
  struct Started {
    std::shared_ptr<PrimarySession> session;  // null: the network runs on the CPU
    std::shared_ptr<ort::Network> network;
    std::shared_ptr<const NetworkCaps> caps;
  };

  void open();
  Started open_best(const ort::Library &library, ort::NetworkOptions options) const;
  Started open_with(const ort::Library &library, ort::NetworkOptions options) const;
  std::shared_ptr<ort::Network> make_network(const ort::Library &library,
                                             const ort::NetworkOptions &options,
                                             PrimarySession *session) const;
  std::shared_ptr<const NetworkCaps> make_caps(const Started &started, NetworkRunner &runner) const;
  Started started() const;
  void set_started(Started started);
  void set_active(Provider active);
  void run_in_session(GstBuffer *in, GstBuffer *out);
  void describe(GstBuffer *in, GstBuffer *out) const;

  GstBaseTransform *element_;
  GstDebugCategory *category_;
  ErrorReporter errors_;

  InferenceSettings settings_;             // guarded by the object lock
  Provider active_ = Provider::automatic;  // guarded by the object lock
  mutable std::mutex mutex_;
  Started started_;  // guarded by mutex_

  // Streaming thread only.
  std::unique_ptr<NetworkRunner> runner_;
  NetworkShapes shapes_;
  bool is_warm_ = false;
  FaultyFrames faulty_frames_;
};

}  // namespace cudatensor
