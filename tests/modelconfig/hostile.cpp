// SPDX-License-Identifier: LGPL-2.1-or-later
// Invalid files, and files whose content does not match their names, give an error without delay.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernels/error.h"
#include "tests/modelconfig/corpus.h"
#include "tests/modelconfig/fault.h"
#include "tests/modelconfig/files.h"
#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {
namespace {

std::string repeated(const std::string &text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

class Hostile : public testing::Test {
 protected:
  std::string of(const std::string &name, const std::string &contents) {
    return outcome(folder_.write(name, contents));
  }
  Folder folder_;
};

TEST_F(Hostile, NoFile) {
  EXPECT_EQ(outcome(folder_.path("absent.json")), "!No such file or directory");
  try {
    read_model_config(folder_.path("absent.json"));
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), Error::Code::not_found);
  }
}

TEST_F(Hostile, NotARegularFile) {
  EXPECT_EQ(outcome(folder_.path(".")), "!is a directory");
  ASSERT_EQ(mkfifo(folder_.path("pipe.json").c_str(), 0600), 0);
  EXPECT_EQ(outcome(folder_.path("pipe.json")), "!is not a regular file");
  EXPECT_EQ(outcome("/dev/zero"), "!is not a regular file");
}

TEST_F(Hostile, Empty) {
  const std::string none =
      "!has no preprocessing of Transformers, timm, Ultralytics, GStreamer or DeepStream";
#ifdef HAVE_LIBYAML
  EXPECT_EQ(of("any", ""), none);
  EXPECT_EQ(of("any", " \n# only a comment"), none);
#endif
  EXPECT_EQ(of("any.txt", ""), none);
  EXPECT_EQ(of("any.onnx", ""), "!imgsz is absent: must be height and width");
  EXPECT_EQ(of("any.modelinfo", ""), "!modelinfo.version is absent: only version 1 is read");
}

TEST_F(Hostile, TooLarge) {
  const std::string path = folder_.write("big.json", "{");
  std::filesystem::resize_file(path, uint64_t{1} << 40);
  EXPECT_EQ(outcome(path).substr(0, 2), "!i");  // zeros are binary, but no ONNX model
  const std::string text = folder_.write("text.json", "{" + std::string(5 << 20, ' '));
  EXPECT_EQ(outcome(text), "!has more than 4 MiB of text");
}

#ifdef HAVE_JSON
TEST_F(Hostile, DeepJson) {
  const std::string deep = "!is nested deeper than 64 levels";
  const auto nested = [](int levels) { return repeated("[", levels) + repeated("]", levels); };
  EXPECT_EQ(of("a.json", "{\"size\":" + repeated("[", 2000000)), deep);
  EXPECT_EQ(of("a.json", repeated("{\"size\":", 400000)), deep);
  EXPECT_EQ(of("a.json", nested(64)).substr(0, 5), "!has ");
  EXPECT_EQ(of("a.json", nested(65)), deep);
  EXPECT_EQ(of("a.json", "{\"a\":" + nested(63) + "}").substr(0, 5), "!has ");
  EXPECT_EQ(of("a.json", "{\"a\":" + nested(64) + "}"), deep);
  // Brackets in strings do not count, and closed ones do not add up.
  EXPECT_EQ(of("a.json", "{\"a\":\"\\\"" + repeated("[", 100) + "\"}").substr(0, 5), "!has ");
  EXPECT_EQ(of("a.json", "{\"a\":[" + repeated("[{}],", 1000) + "0]}").substr(0, 5), "!has ");
}

/// The texts before the brackets could be mistaken for the end of a string or for a comment.
TEST_F(Hostile, JsonWhoseDepthIsHidden) {
  const std::string levels = repeated("[", 100000);
  for (const char *start :
       {"{'\"':", "{/*\"*/\"a\":", "{//\"\n\"a\":", "{#\"\n\"a\":", "{\"\\\\\":", "{\"\\\\\\\"\":",
        "{\"\\u0022\":", "{\"a\":'\"',\"b\":", "{`\"`:", "{\"\n\":"})
    for (const std::string &end : {std::string(), repeated("]", 100000) + "}"})
      EXPECT_EQ(of("a.json", start + levels + end).substr(0, 4), "!is ") << start;
}

