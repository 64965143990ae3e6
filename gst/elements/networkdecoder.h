// SPDX-License-Identifier: LGPL-2.1-or-later
// The objects in the tensors of a buffer.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gst/base/memorypass.h"
#include "gst/caps/tensorlist.h"
#include "kernels/detectiondecoder.h"
#include "kernels/objects.h"
#include "kernels/ops.h"

namespace cudatensor {

class NetworkDecoder {
 public:
  /// Forgets the network. `list` are its outputs, `decoder` the user's choice.
  void set(const TensorList &list, std::optional<Decoder> decoder, const ModelTask &task,
           double confidence);
  void set_backend(Backend &backend) { operation_ = backend.detections(); }
  void release() { operation_.reset(); }

  /// Maps the tensors of a buffer, and finds out their shapes. Returns null if flexible tensors have
  /// no elements: nothing was found. Throws an Error::Code::frame if the buffer does not hold the
  /// tensors, and Error::settings if the network cannot be decoded, which for static tensors set()
  /// finds out already.
  const CandidatePlan *open(Session &session, GstBuffer *buffer);
  /// Gathers the candidates of the wanted slots of the open buffer, and waits for them.
  void gather(const std::vector<bool> &wanted);
  /// Returns the objects of a slot, which was wanted. The reference is valid until the next call.
  const std::vector<FoundObject> &objects(int64_t slot, const ObjectParams &params);
  /// Unmaps the open buffer at its end.
  class Closing {
   public:
    explicit Closing(NetworkDecoder &decoder) : decoder_(decoder) {}
    ~Closing() { decoder_.pass_.reset(); }
    Closing(const Closing &) = delete;
    Closing &operator=(const Closing &) = delete;

   private:
    NetworkDecoder &decoder_;
  };

 private:
  std::vector<TensorShape> shapes_in_headers() const;
  void check_sizes() const;
  void plan(const std::vector<TensorShape> &shapes);
  OutputData data() const;

  TensorList list_;
  std::optional<Decoder> decoder_;  // after the first plan, the one that was chosen
  ModelTask task_;
  double confidence_ = 0.0;

  std::vector<TensorShape> shapes_;  // those of plan_
  std::vector<size_t> outputs_;      // the tensors in the decoder's order
  std::optional<CandidatePlan> plan_;
  std::unique_ptr<DetectionOperation> operation_;
  std::optional<MemoryPass> pass_;
  std::vector<Candidate> candidates_;
  std::vector<FoundObject> objects_;
};

}  // namespace cudatensor
