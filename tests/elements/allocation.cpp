// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocation: the pools that elements offer upstream, and the buffers that they output.
#include <malloc.h>

#include "pools.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kNv12 = {PixelFormat::NV12, 13, 7};
const TensorDesc kTensor = {DType::float32, Layout::nchw, 1, 12, 3, 5};

struct Filter {
  const char *element;
  bool tensor;

  std::string caps() const { return tensor ? tensor_caps(kTensor) : video_caps(kNv12); }
  size_t size() const { return tensor ? kTensor.bytes() : video_info_of(kNv12).size; }
  BufferRef frame() const {
    return tensor ? buffer_of(random_tensor(kTensor, 1)) : buffer_of(random_picture(kNv12));
  }
};

class Filters : public testing::TestWithParam<Filter> {};

INSTANTIATE_TEST_SUITE_P(Allocation, Filters,
                         testing::Values(Filter{"cudanv12toyuv444", false},
                                         Filter{"cudaletterbox", false},
                                         Filter{"cudanormalize", false},
                                         Filter{"cudapixelshuffle", true}),
                         [](const auto &info) { return std::string(info.param.element); });

QueryRef asked_by_upstream(Rig &rig, bool need_pool = true) {
  const CapsRef caps(gst_pad_get_current_caps(rig.harness()->srcpad));
  QueryRef query(gst_query_new_allocation(caps.get(), need_pool));
  EXPECT_TRUE(gst_pad_peer_query(rig.harness()->srcpad, query.get()));
  return query;
}

TEST_P(Filters, OfferAPoolOfTheRightSize) {
  Rig rig(GetParam().element);
  ASSERT_TRUE(rig.caps(GetParam().caps()));
  rig.process(GetParam().frame());
  const QueryRef query = asked_by_upstream(rig);
  ASSERT_GE(gst_query_get_n_allocation_pools(query.get()), 1u);
  GstBufferPool *pool = nullptr;
  guint size = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &pool, &size, nullptr, nullptr);
  ASSERT_NE(pool, nullptr);
  const Ref<GstBufferPool> owned(pool);
  EXPECT_EQ(size, GetParam().size());
  EXPECT_EQ(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr),
            !GetParam().tensor);
}

TEST_P(Filters, TakeBuffersOfTheirOwnPool) {
  Rig rig(GetParam().element);
  ASSERT_TRUE(rig.caps(GetParam().caps()));
  rig.process(GetParam().frame());
  const Bytes expected = bytes_of(rig.process(GetParam().frame()).get());
  const Ref<GstBufferPool> pool = offered_pool(rig);
  ASSERT_NE(pool, nullptr);
  BufferRef buffer = acquire(pool);
  const Bytes bytes = bytes_of(GetParam().frame().get());
  EXPECT_EQ(gst_buffer_fill(buffer.get(), 0, bytes.data(), bytes.size()), bytes.size());
  const BufferRef out = rig.process(std::move(buffer));
  EXPECT_TRUE(!GetParam().tensor || bytes_of(out.get()) == expected);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST_P(Filters, OfferNoPoolWhereNoneIsNeeded) {
  Rig rig(GetParam().element);
  ASSERT_TRUE(rig.caps(GetParam().caps()));
  rig.process(GetParam().frame());
  const QueryRef query = asked_by_upstream(rig, false);
  EXPECT_EQ(gst_query_get_n_allocation_pools(query.get()), 0u);
  EXPECT_EQ(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr),
            !GetParam().tensor);
}

