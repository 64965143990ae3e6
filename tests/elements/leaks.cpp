// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs every element in a process of its own under GStreamer's leaks tracer, which lists the
// objects that are left when GStreamer is shut down.
#include <fstream>
#include <sstream>

#include "gpu.h"
#include "handed.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kNv12 = {PixelFormat::NV12, 13, 7};
const TensorDesc kTensor = {DType::uint8, Layout::nchw, 1, 12, 3, 5};

struct Subject {
  const char *description;
  std::string caps;
  BufferRef (*frame)();
};

BufferRef picture() {
  BufferRef buffer = padded_buffer_of(random_picture(kNv12), {4, 4, 4, false});
  auto *roi = gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 1, 1, 9, 5);
  gst_video_region_of_interest_meta_add_param(roi, gst_structure_new_empty("param"));
  return buffer;
}
BufferRef tensor() { return buffer_of(random_tensor(kTensor, 1)); }

std::vector<Subject> subjects() {
  return {{"cudanv12toyuv444 resize-width=20", video_caps(kNv12), picture},
          {"cudaletterbox", video_caps(kNv12), picture},
          {"cudanormalize", video_caps(kNv12), picture},
          {"cudanormalize width=9 height=9 mean=<0.1,0.2,0.3>", video_caps(kNv12), picture},
          {"cudaletterbox ! cudanormalize", video_caps(kNv12), picture},
          {"cudahistogram interval=0 roi=<1,1,3,3>", video_caps(kNv12), picture},
          {"cudapixelshuffle", tensor_caps(kTensor), tensor}};
}

/// Runs one element with valid and invalid input.
void exercise(const Subject &subject) {
  Rig rig(subject.description);
  ASSERT_TRUE(rig.caps(subject.caps));
  rig.process(subject.frame());
  rig.downstream("ANY");
  const CapsRef caps(gst_pad_get_current_caps(rig.harness()->srcpad));
  const QueryRef query(gst_query_new_allocation(caps.get(), TRUE));
  gst_pad_peer_query(rig.harness()->srcpad, query.get());
  rig.process(subject.frame());
  // A buffer that is too short, caps that downstream refuses, invalid caps, EOS.
  rig.push(buffer_of(Bytes(1)));
  rig.messages().errors();
  rig.downstream("video/x-raw,format=UYVY");
  rig.push(subject.frame());
  rig.downstream("ANY");
  rig.caps("video/x-raw,format=RGB");
  rig.push(subject.frame());
  rig.messages().errors();
  rig.caps(subject.caps);
  while (rig.pull() != nullptr) {
  }
  rig.process(subject.frame());
  rig.event(gst_event_new_eos());
}

class Leaks : public testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(Elements, Leaks, testing::Range(size_t{0}, subjects().size()));

constexpr const char *kChild = "CUDATENSOR_TEST_LEAKS_CHILD";

/// Returns the lines of a log that name an object.
std::string objects_in(const std::string &log) {
  std::string objects, line;
  std::istringstream lines(log);
  while (std::getline(lines, line))
    // The tracer also describes its own format.
    if (line.find("object-alive, ") != std::string::npos && line.find("%s") == std::string::npos)
      objects += line + "\n";
  return objects;
}

/// Returns the command line of this program, perhaps with a loader, but without test filters.
std::vector<std::string> command_line() {
  gchar *self = g_file_read_link("/proc/self/exe", nullptr);
  std::vector<std::string> words = {self};
  g_free(self);
  std::ifstream file("/proc/self/cmdline");
  std::string word;
  std::getline(file, word, '\0');
  while (std::getline(file, word, '\0'))
    if (word.rfind("--gtest", 0) != 0) words.push_back(word);
  return words;
}

/// Runs this test again under the tracer and returns the objects that the tracer found.
std::string traced_run(const char *test) {
  std::vector<std::string> words = command_line();
  words.push_back(std::string("--gtest_filter=") + test);
  std::vector<gchar *> argv;
  for (std::string &each : words) argv.push_back(each.data());
  argv.push_back(nullptr);
  gchar **environment = g_environ_unsetenv(g_get_environ(), "GTEST_OUTPUT");
  for (const auto &[name, value] : {std::pair(kChild, "1"),
                                    {"GST_TRACERS", "leaks"},
                                    {"GST_DEBUG", "GST_TRACER:7"},
                                    {"GST_DEBUG_NO_COLOR", "1"}})
    environment = g_environ_setenv(environment, name, value, TRUE);
  gchar *out = nullptr, *log = nullptr;
  gint status = 0;
  EXPECT_TRUE(g_spawn_sync(nullptr, argv.data(), environment, G_SPAWN_DEFAULT, nullptr, nullptr,
                           &out, &log, &status, nullptr));
  EXPECT_TRUE(g_spawn_check_wait_status(status, nullptr)) << out << log;
  EXPECT_NE(strstr(log, "object-alive.class"), nullptr) << "the tracer did not run";
  const std::string objects = objects_in(log);
  g_strfreev(environment);
  g_free(out);
  g_free(log);
  return objects;
}

TEST_P(Leaks, AreNotMadeByElements) {
  if (g_getenv(kChild) != nullptr) {
    exercise(subjects()[GetParam()]);
    release_shared_context();
    gst_deinit();
    return;
  }
  const std::string test = "Elements/Leaks.AreNotMadeByElements/" + std::to_string(GetParam());
  EXPECT_EQ(traced_run(test.c_str()), "");
}

/// Exports tensors, refuses one, and releases the exported ones after the pipeline.
void hand_over() {
  std::vector<Versioned> held;
  {
    Camera camera("video/x-raw,width=16,height=16 ! cudanormalize ! other/tensors");
    camera.pipeline().start();
    for (int i = 0; i < 5; ++i) {
      const SampleRef sample = camera.pull();
      ASSERT_NE(sample, nullptr);
      const TensorRef tensor = tensor_of(sample.get());
      held.push_back(to_versioned(tensor.get()));
      to_dlpack(tensor.get());
    }
  }
  const BufferRef wrong = buffer_of(Bytes(5));
  const CapsRef caps(gst_caps_from_string(tensor_caps(kTensor).c_str()));
  Refusal refusal;
  EXPECT_EQ(gst_cuda_tensor_new(wrong.get(), caps.get(), refusal.into()), nullptr);
}

TEST(Leaks, AreNotMadeByTensors) {
  if (g_getenv(kChild) != nullptr) {
    hand_over();
    release_shared_context();
    gst_deinit();
    return;
  }
  EXPECT_EQ(traced_run("Leaks.AreNotMadeByTensors"), "");
}

TEST(Leaks, AreDetected) {
  if (g_getenv(kChild) != nullptr) {
    [[maybe_unused]] GstBuffer *const leaked = gst_buffer_new();
    gst_deinit();
    return;
  }
  // Proves that the other tests can fail.
  EXPECT_NE(traced_run("Leaks.AreDetected"), "");
}

}  // namespace
}  // namespace cudatensor