TEST_F(Hostile, Json) {
  for (const char *text : {"{",
                           "{\"size\"",
                           "{\"size\":}",
                           "{\"size\":NaN}",
                           "{\"size\":1}}",
                           "{\"size\":Infinity}",
                           "{\"a\":\"\xff\xfe\"}",
                           "{\"a\":\"\xc0\x80\"}",
                           "{\"a\":\"\xed\xa0\x80\"}",
                           "{\"a\":\"\\ud800\"}",
                           "{\"a\":1,}",
                           "{\"a\":[1,]}",
                           "{'a':1}",
                           "{\"a\":'b'}",
                           "{/* a */\"a\":1}",
                           "{\"a\":1} // b",
                           "{\"a\":01}",
                           "{\"a\":.5}",
                           "{\"a\":+1}",
                           "{\"a\":0x1}",
                           "{\"a\":\"\n\"}",
                           "{\"a\":True}",
                           "{\"a\":1e999}",
                           "{a:1}"})
    EXPECT_EQ(of("a.json", text).substr(0, 12), "!is no JSON:") << text;
  EXPECT_EQ(of("a.json", "{\"size\":1]"),
            "!is no JSON: parse error at line 1, column 10: syntax error while parsing object - "
            "unexpected ']'; expected '}'");
  EXPECT_LT(of("a.json", "{\"size\":1" + repeated("0", 100000) + "}").size(), 300u);
  EXPECT_LT(of("a.json", "{\"size\":\"" + repeated("x", 100000)).size(), 300u);
  const std::string vit = R"({"image_processor_type":"ViTImageProcessor",)";
  for (const char *value :
       {"1e99", "-1", "0", "32768", "9223372036854775807", "9223372036854775808",
        "18446744073709551615", "-9223372036854775809", "99999999999999999999999", "true", "[]",
        "{}", "[[1]]", "[1]", "[1,2,3]", "\"224\"", "{\"height\":1}"})
    EXPECT_EQ(of("a.json", vit + "\"size\":" + value + "}").substr(0, 6), "!size=") << value;
  for (const char *value : {"\"0\"", "[]", "{}", "[[1]]", "[1,\"2\",3]", "[1,null,3]", "true"})
    EXPECT_EQ(of("a.json", vit + "\"image_mean\":" + value + "}").substr(0, 12), "!image_mean=")
        << value;
  // Beyond 63 bits, a number is not exact.
  EXPECT_NE(of("a.json", vit + R"("size":8,"rescale_factor":18446744073709551615})")
                .find("scale=18446744073709551616 "),
            std::string::npos);
}

/// Files may have UTF-8's byte order mark, text that is not ASCII, and escapes.
TEST_F(Hostile, JsonInUtf8) {
  const std::string size = "width=8 height=8 ";
  const std::string rest = R"("image_processor_type":"ViTImageProcessor","size":8})";
  EXPECT_EQ(of("a.json", "\xef\xbb\xbf{" + rest).substr(0, size.size()), size);
  EXPECT_EQ(of("a.json", "{\"\xc3\xa4\":\"\xf0\x9f\x8e\xa5\"," + rest).substr(0, size.size()),
            size);
  EXPECT_EQ(of("a.json", "{\"\\ud83c\\udfa5\\u0000\":1," + rest).substr(0, size.size()), size);
  EXPECT_EQ(of("a.json", R"({"image_processor_type":"ViTImageProcessor","\u0073ize":8})")
                .substr(0, size.size()),
            size);
  EXPECT_EQ(of("a.json", "{\"a\":\"\\ud83c\"," + rest).substr(0, 12), "!is no JSON:");
}