TEST_P(Filters, OfferNothingForOtherCapsThanTheirOwn) {
  // A pool of the old size would make buffers that are too short.
  if (GetParam().tensor) GTEST_SKIP() << "only for pictures";
  Rig rig(GetParam().element);
  ASSERT_TRUE(rig.caps(GetParam().caps()));
  rig.process(GetParam().frame());
  const CapsRef caps(gst_caps_from_string(video_caps({PixelFormat::NV12, 130, 70}).c_str()));
  const QueryRef query(gst_query_new_allocation(caps.get(), TRUE));
  if (!gst_pad_peer_query(rig.harness()->srcpad, query.get())) return;
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query.get()); ++i) {
    GstBufferPool *pool = nullptr;
    guint size = 0;
    gst_query_parse_nth_allocation_pool(query.get(), i, &pool, &size, nullptr, nullptr);
    if (pool != nullptr) gst_object_unref(pool);
    EXPECT_GE(size, video_info_of({PixelFormat::NV12, 130, 70}).size);
  }
}

// --------------------------------------------------------------------------------------- tensors

struct TensorSource {
  const char *description;
  bool from_tensor;
};

class Tensors : public testing::TestWithParam<TensorSource> {
 protected:
  Filter filter_ = {GetParam().description, GetParam().from_tensor};
};

INSTANTIATE_TEST_SUITE_P(
    Allocation, Tensors,
    testing::Values(TensorSource{"cudanormalize", false},
                    TensorSource{"cudanormalize width=5 height=3 dtype=uint8 color=gray", false},
                    TensorSource{"cudanormalize width=1 height=1 dtype=float16", false},
                    TensorSource{"cudanormalize width=100 height=50 layout=nhwc dtype=int8", false},
                    TensorSource{"cudapixelshuffle", true},
                    TensorSource{"cudapixelshuffle upscale-factor=1", true}),
    [](const auto &info) { return "case" + std::to_string(info.index); });

/// Bytes of a frame with the output's caps.
size_t bytes_of_caps(const Rig &rig) {
  const std::string types = rig.output("types");
  size_t bytes = types == "float32" ? 4 : types == "float16" ? 2 : 1;
  gchar **sides = g_strsplit(rig.output("dimensions").c_str(), ":", -1);
  for (gchar **side = sides; *side != nullptr; ++side) bytes *= std::stoul(*side);
  g_strfreev(sides);
  return bytes;
}

void expect_one_exact_memory(const Rig &rig, GstBuffer *buffer) {
  EXPECT_EQ(gst_buffer_n_memory(buffer), 1u);
  EXPECT_EQ(gst_buffer_get_size(buffer), bytes_of_caps(rig));
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READ));
  EXPECT_EQ(map.size, bytes_of_caps(rig));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(map.data) % 32, 0u);
  gst_buffer_unmap(buffer, &map);
}

TEST_P(Tensors, AreOneMemoryOfExactlyTheirBytes) {
  Rig rig(GetParam().description);
  ASSERT_TRUE(rig.caps(filter_.caps()));
  for (int i = 0; i < 3; ++i) expect_one_exact_memory(rig, rig.process(filter_.frame()).get());
}

TEST_P(Tensors, AreOneMemoryWhateverPoolDownstreamOffers) {
  using Kind = PoolOffer::Kind;
  for (const Kind kind :
       {Kind::none, Kind::plain, Kind::larger, Kind::rounding, Kind::silent, Kind::pages}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Rig plain(GetParam().description);
    ASSERT_TRUE(plain.caps(filter_.caps()));
    const Bytes expected = bytes_of(plain.process(filter_.frame()).get());
    Rig rig(GetParam().description);
    PoolOffer offer(rig, kind, static_cast<guint>(expected.size()));
    ASSERT_TRUE(rig.caps(filter_.caps()));
    const BufferRef out = rig.process(filter_.frame());
    EXPECT_GE(offer.asked(), 1);
    expect_one_exact_memory(rig, out.get());
    EXPECT_EQ(bytes_of(out.get()), expected);
  }
}

TEST_P(Tensors, KeepTheAlignmentThatDownstreamAsksFor) {
  Rig rig(GetParam().description);
  rig.downstream("other/tensors");
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 4095;
  gst_harness_set_propose_allocator(rig.harness(), nullptr, &params);
  ASSERT_TRUE(rig.caps(filter_.caps()));
  const BufferRef out = rig.process(filter_.frame());
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(out.get(), &map, GST_MAP_READ));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(map.data) % 4096, 0u);
  gst_buffer_unmap(out.get(), &map);
}

