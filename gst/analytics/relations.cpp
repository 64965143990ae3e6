// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/analytics/relations.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "gst/analytics/gstanalyticslibrary.h"
#include "gst/util/log.h"
#include "gst/util/videomatrix.h"

namespace cudatensor {

using namespace gstanalytics;

namespace {

/// A detected object. Since 1.26 it may be oriented.
struct Object {
  GQuark type;
  TurnedBox location;
  gfloat confidence;
};

std::optional<Object> object_of(const Library &l, const Mtd &mtd) {
  Object object = {l.od_mtd_get_obj_type(&mtd), {}, 0.0F};
  auto &[box, radians] = object.location;
  const bool found = l.od_mtd_get_oriented_location != nullptr
                         ? l.od_mtd_get_oriented_location(&mtd, &box.x, &box.y, &box.width,
                                                          &box.height, &radians, &object.confidence)
                         : l.od_mtd_get_location(&mtd, &box.x, &box.y, &box.width, &box.height,
                                                 &object.confidence);
  return found ? std::optional<Object>(object) : std::nullopt;
}

/// Copies the results of one meta to another, one at a time.
class Copy {
 public:
  Copy(GstBuffer *from, GstBuffer *to, const BoxMap &map, const PlaceOf &place)
      : l_(*library()),
        from_(from),
        to_(to),
        map_(map),
        place_(place),
        source_(relation_meta_of(from)) {
    gst_video_info_set_format(&in_, GST_VIDEO_FORMAT_GRAY8, map.in_width, map.in_height);
    gst_video_info_set_format(&out_, GST_VIDEO_FORMAT_GRAY8, map.out_width, map.out_height);
  }

  std::vector<SameResult> run(const std::vector<SameResult> &same);

 private:
  RelationMeta *target();
  bool find(guint id, Mtd &mtd) const;
  bool is_same(const SameResult &pair) const;
  std::optional<guint> copy(const Mtd &mtd);
  std::optional<guint> copy_object(const Object &object);
  std::optional<guint> copy_other(const Mtd &mtd, const MtdImpl *kind);
  bool map_copy(const MtdImpl *kind, Mtd &copy);
  bool map_mask(const Mtd &mtd, Mtd &copy);
  void copy_tag(const Mtd &mtd, Mtd copy) const;
  void copy_relations(const std::vector<SameResult> &pairs);

