// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of several tensors, and the header of flexible ones, byte by byte as NNStreamer has it.
#include "gst/caps/tensorlist.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "../kernels/random.h"
#include "gst/caps/flexibletensor.h"
#include "gst/caps/tensorcaps.h"
#include "kernels/error.h"
#include "refs.h"

namespace cudatensor {
namespace {

Ref<GstStructure> structure(const std::string &text) {
  Ref<GstStructure> s(gst_structure_new_from_string(text.c_str()));
  EXPECT_NE(s, nullptr) << text;
  return s;
}

TensorList parsed(const std::string &text) { return parse_tensor_list(structure(text).get()); }

/// Expects that caps are refused with a text that contains `cause`.
void expect_refused(const std::string &text, const std::string &cause) {
  try {
    parsed(text);
    ADD_FAILURE() << text << " is taken";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find(cause), std::string::npos) << error.what();
  }
}

constexpr const char *kTwo =
    "other/tensors,format=(string)static,num_tensors=(int)2,types=(string)\"float32\\,int64\","
    "dimensions=(string)\"8400:84:1\\,300\",names=(string)\"boxes\\,count\","
    "framerate=(fraction)30/1";

TEST(TensorList, IsReadFromCaps) {
  const TensorList list = parsed(kTwo);
  EXPECT_FALSE(list.is_flexible);
  EXPECT_EQ(list.count, 2u);
  ASSERT_EQ(list.shapes.size(), 2u);
  EXPECT_EQ(list.shapes[0], (TensorShape{ElementType::float32, {8400, 84, 1}}));
  EXPECT_EQ(list.shapes[1], (TensorShape{ElementType::int64, {300}}));
  EXPECT_EQ(list.shapes[0].bytes(), 8400u * 84 * 4);
  EXPECT_EQ(list.shapes[1].bytes(), 300u * 8);
  EXPECT_EQ(list.names, (std::vector<std::string>{"boxes", "count"}));
  EXPECT_EQ(list.fps_n, 30);
  EXPECT_EQ(list.fps_d, 1);
}

TEST(TensorList, SpacesAfterCommasAreTaken) {
  const TensorList list = parsed(
      "other/tensors,format=static,num_tensors=2,types=\"uint8, float16\","
      "dimensions=\"3:4, 5:1\"");
  EXPECT_EQ(list.shapes[0], (TensorShape{ElementType::uint8, {3, 4}}));
  EXPECT_EQ(list.shapes[1], (TensorShape{ElementType::float16, {5, 1}}));
  EXPECT_TRUE(list.names.empty());
  EXPECT_EQ(list.fps_n, 0);
}

TEST(TensorList, FlexibleCapsNeedOnlyTheFormat) {
  const TensorList none = parsed("other/tensors,format=flexible,framerate=0/1");
  EXPECT_TRUE(none.is_flexible);
  EXPECT_EQ(none.count, 0u);
  const TensorList two =
      parsed("other/tensors,format=flexible,num_tensors=2,names=\"a,b\",framerate=0/1");
  EXPECT_EQ(two.count, 2u);
  EXPECT_TRUE(two.shapes.empty());
  EXPECT_EQ(two.names, (std::vector<std::string>{"a", "b"}));
}

TEST(TensorList, NamesOfAnotherCountAreIgnored) {
  EXPECT_TRUE(
      parsed("other/tensors,format=static,num_tensors=1,types=uint8,dimensions=(string)\"4\","
             "names=\"a,b\"")
          .names.empty());
}

TEST(TensorList, WrongCapsAreRefused) {
  const std::string head = "other/tensors,format=static,num_tensors=2,";
  expect_refused("video/x-raw,format=RGB", "video/x-raw");
  expect_refused("other/tensors,format=sparse", "format=sparse");
  expect_refused("other/tensors,num_tensors=1", "format=(none)");
  expect_refused("other/tensors,format=static,types=uint8,dimensions=(string)\"4\"",
                 "no num_tensors");
  expect_refused("other/tensors,format=static,num_tensors=0", "num_tensors=0");
  expect_refused("other/tensors,format=flexible,num_tensors=17", "num_tensors=17");
  expect_refused(head + "types=uint8,dimensions=(string)\"4,4\"", "types=uint8");
  expect_refused(head + "types=\"uint8,string\",dimensions=(string)\"4,4\"", "types=uint8,string");
  expect_refused(head + "types=\"uint8,uint8\",dimensions=(string)\"4\"", "dimensions=4");
  expect_refused(head + "types=\"uint8,uint8\"", "no dimensions");
  for (const char *wrong : {"4,0", "4,-1", "4,", "4,x", "4:,4", "4,4294967296"})
    expect_refused(head + "types=\"uint8,uint8\",dimensions=(string)\"" + wrong + "\"", wrong);
  expect_refused(head + "types=\"uint8,float64\",dimensions=(string)\"4,2147483647:2147483647:8\"",
                 "overflows");
}

TEST(TensorList, NamesWithCommasAreLeftOut) {
  TensorList list;
  list.count = 2;
  list.shapes.resize(2, {ElementType::uint8, {1}});
  list.names = {"a", "b,c"};
  const Ref<GstStructure> comma(new_tensor_list(list));
  EXPECT_FALSE(gst_structure_has_field(comma.get(), "names"));
  list.names = {"a", ""};
  const Ref<GstStructure> empty(new_tensor_list(list));
  EXPECT_FALSE(gst_structure_has_field(empty.get(), "names"));
}

TensorShape random_shape(Random &random, ElementType last) {
  TensorShape shape;
  shape.type = static_cast<ElementType>(random.integer(0, static_cast<int>(last)));
  const int rank = random.integer(1, static_cast<int>(kMaxFlexibleRank));
  for (int i = 0; i < rank; ++i) shape.dimensions.push_back(random.integer(1, 9));
  return shape;
}

TEST(TensorList, WhatIsWrittenIsReadAgain) {
  for_cases(200, [](Random &random) {
    TensorList list;
    list.count = static_cast<size_t>(random.integer(1, kMaxTensors));
    for (size_t i = 0; i < list.count; ++i) {
      list.shapes.push_back(random_shape(random, ElementType::bfloat16));
      list.names.push_back("output:" + std::to_string(i));
    }
    list.fps_n = random.integer(0, 60);
    list.is_flexible = random.chance(20);
    if (list.is_flexible) list.shapes.clear();
    const Ref<GstStructure> written(new_tensor_list(list));
    const Ref<gchar> text(gst_structure_to_string(written.get()));
    const TensorList again = parsed(text.get());
    EXPECT_EQ(again.is_flexible, list.is_flexible);
    EXPECT_EQ(again.count, list.count);
    EXPECT_EQ(again.shapes, list.shapes);
    EXPECT_EQ(again.names, list.names);
    EXPECT_EQ(again.fps_n, list.fps_n);
  });
}

TEST(TensorList, OneTensorIsThatOfTensorCaps) {
  const Ref<GstStructure> s = structure(
      "other/tensors,format=static,num_tensors=1,types=float32,dimensions=(string)640:480:3:2");
  const TensorShape shape = parse_tensor_list(s.get()).shapes[0];
  const TensorDesc desc = {DType::float32, Layout::nchw, 2, 3, 480, 640};
  EXPECT_EQ(dimensions_text(shape), dimensions_text(desc));
  EXPECT_EQ(shape.bytes(), desc.bytes());
  EXPECT_STREQ(type_text(shape.type), type_text(desc.dtype));
  EXPECT_EQ(text_of(shape), "float32 640:480:3:2");
}

using Words = std::array<uint32_t, 32>;

Words header_of(const TensorShape &shape) {
  Words words;
  words.fill(0x55555555);
  write_flexible_header(shape, words.data());
  return words;
}

TEST(FlexibleTensor, HeaderIsNnstreamers) {
  const Words words = header_of({ElementType::float32, {6, 100, 1}});
  Words expected = {0xfeedcced, 0xde001000, 7, 6, 100, 1};
  expected[19] = 1;  // _NNS_TENSOR_FORMAT_FLEXIBLE
  expected[20] = 4;  // _NNS_TENSOR
  EXPECT_EQ(words, expected);
  EXPECT_EQ(header_of({ElementType::float16, {1}})[2], 10u);
  EXPECT_EQ(header_of({ElementType::uint64, {1}})[2], 9u);
}

TEST(FlexibleTensor, WhatIsWrittenIsReadAgain) {
  for_cases(200, [](Random &random) {
    const TensorShape shape = random_shape(random, ElementType::float16);
    const Words words = header_of(shape);
    EXPECT_EQ(read_flexible_header(words.data(), kFlexibleHeader + shape.bytes()), shape);
  });
}

TEST(FlexibleTensor, TensorWithoutElementsKeepsItsRank) {
  const Words words = header_of({ElementType::float32, {7, 0}});
  EXPECT_EQ(words[3], 7u);
  EXPECT_EQ(words[4], 1u);
  const TensorShape shape = read_flexible_header(words.data(), kFlexibleHeader);
  EXPECT_EQ(shape, (TensorShape{ElementType::float32, {7, 0}}));
  EXPECT_EQ(shape.bytes(), 0u);
  // NNStreamer demands an innermost dimension.
  EXPECT_EQ(header_of({ElementType::int64, {0}})[3], 1u);
}

/// Expects that a memory is refused with a text that contains `cause`.
void expect_refused(const Words &words, gsize size, const std::string &cause) {
  try {
    read_flexible_header(words.data(), size);
    ADD_FAILURE() << "taken; expected: " << cause;
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), Error::Code::frame);
    EXPECT_NE(std::string(error.what()).find(cause), std::string::npos) << error.what();
  }
}