/// Bytes that downstream asks for before the data, for example for a header.
const gsize kPrefixes[] = {1, 2, 3, 4, 63, 64, 100, 4097};

/// Lets downstream ask for a prefix in system memory. CUDAMemory has no prefix.
void ask_for_prefix(Rig &rig, gsize prefix) {
  rig.downstream("other/tensors");
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.prefix = prefix;
  gst_harness_set_propose_allocator(rig.harness(), nullptr, &params);
}

TEST_P(Tensors, HaveThePrefixThatDownstreamAsksFor) {
  Rig plain(GetParam().description);
  ASSERT_TRUE(plain.caps(filter_.caps()));
  const Bytes expected = bytes_of(plain.process(filter_.frame()).get());
  for (const gsize prefix : kPrefixes) {
    SCOPED_TRACE(prefix);
    Rig rig(GetParam().description);
    ask_for_prefix(rig, prefix);
    ASSERT_TRUE(rig.caps(filter_.caps()));
    const BufferRef out = rig.process(filter_.frame());
    gsize offset = 0;
    gst_buffer_get_sizes(out.get(), &offset, nullptr);
    EXPECT_GE(offset, prefix);
    expect_one_exact_memory(rig, out.get());
    EXPECT_EQ(bytes_of(out.get()), expected);
  }
}

TEST_P(Tensors, FailWithOneErrorIfThePrefixIsTooLarge) {
  for (const gsize prefix : {G_MAXSIZE, G_MAXSIZE - 64, G_MAXSIZE / 2}) {
    SCOPED_TRACE(prefix);
    Rig rig(GetParam().description);
    ask_for_prefix(rig, prefix);
    ASSERT_TRUE(rig.caps(filter_.caps()));
    expect_error(rig, filter_.frame(), "memory");
  }
}

#ifdef __GLIBC__
/// Overwrites all of a buffer's memory, including prefix and padding.
void soil(GstBuffer *buffer) {
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  gsize offset = 0, maxsize = 0;
  gst_memory_get_sizes(memory, &offset, &maxsize);
  GstMapInfo map;
  ASSERT_TRUE(gst_memory_map(memory, &map, GST_MAP_WRITE));
  memset(map.data - offset, 0x55, maxsize);
  gst_memory_unmap(memory, &map);
}

/// The memory has been used before: mallopt() lets malloc() fill it, and the round before filled
/// pinned memory.
TEST_P(Tensors, HaveZerosAroundThemWhereDownstreamAsksForThem) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer allocates memory itself";
#endif
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.prefix = 64;
  params.padding = 32;
  params.flags =
      static_cast<GstMemoryFlags>(GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED);
  Rig rig(GetParam().description);
  rig.downstream("other/tensors");
  gst_harness_set_propose_allocator(rig.harness(), nullptr, &params);
  ASSERT_TRUE(rig.caps(filter_.caps()));
  for (int round = 0; round < 4; ++round) {
    mallopt(M_PERTURB, 0x55);
    const BufferRef out = rig.process(filter_.frame());
    mallopt(M_PERTURB, 0);
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(out.get(), &map, GST_MAP_READ));
    EXPECT_EQ(Bytes(map.data - 64, map.data), Bytes(64));
    EXPECT_EQ(Bytes(map.data + map.size, map.data + map.size + 32), Bytes(32));
    gst_buffer_unmap(out.get(), &map);
    soil(out.get());
    // The next pool takes the memory that this one gives back.
    gst_pad_push_event(rig.harness()->sinkpad, gst_event_new_reconfigure());
  }
}
#endif

// -------------------------------------------------------------------------------------- pictures

TEST(Pictures, ComeFromDownstreamsPool) {
  Rig rig("cudaletterbox");
  rig.downstream("video/x-raw");
  PoolOffer offer(rig, PoolOffer::Kind::padded_video);
  ASSERT_TRUE(rig.caps(video_caps(kNv12)));
  const BufferRef out = rig.process(buffer_of(random_picture(kNv12)));
  EXPECT_EQ(out->pool, offer.pool());
}

