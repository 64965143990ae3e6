// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/tensor/tensormaker.h"

#include <algorithm>

#include "gst/util/faultyframes.h"

namespace cudatensor {
namespace {

/// Unmaps the buffers of a frame at the end of the scope, also after an error.
class MapsScope {
 public:
  explicit MapsScope(std::deque<std::optional<InputMap>> &maps) : maps_(maps) {}
  ~MapsScope() {
    for (auto &map : maps_) map.reset();
  }

 private:
  std::deque<std::optional<InputMap>> &maps_;
};

/// Calls `body`. Rethrows its errors with the name of the input.
template <class Body>
void call_for(const TensorInput &input, const Body &body) {
  try {
    body();
  } catch (const Error &error) {
    if (input.name == nullptr) throw;
    throw Error(error.code(), input.name + std::string(": ") + error.what());
  }
}

/// Returns the Error::Code::frame that `body` throws, if any. Rethrows other errors with the name
/// of the input.
template <class Body>
std::optional<Error> fault_of(const TensorInput &input, const Body &body) {
  std::optional<Error> fault;
  call_for(input, [&] { fault = frame_fault_of(body); });
  return fault;
}

const std::vector<Detection> &objects_of(const TensorInput &input, size_t surface) {
  static const std::vector<Detection> &none = immortal([] { return std::vector<Detection>(); });
  const auto &surfaces = *input.surfaces;
  return surface < surfaces.size() && surfaces[surface] ? surfaces[surface]->objects : none;
}

/// Throws Error if the settings exclude the slots by a matrix that metas ask for. Otherwise the
/// first such meta would be an error.
void check_meta_matrices(const TensorSettings &s) {
  const bool aligns = s.regions.aligns();
  if (!aligns && !s.regions.turns()) return;
  const std::string property = aligns ? "region-align" : "region-oriented=true";
  const auto refuse = [&](const char *other) {
    throw Error(Error::Code::settings, property + " cannot be combined with " + other);
  };
  const Resize &resize = s.normalize.resize;
  if (resize.antialias) refuse("antialias=true");
  if (s.normalize.pad_normalized && s.regions.edge != RegionEdge::repeat)
    refuse("pad-normalized=true unless region-edge=repeat");
  if (!aligns && is_crop(resize.mode))
    refuse(resize.mode == ResizeMode::torchvision ? "resize-mode=torchvision"
                                                  : "resize-mode=transformers");
}

/// Throws Error if shortest-edge is too small for every region of the metas. A region for which it
/// is too small, while it is not for others, has no slot.
void check_shortest_edge(const TensorSettings &s, const TensorDesc &out) {
  const Fit fit = s.normalize.resize.fit();
  if (s.regions.source != RegionSource::meta || s.regions.aligns()) return;
  if (!is_crop(s.normalize.resize.mode)) return;
  if (fit.shortest_edge <= 0 || fit.shortest_edge >= std::min(out.w, out.h)) return;
  throw Error(Error::Code::settings, "shortest-edge=" + std::to_string(fit.shortest_edge) +
                                         " is smaller than both sides of the output of " +
                                         std::to_string(out.w) + "x" + std::to_string(out.h) +
                                         ", so no region covers it");
}

NormalizeParams params_of(const TensorSettings &s) {
  NormalizeParams params = s.normalize;
  const bool has_regions = s.regions.source != RegionSource::none;
  params.pad_outside = has_regions && s.regions.edge == RegionEdge::pad;
  params.repeat_edge = has_regions && s.regions.edge == RegionEdge::repeat;
  return params;
}

}  // namespace

void TensorMaker::prepare(Backend &backend, const TensorSettings &s, const TensorDesc &out,
                          int64_t parts) {
  check_model(s.model);
  check_regions(s.regions);
  check_meta_matrices(s);
  check_shortest_edge(s, out);
  check_matrices(s.regions, static_cast<int>(out.w), static_cast<int>(out.h));
  out_ = out;
  parts_ = parts;
  each_ = s.regions.slots();
  const TensorDesc part = out.part(out.n / parts);
  const NormalizeParams params = params_of(s);
  if (operation_ != nullptr && part == part_) {
    if (params != params_) operation_->set_params(params);
  } else {
    release();
    operation_ = backend.normalize(params, part);
    part_ = part;
  }
  params_ = params;
}

/// Throws Error if a model's file asks for another tensor for this region of the seen picture, or if
/// a crop does not fit.
void TensorMaker::check_region(const TensorSettings &s, const Source &source,
                               const Region &region) const {
  const ImageDesc image = source.seen();
  const auto width = static_cast<int>(out_.w), height = static_cast<int>(out_.h);
  if (s.model.rule.kind != SourceRule::Kind::none)
    check_model_source(s.model, region.width, region.height, width, height);
  if (is_crop(s.normalize.resize.mode))
    make_geometry(s.normalize.resize.fit(), image.width, image.height, region, width, height);
}

bool TensorMaker::can_make(const TensorSettings &s, const Source &source,
                           const Region &region) const {
  try {
    check_region(s, source, region);
    return true;
  } catch (const Error &error) {
    if (error.code() != Error::Code::settings) throw;
    return false;
  }
}

/// Checks the regions. An error of a region that the settings determine is thrown, because it would
/// recur in every frame. Regions of metas differ from frame to frame: those that cannot be made
/// are left out.
void TensorMaker::check(const TensorSettings &s, const Source &source, FoundRegions &found) const {
  auto &regions = found.regions;
  if (s.regions.source == RegionSource::matrices) return;
  if (s.regions.source != RegionSource::meta) {
    for (const FoundRegion &each : regions)
      if (!each.is_invalid) check_region(s, source, each.turned);
    return;
  }
  const auto kept = std::remove_if(regions.begin(), regions.end(), [&](const FoundRegion &each) {
    return !each.matrix && !can_make(s, source, each.turned);
  });
  found.left_out += static_cast<guint>(regions.end() - kept);
  regions.erase(kept, regions.end());
  limit_regions(s.regions, found);
}

void TensorMaker::find(const TensorSettings &s, const OpenInput &open, size_t i) {
  const TensorInput &input = *open.input;
  MadePicture &picture = pictures_[open.picture + i];
  const auto take = [&] {
    Slot whole = {open.map->source(i), open.map->constant(i)};
    whole.source.direction = input.direction;
    const RegionMetas metas =
        input.surfaces != nullptr ? RegionMetas(objects_of(input, i)) : RegionMetas(input.buffer);
    const SlotShape shape = {static_cast<int>(out_.w), static_cast<int>(out_.h),
                             s.normalize.resize.fit()};
    find_regions(s.regions, metas, whole.source, shape, picture.found);
    check(s, whole.source, picture.found);
    wholes_[open.picture + i] = whole;
  };
  if (input.surfaces == nullptr) return take();
  picture.fault = frame_fault_of(take);
  if (picture.fault) picture.found = {};
}

/// Opens an input. Makes all checks that can rule out a picture, before work is queued.
void TensorMaker::open(FramePass &pass, const TensorSettings &s, const TensorInput &input,
                       size_t picture) {
  const auto fault = fault_of(input, [&] {
    check_frame(s, input.caps->info, input.buffer);
    const size_t number = pass.add_input(*input.caps, input.buffer);
    if (number == maps_.size()) maps_.emplace_back();
    const InputMap &map =
        maps_[number].emplace(*input.caps, input.buffer, pass.input_flags(number));
    const OpenInput open = {&input, &map, number, picture};
    for (size_t i = 0; i < map.count(); ++i) find(s, open, i);
    opened_.push_back(open);
  });
  if (!fault) return;
  for (size_t i = 0; i < input.pictures(); ++i) {
    pictures_[picture + i] = {{}, fault};
    wholes_[picture + i] = {};
  }
}

void TensorMaker::open(FramePass &pass, const TensorSettings &s,
                       const std::vector<TensorInput> &inputs) {
  opened_.clear();
  size_t picture = 0;
  for (const TensorInput &input : inputs) picture += input.pictures();
  pictures_.resize(picture);
  for (MadePicture &each : pictures_) {
    each.found.clear();
    each.fault.reset();
  }
  wholes_.assign(picture, {});
  picture = 0;
  for (const TensorInput &input : inputs) {
    if (input.buffer != nullptr) open(pass, s, input, picture);
    picture += input.pictures();
  }
}

void TensorMaker::fill(FramePass &pass, const OpenInput &open) {
  for (size_t i = open.picture; i < open.picture + open.map->count(); ++i) {
    const Slot &whole = wholes_[i];
    if (whole.is_pad()) continue;
    slots_.resize(i * static_cast<size_t>(each_));
    append_slots(slots_, whole.source, pass.input(open.number, whole.image), pictures_[i].found);
  }
}

bool TensorMaker::make(Session &session, const TensorSettings &s,
                       const std::vector<TensorInput> &inputs, GstBuffer *out,
                       const TensorPart &part) {
  const MapsScope scope(maps_);
  FramePass pass(session);
  open(pass, s, inputs);
  if (opened_.empty()) return false;
  pass.set_output(out, part.tensor);
  pass.begin();
  const TensorMap target(out_, out, pass.output_flags());
  slots_.clear();
  for (const OpenInput &each : opened_) call_for(*each.input, [&] { fill(pass, each); });
  const Tensor own = part_of(pass.output(target.view()), part.index);
  geometries_ = &operation_->run(slots_, own, pass.stream());
  if (part.is_final)
    pass.finish();
  else
    pass.finish_part();
  return true;
}

void TensorMaker::pad(Session &session, GstBuffer *out, const std::vector<int64_t> &parts,
                      size_t number) {
  // A change of n-threads has closed the session and destroyed the operation.
  if (operation_ == nullptr) operation_ = session.backend().normalize(params_, part_);
  FramePass pass(session);
  pass.set_output(out, number);
  pass.begin();
  const TensorMap target(out_, out, pass.output_flags());
  const Tensor tensor = pass.output(target.view());
  for (const int64_t part : parts) operation_->run({}, part_of(tensor, part), pass.stream());
  pass.finish();
}

void TensorMaker::carry(Session &session, GstBuffer *from, GstBuffer *to, int64_t first,
                        size_t number) {
  FramePass pass(session);
  pass.set_output(to, number);
  const bool is_staged = pass.is_output_staged();
  if (!is_staged) pass.add_input(out_, from);
  pass.begin();
  const TensorMap target(out_, to, pass.output_flags());
  const Tensor next = pass.output(target.view());
  std::optional<TensorMap> full;
  if (!is_staged) full.emplace(out_, from, pass.input_flags(0));
  const ConstTensor last = is_staged ? constant(next) : pass.input(0, full->constant());
  // The staged tensor moves within its own memory, so that longer copies would overlap.
  const int64_t shift = first * part_.n, most = is_staged ? shift : out_.n;
  for (int64_t slot = 0; slot + shift < out_.n; slot += most) {
    const int64_t count = std::min(most, out_.n - shift - slot);
    pass.copy(slots_of(next, slot, count), slots_of(last, slot + shift, count));
  }
  pass.finish_part();
}

DescribedSlots TensorMaker::describe(const std::vector<BatchSlot> &wholes) const {
  DescribedSlots described;
  const auto each = static_cast<size_t>(each_);
  described.slots.reserve(wholes.size() * each);
  for (size_t i = 0; i < wholes.size(); ++i)
    described.add(wholes[i], pictures_[i].found, each, geometries_->data() + i * each);
  return described;
}

}  // namespace cudatensor