TEST(FlexibleTensor, WrongMemoryIsRefused) {
  const Words good = header_of({ElementType::float32, {6, 2}});
  const gsize size = kFlexibleHeader + 48;
  ASSERT_NO_THROW(read_flexible_header(good.data(), size));
  expect_refused(good, kFlexibleHeader - 1, "127 bytes");
  expect_refused(good, size - 1, "47 bytes");
  expect_refused(good, size + 1, "float32 6:2 has 49 bytes");
  const auto with = [&](size_t word, uint32_t value) {
    Words words = good;
    words[word] = value;
    return words;
  };
  expect_refused(with(0, 0), size, "begin");
  expect_refused(with(1, 0x1000), size, "begin");
  expect_refused(with(1, 0xde002000), size, "version");
  expect_refused(with(2, 11), size, "unknown type");
  expect_refused(with(3, 0), size, "no dimensions");
  expect_refused(with(19, 2), size, "sparse");
  Words large = good;
  for (size_t i = 3; i < 19; ++i) large[i] = 0xffffffff;
  expect_refused(large, size, "too large");
  EXPECT_EQ(read_flexible_header(with(19, 0).data(), size).dimensions.size(), 2u);
  EXPECT_EQ(read_flexible_header(with(1, 0xde001007).data(), size).dimensions.size(), 2u);
}

