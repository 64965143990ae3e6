// SPDX-License-Identifier: LGPL-2.1-or-later
// The points of objects from GstAnalyticsKeypointMtd. Releases before 1.30 do not have it: the test
// then plays the library's part.
#include "gst/analytics/keypoints.h"

#include <array>
#include <cstring>

#include "analytics.h"
#include "refs.h"

namespace cudatensor {
namespace {

using gstanalytics::KeypointDimensions;
using gstanalytics::Library;
using gstanalytics::Mtd;
using gstanalytics::MtdImpl;
using gstanalytics::MtdType;
using gstanalytics::RelationMeta;

// GstAnalyticsRelTypes
constexpr gstanalytics::Relation kIsPartOf = 1 << 1, kContain = 1 << 2, kRelateTo = 1 << 3;

/// Returns a new kind of results, at least as large as in any release.
const MtdImpl *new_kind(const char *name) {
  struct Whole {
    MtdImpl impl;
    gpointer reserved[GST_PADDING_LARGE];
  };
  return &(new Whole{{name, nullptr}, {}})->impl;
}

MtdType keypoint_type() {
  static const MtdImpl *const kind = new_kind("test-keypoint");
  return reinterpret_cast<MtdType>(kind);
}
MtdType group_type() {
  static const MtdImpl *const kind = new_kind("test-group");
  return reinterpret_cast<MtdType>(kind);
}

struct Group {
  gsize count;
  std::array<guint, 8> members;
};

template <class T>
T *data_of(const Mtd &mtd) {
  return static_cast<T *>(gstanalytics::library()->relation_meta_get_mtd_data(mtd.meta, mtd.id));
}

gboolean position_of(const Mtd *mtd, gint *x, gint *y, gint *z, KeypointDimensions *dimensions) {
  const auto *position = data_of<std::array<gint, 2>>(*mtd);
  *x = (*position)[0];
  *y = (*position)[1];
  *z = 0;
  *dimensions = 2;
  return TRUE;
}

gboolean member_of(const Mtd *mtd, gsize index, Mtd *member) {
  const auto *group = data_of<Group>(*mtd);
  if (index >= group->count) return FALSE;
  *member = {group->members.at(index), mtd->meta};
  return TRUE;
}

class KeypointsTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ANALYTICS();
    library_ = *gstanalytics::library();
    library_.keypoint_mtd_get_mtd_type = keypoint_type;
    library_.keypoint_mtd_get_position = position_of;
    library_.group_mtd_get_mtd_type = group_type;
    library_.group_mtd_get_member = member_of;
    buffer_.reset(gst_buffer_new());
    object_ = add_object(buffer_.get(), {"face", 4, 6, 10, 20});
    other_ = add_object(buffer_.get(), {"face", 40, 6, 10, 20});
  }

  RelationMeta *meta() const { return relations_of(buffer_.get()); }

  guint add_keypoint(gint x, gint y) {
    Mtd added = {};
    gpointer data = library_.relation_meta_add_mtd(
        meta(), reinterpret_cast<const MtdImpl *>(keypoint_type()), 2 * sizeof(gint), &added);
    const std::array<gint, 2> position = {x, y};
    std::memcpy(data, &position, sizeof position);
    return added.id;
  }

  guint add_group(const std::vector<guint> &members) {
    Group group = {members.size(), {}};
    std::copy(members.begin(), members.end(), group.members.begin());
    Mtd added = {};
    gpointer data = library_.relation_meta_add_mtd(
        meta(), reinterpret_cast<const MtdImpl *>(group_type()), sizeof group, &added);
    std::memcpy(data, &group, sizeof group);
    for (const guint member : members)
      if (member < library_.relation_get_length(meta())) relate(kContain, added.id, member);
    return added.id;
  }

  void relate(gstanalytics::Relation relation, guint first, guint second) {
    EXPECT_TRUE(library_.relation_meta_set_relation(meta(), relation, first, second));
  }

  std::vector<std::pair<double, double>> points_of(guint object, size_t count) const {
    std::vector<std::pair<double, double>> found;
    for (const Point &p : Keypoints(library_, meta()).of(object, count))
      found.push_back({p.x, p.y});
    return found;
  }

  Library library_ = {};
  BufferRef buffer_;
  guint object_ = 0, other_ = 0;
};

using Points = std::vector<std::pair<double, double>>;

TEST_F(KeypointsTest, OfAGroupHaveItsOrder) {
  const guint a = add_keypoint(1, 2), b = add_keypoint(3, -4), c = add_keypoint(5, 6);
  relate(kContain, object_, add_group({c, a, b}));
  EXPECT_EQ(points_of(object_, 3), (Points{{5, 6}, {1, 2}, {3, -4}}));
  EXPECT_EQ(points_of(other_, 3), Points{});
  EXPECT_EQ(points_of(object_, 2), Points{});
  EXPECT_EQ(points_of(object_, 0), Points{});
}

TEST_F(KeypointsTest, AreThoseOfTheGroupWithTheirNumber) {
  const guint a = add_keypoint(1, 2), b = add_keypoint(3, 4), c = add_keypoint(5, 6);
  relate(kIsPartOf, add_group({a, b, c}), object_);
  relate(kRelateTo, object_, add_group({b, c}));
  relate(kRelateTo, object_, add_group({c, a}));
  EXPECT_EQ(points_of(object_, 3), (Points{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(points_of(object_, 2), (Points{{3, 4}, {5, 6}}));
}

TEST_F(KeypointsTest, WithoutAGroupHaveTheOrderOfTheirIds) {
  const guint a = add_keypoint(1, 2), b = add_keypoint(3, 4), c = add_keypoint(5, 6);
  add_keypoint(7, 8);
  relate(kContain, object_, c);
  relate(kIsPartOf, a, object_);
  relate(kRelateTo, object_, b);
  relate(kContain, other_, c);
  EXPECT_EQ(points_of(object_, 3), (Points{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(points_of(other_, 1), (Points{{5, 6}}));
}

/// Nothing keeps a group from holding other results, or ids that there are not.
TEST_F(KeypointsTest, AreOnlyTheKeypointsOfAGroup) {
  const guint a = add_keypoint(1, 2);
  relate(kContain, object_, add_group({other_, a, 1000, object_}));
  EXPECT_EQ(points_of(object_, 1), (Points{{1, 2}}));
}

TEST_F(KeypointsTest, OfAnOlderReleaseAreNone) {
  relate(kContain, object_, add_keypoint(1, 2));
  library_.group_mtd_get_member = nullptr;
  EXPECT_EQ(points_of(object_, 1), Points{});
  EXPECT_TRUE(Keypoints().of(object_, 1).empty());
}

}  // namespace
}  // namespace cudatensor
