// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes a tensor of pictures: finds the regions of each, which become its slots, and fills them in
// one pass.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "gst/base/framepass.h"
#include "gst/nvmm/surfaceframes.h"
#include "gst/tensor/slots.h"
#include "gst/tensor/tensorsettings.h"
#include "kernels/ops.h"

namespace cudatensor {

/// A buffer whose pictures go into a tensor: one picture, or the surfaces of a batch.
struct TensorInput {
  using Surfaces = std::vector<std::optional<nvmm::SurfaceFrame>>;

  GstBuffer *buffer = nullptr;  ///< null: its slots are empty
  const InputCaps *caps = nullptr;
  const char *name = nullptr;          ///< prefix of the errors of its pictures; null: none
  const Surfaces *surfaces = nullptr;  ///< the batch's metas of its surfaces; null: not a batch
  Direction direction = Direction::identity;

  size_t pictures() const { return caps != nullptr ? static_cast<size_t>(caps->surfaces) : 1; }
};

/// The result for a picture.
struct MadePicture {
  FoundRegions found;          ///< none if the picture was not used
  std::optional<Error> fault;  ///< why it was not used; no value if it was used or absent
};

/// The part of a tensor that is made next.
struct TensorPart {
  int64_t index = 0;
  size_t tensor = 0;     ///< number of the tensor, if several are filled in turn
  bool is_final = true;  ///< whether it completes the tensor
};

/// Used only by the streaming thread, inside the session's scope.
class TensorMaker {
 public:
  /// Prepares for tensors with the dimensions of `out`, made in `parts` equal parts. Throws Error
  /// if the settings are invalid.
  void prepare(Backend &backend, const TensorSettings &settings, const TensorDesc &out,
               int64_t parts = 1);
  /// Destroys the operation. Called before the session is closed.
  void release() { operation_.reset(); }
  /// Returns the tensor of the last prepare().
  const TensorDesc &out() const { return out_; }

  /// Fills a part of a tensor with the pictures of the inputs. An Error::Code::frame of a picture
  /// leaves its slots empty; other errors of an input are thrown with its name. Returns false, and
  /// fills nothing, if there is no input whose buffer can be used.
  bool make(Session &session, const TensorSettings &settings,
            const std::vector<TensorInput> &inputs, GstBuffer *out, const TensorPart &part = {});
  /// Fills parts with pad, and completes the tensor. `number`: as in TensorPart.
  void pad(Session &session, GstBuffer *out, const std::vector<int64_t> &parts, size_t number);
  /// Begins a tensor with the parts of a complete one from `first` on.
  void carry(Session &session, GstBuffer *from, GstBuffer *to, int64_t first, size_t number);

  // Results of the last make():
  /// The result of each input's picture; for a batch, of each of its surfaces.
  const std::vector<MadePicture> &pictures() const { return pictures_; }
  /// The geometry of each slot.
  const std::vector<Geometry> &geometries() const { return *geometries_; }
  /// Returns the slots of the pictures. `wholes` has one slot per picture, for the whole picture
  /// without its geometry.
  DescribedSlots describe(const std::vector<BatchSlot> &wholes) const;

 private:
  /// An input that can be used.
  struct OpenInput {
    const TensorInput *input;
    const InputMap *map;
    size_t number;   // the input's number in the pass
    size_t picture;  // the index of its first picture
  };

  void open(FramePass &pass, const TensorSettings &settings,
            const std::vector<TensorInput> &inputs);
  void open(FramePass &pass, const TensorSettings &settings, const TensorInput &input,
            size_t picture);
  void find(const TensorSettings &settings, const OpenInput &open, size_t surface);
  void check(const TensorSettings &settings, const Source &source, FoundRegions &found) const;
  bool can_make(const TensorSettings &settings, const Source &source, const Region &region) const;
  void check_region(const TensorSettings &settings, const Source &source,
                    const Region &region) const;
  void fill(FramePass &pass, const OpenInput &open);
  Tensor part_of(const Tensor &tensor, int64_t part) const {
    return slots_of(tensor, part * part_.n, part_.n);
  }

  TensorDesc out_ = {}, part_ = {};
  int64_t parts_ = 1, each_ = 1;  // each_: slots per picture
  NormalizeParams params_;        // the parameters of operation_
  std::unique_ptr<NormalizeOperation> operation_;
  // Results of the last make(); members only to reuse their memory.
  std::vector<MadePicture> pictures_;
  std::vector<Slot> wholes_;  // each mapped picture; pad if it is not used
  std::vector<OpenInput> opened_;
  std::vector<Slot> slots_;
  std::deque<std::optional<InputMap>> maps_;  // without values between frames
  const std::vector<Geometry> *geometries_ = nullptr;
};

}  // namespace cudatensor