TEST_F(Hostile, ManyKeys) {
  std::string text = "{\"size\":8";
  for (int i = 0; i < 200000; ++i) text += ",\"" + std::to_string(i) + "\":1";
  EXPECT_EQ(of("a.json", text + "}").substr(0, 4), "!has");
}

TEST_F(Hostile, LongValuesAreCut) {
  const std::string text = of("a.json", R"({"image_processor_type":"LlavaNextImageProcessor",)"
                                        R"("do_resize":")" +
                                            std::string(100000, 'x') + "\"}");
  EXPECT_LT(text.size(), 200u);
  const std::string value = of("a.json", R"({"image_processor_type":"ViTImageProcessor","size":")" +
                                             std::string(100000, '\t') + "\"}");
  EXPECT_LT(value.size(), 200u) << value;
}
#else
TEST_F(Hostile, JsonWithoutItsLibrary) {
  EXPECT_EQ(of("a.json", "{}"), "!is JSON, which this build cannot read: it lacks nlohmann-json");
}
#endif

#ifdef HAVE_LIBYAML
TEST_F(Hostile, Yaml) {
  EXPECT_EQ(of("metadata.yaml", "task: detect\nimgsz: " + repeated("[", 1000000)),
            "!is nested deeper than 64 levels");
  EXPECT_EQ(of("metadata.yaml", "imgsz: [640").substr(0, 12), "!is no YAML:");
  EXPECT_EQ(of("metadata.yaml", "task: detect\nimgsz: [640, .nan]\n").substr(0, 7), "!imgsz=");
  EXPECT_EQ(of("metadata.yaml", "\xff\xff\xff").substr(0, 12), "!is no YAML:");
  EXPECT_EQ(of("metadata.yaml", "a: &x [1]\nb: *x\n"), "!has an alias (*), which is not read");
  EXPECT_EQ(of("metadata.yaml", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
            "!has an alias (*), which is not read");
  EXPECT_EQ(of("metadata.yaml", "*a : 1\n"), "!has an alias (*), which is not read");
  EXPECT_EQ(of("metadata.yaml", "? " + repeated("[", 100000)), "!is nested deeper than 64 levels");
  EXPECT_EQ(of("metadata.yaml", repeated("- ", 100000) + "1"), "!is nested deeper than 64 levels");
  EXPECT_EQ(of("metadata.yaml", "\xef\xbb\xbftask: detect\nimgsz: 64\n").substr(0, 8), "width=64");
}
#else
TEST_F(Hostile, YamlWithoutItsLibrary) {
  EXPECT_EQ(of("metadata.yaml", "task: detect\n"),
            "!is YAML, which this build cannot read: it lacks libyaml");
}
#endif

TEST_F(Hostile, KeyFiles) {
  EXPECT_EQ(of("a.txt", "[property\n").substr(0, 19), "!is not a key file:");
  EXPECT_EQ(of("a.txt", "[property]\nno equals sign\n").substr(0, 19), "!is not a key file:");
  EXPECT_LT(of("a.txt", "[property]\n" + repeated("x", 100000)).size(), 300u);
  EXPECT_EQ(of("a.txt", "[property]\ninfer-dims=3;1e9;8\n").substr(0, 21), "!property.infer-dims=");
  EXPECT_EQ(of("a.txt", "[property]\ninfer-dims=3;8.5;8\n").substr(0, 21), "!property.infer-dims=");
  EXPECT_EQ(of("a.txt", "[property]\nmaintain-aspect-ratio=2\n"),
            "!property.maintain-aspect-ratio=2: must be true or false");
}

TEST_F(Hostile, TruncatedOnnx) {
  const std::string whole = onnx_model({{"task", "detect"}, {"imgsz", "640"}}, 300);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(of("a.onnx", whole.substr(0, size)).substr(0, 1), "!") << size;
}

TEST_F(Hostile, Onnx) {
  const std::string head = varint(1 << 3) + varint(8);
  for (const std::string &rest :
       {varint(14 << 3 | 2) + varint(~uint64_t{0}),                  // an endless field
        varint(14 << 3 | 2) + std::string(20, '\xff'),               // an endless number
        field(14, varint(1 << 3 | 2) + varint(uint64_t{1} << 40)),   // an entry beyond its field
        varint(3 << 3 | 3), varint(2), std::string("\0\0\0\0", 4)})  // groups, the field 0
    EXPECT_EQ(of("a.onnx", head + rest).substr(0, 18), "!is no ONNX model:");
  EXPECT_EQ(of("a.onnx", head + field(14, "")), "!imgsz is absent: must be height and width");
  EXPECT_EQ(of("a.onnx", head + field(14, field(1, "imgsz") + field(2, std::string(1000, '\xff'))) +
                             field(14, field(1, "task") + field(2, "detect")))
                .substr(0, 7),
            "!imgsz=");
  std::string many = head;
  for (int i = 0; i < 200000; ++i) many += field(8, "");
  EXPECT_EQ(of("a.onnx", many), "!is no ONNX model: it has too many fields");
}

/// Tests fields of other types, and lengths of more than 28 bits. The weights are a hole in the
/// file.
TEST_F(Hostile, LargeOnnx) {
  const uint64_t weights = uint64_t{1} << 33;
  const std::string head = varint(1 << 3) + varint(8) + varint(90 << 3 | 1) + "abcdefgh" +
                           varint(91 << 3 | 5) + "abcd" + varint(7 << 3 | 2) + varint(weights);
  const std::string path = folder_.write("large.onnx", head);
  std::filesystem::resize_file(path, head.size() + weights);
  std::ofstream(path, std::ios::binary | std::ios::app)
      << field(14, field(1, "task") + field(2, "detect"))
      << field(14, field(1, "imgsz") + field(2, "64"));
  EXPECT_EQ(outcome(path).substr(0, 18), "width=64 height=64");
  EXPECT_EQ(of("a.onnx", onnx_model({{"task", "detect"}, {"a", std::string(5 << 20, 'x')}})),
            "!is no ONNX model: it has more than 4 MiB of metadata");
}

/// Messages are nested as deep as the file is large. The reader enters only those of ONNX.
TEST_F(Hostile, DeepOnnx) {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep = field(i % 2 == 0 ? 6 : 1, deep);
  const std::string graph = field(1, field(5, deep)) + field(11, field(2, deep));
  EXPECT_EQ(of("a.onnx", onnx_model({{"task", "detect"}, {"imgsz", "64"}}, graph)).substr(0, 8),
            "width=64");
}

/// A text file with the name of a model, which Git LFS leaves in its place.
TEST_F(Hostile, Pointer) {
  EXPECT_EQ(of("a.onnx", "version https://git-lfs.github.com/spec/v1\n").substr(0, 17),
            "!is no ONNX model");
}

/// Reads damaged files for a few seconds. Each must be refused, or give properties that the
/// elements accept. CUDATENSOR_TEST_SEED=NUMBER begins with the case of that number, which depends
/// on nothing else.
TEST(Mutations, AreRefusedOrGiveProperties) {
  for (const ModelFile &file : model_files()) EXPECT_EQ(fault_of(file.name, file.contents), "");
  const char *given = std::getenv("CUDATENSOR_TEST_SEED");
  uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("CUDATENSOR_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (int i = 0; i < 300 || std::chrono::steady_clock::now() < end; ++i, ++seed) {
    RandomBits bits(seed);
    ModelFile file = model_files()[bits() % model_files().size()];
    damage(bits, file.contents);
    // The name selects the reader, too.
    if (bits() % 20 == 0) file.name = model_files()[bits() % model_files().size()].name;
    ASSERT_EQ(fault_of(file.name, file.contents), "") << "CUDATENSOR_TEST_SEED=" << seed;
  }
}

}  // namespace
}  // namespace cudatensor
