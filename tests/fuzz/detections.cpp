// SPDX-License-Identifier: LGPL-2.1-or-later
#include "detections.h"

#include <algorithm>
#include <cmath>

#include "gst/analytics/gstanalyticslibrary.h"

namespace fuzz {
namespace {

using namespace cudatensor;

// GST_ANALYTICS_REL_TYPE_IS_PART_OF to GST_ANALYTICS_REL_TYPE_N_TO_N
constexpr gstanalytics::Relation kRelations[] = {1 << 1, 1 << 2, 1 << 3, 1 << 4};

int position(Run &run, long least) {
  Random &random = run.random;
  if (!run.sane && random.one_in(10))
    return random.pick({G_MININT, G_MAXINT, 1 << 30, -(1 << 30), 0, -1});
  return static_cast<int>(random.between(run.sane ? std::max(least, 0L) : least, 60));
}

float angle(Run &run) {
  Random &random = run.random;
  if (!run.sane && random.one_in(8))
    return random.pick({static_cast<float>(NAN), static_cast<float>(INFINITY), -1e30F, 1e-40F});
  return random.pick({0.0F, 0.5F, -1.2F, 1.5707964F, 3.1415927F});
}

float confidence(Run &run) {
  Random &random = run.random;
  if (!run.sane && random.one_in(8)) return random.pick({static_cast<float>(NAN), -1.0F, 2.0F});
  return static_cast<float>(random.between(0, 100)) / 100;
}

void add_object(Run &run, gstanalytics::RelationMeta *meta) {
  const gstanalytics::Library &l = *gstanalytics::library();
  Random &random = run.random;
  const GQuark type = g_quark_from_string(random.pick({"face", "car", "x"}));
  const int x = position(run, -5), y = position(run, -5);
  const int width = position(run, run.sane ? 1 : -2), height = position(run, run.sane ? 1 : -2);
  gstanalytics::Mtd added = {};
  const bool is_oriented = l.relation_meta_add_oriented_od_mtd != nullptr && random.one_in(2);
  if (is_oriented)
    l.relation_meta_add_oriented_od_mtd(meta, type, x, y, width, height, angle(run),
                                        confidence(run), &added);
  else
    l.relation_meta_add_od_mtd(meta, type, x, y, width, height, confidence(run), &added);
}

void relate(Run &run, gstanalytics::RelationMeta *meta) {
  const gstanalytics::Library &l = *gstanalytics::library();
  Random &random = run.random;
  const auto count = static_cast<long>(l.relation_get_length(meta));
  for (long i = random.between(0, count); i > 1; --i)
    l.relation_meta_set_relation(meta, kRelations[random.between(0, 3)],
                                 static_cast<guint>(random.between(0, count - 1)),
                                 static_cast<guint>(random.between(0, count - 1)));
}

}  // namespace

void add_detections(Run &run, GstBuffer *buffer) {
  if (gstanalytics::library() == nullptr || !run.random.one_in(3)) return;
  gstanalytics::RelationMeta *meta = gstanalytics::library()->add_relation_meta(buffer);
  if (meta == nullptr) return run.finding("no meta for detections");
  for (long i = run.random.between(0, 20); i > 0; --i) add_object(run, meta);
  relate(run, meta);
}

}  // namespace fuzz
