// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes a tensor of pictures: finds the regions of each, which become its slots, and fills them in
// one pass.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "gst/base/framepass.h"
#include "gst/nvmm/frames.h"
#include "gst/tensor/slots.h"
#include "gst/tensor/tensorsettings.h"
#include "kernels/ops.h"

namespace cudatensor {

/// A buffer whose pictures go into a tensor: one, or the surfaces of a batch.
struct TensorInput {
  using Surfaces = std::vector<std::optional<nvmm::SurfaceFrame>>;

  GstBuffer *buffer = nullptr;  ///< null: its slots are empty
  const InputCaps *caps = nullptr;
  const char *name = nullptr;          ///< put before errors of its pictures; null: nothing is
  const Surfaces *surfaces = nullptr;  ///< what a batch says of its surfaces

  size_t pictures() const { return caps != nullptr ? static_cast<size_t>(caps->surfaces) : 1; }
};

/// What became of a picture.
struct MadePicture {
  FoundRegions found;          ///< none if the picture was not used
  std::optional<Error> fault;  ///< why it was not used; no value if it was, or if there was none
};

/// Used only by the streaming thread, inside the session's scope.
class TensorMaker {
 public:
  /// Prepares for tensors with the dimensions of `out`, in so many equal parts. Throws Error if the
  /// settings are invalid.
  void prepare(Backend &backend, const TensorSettings &settings, const TensorDesc &out,
               int64_t parts = 1);
  /// Destroys the operation, before the session is closed.
  void release() { operation_.reset(); }
  /// The tensor that was prepared.
  const TensorDesc &out() const { return out_; }

  /// Fills a part of a tensor with the pictures of the inputs. An Error::Code::frame of a picture
  /// leaves its slots empty; other errors are thrown, with the name of the input. Returns false, and
  /// fills nothing, if there is no input whose buffer can be used.
  bool make(Session &session, const TensorSettings &settings,
            const std::vector<TensorInput> &inputs, GstBuffer *out, int64_t part = 0);
  /// Fills the parts from `first` on with pad, and completes the tensor.
  void pad(Session &session, GstBuffer *out, int64_t first);

  // Of the last make():
  /// By input, and of a batch by surface.
  const std::vector<MadePicture> &pictures() const { return pictures_; }
  /// By slot.
  const std::vector<Geometry> &geometries() const { return *geometries_; }
  /// The slots of the pictures. `wholes`: by picture, a slot for the whole of it, without its
  /// geometry.
  DescribedSlots describe(const std::vector<BatchSlot> &wholes) const;

 private:
  /// An input that can be used.
  struct OpenInput {
    const TensorInput *input;
    const InputMap *map;
    size_t number;   // of the pass
    size_t picture;  // its first
  };

  void open(FramePass &pass, const TensorSettings &settings,
            const std::vector<TensorInput> &inputs);
  void open(FramePass &pass, const TensorSettings &settings, const TensorInput &input,
            size_t picture);
  void find(const TensorSettings &settings, const OpenInput &open, size_t surface);
  void check(const TensorSettings &settings, const ImageDesc &image, FoundRegions &found) const;
  void check_region(const TensorSettings &settings, const ImageDesc &image,
                    const Region &region) const;
  void fill(FramePass &pass, const OpenInput &open);

  TensorDesc out_ = {}, part_ = {};
  int64_t parts_ = 1, each_ = 1;  // slots of a picture
  NormalizeParams params_;        // the operation's
  std::unique_ptr<NormalizeOperation> operation_;
  // Of the last make(); kept for their memory.
  std::vector<MadePicture> pictures_;
  std::vector<Slot> wholes_;  // by picture, as it is mapped; pad if it is not used
  std::vector<OpenInput> opened_;
  std::vector<Slot> slots_;
  std::deque<InputMap> maps_;  // empty between frames
  const std::vector<Geometry> *geometries_ = nullptr;
};

}  // namespace cudatensor