TEST(Pictures, ComeFromTheFirstOfSeveralPools) {
  Rig rig("cudaletterbox");
  rig.downstream("video/x-raw");
  PoolOffer offer(rig, PoolOffer::Kind::several);
  ASSERT_TRUE(rig.caps(video_caps(kNv12)));
  EXPECT_EQ(rig.process(buffer_of(random_picture(kNv12)))->pool, offer.pool());
}

TEST(Pictures, FitIntoALargerPool) {
  Rig rig("cudaletterbox");
  rig.downstream("video/x-raw,format=RGB");
  PoolOffer offer(rig, PoolOffer::Kind::larger);
  ASSERT_TRUE(rig.caps(video_caps(kNv12)));
  const ImageDesc out = {PixelFormat::RGB, kNv12.width, kNv12.height};
  const BufferRef buffer = rig.process(buffer_of(random_picture(kNv12)));
  // Downstream may have reasons for larger buffers.
  EXPECT_GT(gst_buffer_get_size(buffer.get()), video_info_of(out).size);
  EXPECT_TRUE(same_picture(
      picture_of(buffer.get(), out),
      output_picture("cudaletterbox", video_caps(kNv12), buffer_of(random_picture(kNv12)), out)));
}

/// Downstream has not computed what the picture needs; the pool makes the size that it is told.
/// With this width, rows have no padding, which nobody would write.
TEST(Pictures, FitIntoAPoolOfSmallerBuffers) {
  const ImageDesc desc = {PixelFormat::NV12, 16, 8};
  const Picture picture = random_picture(desc);
  for (const char *element : {"cudaletterbox", "cudanv12toyuv444"}) {
    Rig rig(element);
    rig.downstream("video/x-raw");
    PoolOffer offer(rig, PoolOffer::Kind::smaller);
    ASSERT_TRUE(rig.caps(video_caps(desc)));
    const BufferRef buffer = rig.process(buffer_of(picture));
    EXPECT_EQ(buffer->pool, offer.pool());
    EXPECT_TRUE(
        same_bytes(bytes_of(buffer.get()),
                   output_bytes(element, video_caps(desc), buffer_of(picture), "video/x-raw")));
  }
}

/// Checks pictures from downstream's pool and from the element's own.
TEST(Pictures, TellTheirLayoutWhereDownstreamReadsIt) {
  using Kind = PoolOffer::Kind;
  for (const char *element : {"cudaletterbox", "cudanv12toyuv444"})
    for (const auto &[kind, tells] : {std::pair(Kind::none, false),
                                      {Kind::plain, false},
                                      {Kind::meta, true},
                                      {Kind::video, true}}) {
      Rig rig(element);
      rig.downstream("video/x-raw");
      PoolOffer offer(rig, kind);
      ASSERT_TRUE(rig.caps(video_caps(kNv12)));
      const BufferRef buffer = rig.process(buffer_of(random_picture(kNv12)));
      EXPECT_EQ(gst_buffer_get_video_meta(buffer.get()) != nullptr, tells)
          << element << " " << static_cast<int>(kind);
    }
}

TEST(Pictures, StayUnchangedWhileDownstreamHoldsThem) {
  Rig rig("cudaletterbox");
  rig.downstream("video/x-raw,format=GRAY8");
  const ImageDesc gray = {PixelFormat::GRAY8, 4, 4};
  ASSERT_TRUE(rig.caps(video_caps(gray)));
  std::vector<BufferRef> held;
  for (uint8_t i = 0; i < 20; ++i) held.push_back(rig.process(buffer_of(Picture(gray, i))));
  for (uint8_t i = 0; i < 20; ++i) EXPECT_EQ(bytes_of(held[i].get()), Bytes(16, i));
}

}  // namespace
}  // namespace cudatensor