  const Library &l_;
  GstBuffer *from_, *to_;
  const BoxMap &map_;
  const PlaceOf &place_;
  RelationMeta *source_, *target_ = nullptr;
  GstVideoInfo in_, out_;
};

/// Returns the meta of the target buffer. Adds it on the first call, so that a buffer without
/// results gets no meta.
RelationMeta *Copy::target() {
  if (target_ == nullptr) target_ = l_.add_relation_meta(to_);
  return target_;
}

bool Copy::find(guint id, Mtd &mtd) const { return l_.relation_meta_get_mtd(source_, id, 0, &mtd); }

/// Whether both ids denote the same result. Elements in between may have replaced the meta, so
/// equal ids are not enough.
bool Copy::is_same(const SameResult &pair) const {
  RelationMeta *meta = relation_meta_of(to_);
  Mtd a = {}, b = {};
  if (meta == nullptr || pair.from >= l_.relation_get_length(source_) ||
      pair.to >= l_.relation_get_length(meta))
    return false;
  if (!find(pair.from, a) || !l_.relation_meta_get_mtd(meta, pair.to, l_.mtd_get_mtd_type(&a), &b))
    return false;
  if (l_.mtd_get_mtd_type(&a) != l_.od_mtd_get_mtd_type()) return true;
  const auto here = object_of(l_, a), there = object_of(l_, b);
  return here && there && here->type == there->type && here->confidence == there->confidence;
}

std::optional<guint> Copy::copy(const Mtd &mtd) {
  const MtdType type = l_.mtd_get_mtd_type(&mtd);
  if (type != l_.od_mtd_get_mtd_type())
    return copy_other(mtd, reinterpret_cast<const MtdImpl *>(type));
  const auto object = object_of(l_, mtd);
  const auto id = object ? copy_object(*object) : std::nullopt;
  if (id) copy_tag(mtd, {*id, target()});
  return id;
}

std::optional<guint> Copy::copy_object(const Object &object) {
  Mtd added = {};
  if (object.location.radians != 0.0F) {
    const auto [box, radians] = map_box(map_, object.location);
    l_.relation_meta_add_oriented_od_mtd(target(), object.type, box.x, box.y, box.width, box.height,
                                         radians, object.confidence, &added);
    return added.id;
  }
  auto box = place_ ? place_(object.type, object.location.box) : std::nullopt;
  if (!box) box = map_box_clipped(map_, object.location.box, Rounding::nearest);
  if (!box) return std::nullopt;
  l_.relation_meta_add_od_mtd(target(), object.type, box->x, box->y, box->width, box->height,
                              object.confidence, &added);
  return added.id;
}

/// Copies a result of another kind, such as a class, a track or a mask.
std::optional<guint> Copy::copy_other(const Mtd &mtd, const MtdImpl *kind) {
  // A group holds the ids of its members, which are not those of their copies.
  if (std::string_view(kind->name) == "grouping-mtd") return std::nullopt;
  const bool is_mask = l_.segmentation_mtd_get_mtd_type != nullptr &&
                       l_.segmentation_mtd_get_mtd_type() == reinterpret_cast<MtdType>(kind);
  // The coordinates are known only to the kind itself, and before 1.28 no transform can map them.
  if (kind->transform != nullptr && !is_mask && !VideoMatrix::is_known()) {
    GST_WARNING("results of the kind %s are not mapped before GStreamer 1.28", kind->name);
    return std::nullopt;
  }
  const gsize size = l_.mtd_get_size(&mtd);
  Mtd copy = {};
  gpointer data = l_.relation_meta_add_mtd(target(), kind, size, &copy);
  std::memcpy(data, l_.relation_meta_get_mtd_data(source_, mtd.id), size);
  const bool is_mapped =
      kind->transform == nullptr || (is_mask ? map_mask(mtd, copy) : map_copy(kind, copy));
  if (!is_mapped) {
    GST_WARNING("a result of the kind %s could not be mapped", kind->name);
    // No function removes the copy. Set to zero, it holds nothing that could be released twice.
    std::memset(l_.relation_meta_get_mtd_data(target(), copy.id), 0, size);
    return std::nullopt;
  }
  copy_tag(mtd, copy);
  return copy.id;
}

bool Copy::map_copy(const MtdImpl *kind, Mtd &copy) {
  VideoMatrix matrix = video_matrix_of(map_, &in_, &out_);
  return kind->transform(to_, &copy, from_, VideoMatrix::quark(), &matrix);
}

/// Maps a mask by writing its data: the library has no function that moves a mask, and its
/// transform for 1.28 rounds towards zero. In all releases the four numbers follow the kind and the
/// mask's buffer; this is verified.
bool Copy::map_mask(const Mtd &mtd, Mtd &copy) {
  // The pixels of the mask would have to be turned, too.
  if (!is_upright(map_)) return false;
  struct Place {
    gint x, y;
    guint width, height;
  };
  constexpr gsize kOffset = 2 * sizeof(gpointer);
  const auto place_of = [&](const Mtd &mask) {
    Place p = {};
    GstBuffer *pixels = l_.segmentation_mtd_get_mask(&mask, &p.x, &p.y, &p.width, &p.height);
    gst_clear_buffer(&pixels);
    return p;
  };
  GstMetaTransformCopy whole = {FALSE, 0, static_cast<gsize>(-1)};
  const auto *kind = reinterpret_cast<const MtdImpl *>(l_.mtd_get_mtd_type(&mtd));
  if (!kind->transform(to_, &copy, from_, _gst_meta_transform_copy, &whole)) return false;
  const Place before = place_of(copy);
  auto *data = static_cast<guint8 *>(l_.relation_meta_get_mtd_data(target(), copy.id)) + kOffset;
  if (l_.mtd_get_size(&copy) < kOffset + sizeof before ||
      std::memcmp(data, &before, sizeof before) != 0)
    return false;
  const Box box = map_box(
      map_, {before.x, before.y, static_cast<int>(before.width), static_cast<int>(before.height)},
      Rounding::nearest);
  const Place after = {box.x, box.y, static_cast<guint>(box.width), static_cast<guint>(box.height)};
  std::memcpy(data, &after, sizeof after);
  return true;
}

void Copy::copy_tag(const Mtd &mtd, Mtd copy) const {
  if (l_.mtd_get_semantic_tag == nullptr) return;
  gchar *tag = l_.mtd_get_semantic_tag(&mtd);
  if (tag != nullptr) l_.mtd_set_semantic_tag(&copy, tag);
  g_free(tag);
}

void Copy::copy_relations(const std::vector<SameResult> &pairs) {
  RelationMeta *meta = relation_meta_of(to_);
  for (const SameResult &a : pairs)
    for (const SameResult &b : pairs) {
      const Relation added = l_.relation_meta_get_relation(source_, a.from, b.from);
      if (added == 0) continue;
      const Relation known = l_.relation_meta_get_relation(meta, a.to, b.to);
      if ((known | added) != known) l_.relation_meta_set_relation(meta, known | added, a.to, b.to);
    }
}

std::vector<SameResult> Copy::run(const std::vector<SameResult> &same) {
  std::vector<SameResult> pairs, copied;
  for (const SameResult &pair : same)
    if (is_same(pair)) pairs.push_back(pair);
  const guint count = static_cast<guint>(l_.relation_get_length(source_));
  const size_t known = pairs.size();
  for (guint id = 0; id < count; ++id) {
    const auto is_known = [id](const SameResult &pair) { return pair.from == id; };
    Mtd mtd = {};
    if (std::any_of(pairs.begin(), pairs.begin() + static_cast<ptrdiff_t>(known), is_known) ||
        !find(id, mtd))
      continue;
    if (const auto added = copy(mtd)) copied.push_back({id, *added});
  }
  pairs.insert(pairs.end(), copied.begin(), copied.end());
  copy_relations(pairs);
  return copied;
}

}  // namespace

std::vector<SameResult> inverse_of(const std::vector<SameResult> &results) {
  std::vector<SameResult> inverse;
  for (const SameResult &each : results) inverse.push_back({each.to, each.from});
  return inverse;
}

std::vector<SameResult> carry_relations(GstBuffer *from, GstBuffer *to, const BoxMap &map,
                                        const std::vector<SameResult> &same, const PlaceOf &place) {
  return relation_meta_of(from) != nullptr ? Copy(from, to, map, place).run(same)
                                           : std::vector<SameResult>();
}

}  // namespace cudatensor