TEST(FlexibleTensor, WhatTheHeaderCannotSayIsNotWritten) {
  Words words;
  const auto write = [&](const TensorShape &shape) { write_flexible_header(shape, words.data()); };
  EXPECT_THROW(write({ElementType::bfloat16, {4}}), Error);
  EXPECT_THROW(write({ElementType::float32, {}}), Error);
  EXPECT_THROW(write({ElementType::float32, std::vector<int64_t>(17, 1)}), Error);
  EXPECT_THROW(write({ElementType::float32, {int64_t{1} << 32}}), Error);
}

TEST(FlexibleTensor, AnyBytesAreReadOrRefused) {
  for_cases(500, [](Random &random) {
    Words words = header_of(random_shape(random, ElementType::float16));
    for (int i = random.integer(1, 4); i > 0; --i)
      words[static_cast<size_t>(random.integer(0, 20))] =
          static_cast<uint32_t>(random.chance(50) ? random.bits() : random.integer(0, 20));
    const auto size = static_cast<gsize>(random.integer(0, 600));
    try {
      const TensorShape shape = read_flexible_header(words.data(), size);
      EXPECT_EQ(kFlexibleHeader + shape.bytes(), size);
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), Error::Code::frame);
    }
  });
}

}  // namespace
}  // namespace cudatensor
