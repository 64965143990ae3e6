// SPDX-License-Identifier: LGPL-2.1-or-later
// Starting, stopping, flushing, and new caps while running.
#include "backend.h"
#include "growth.h"
#include "kernels/error.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kNv12 = {PixelFormat::NV12, 13, 7};
const TensorDesc kTensor = {DType::float32, Layout::nchw, 1, 12, 3, 5};

/// An element with an input that it takes.
struct Subject {
  const char *element;
  bool tensor = false;

  std::string caps() const { return tensor ? tensor_caps(kTensor) : video_caps(kNv12); }
  BufferRef frame() const {
    return tensor ? buffer_of(random_tensor(kTensor, 1)) : buffer_of(random_picture(kNv12));
  }
};

const Subject kSubjects[] = {{"cudanv12toyuv444"},
                             {"cudaletterbox"},
                             {"cudanormalize"},
                             {"cudahistogram"},
                             {"cudapixelshuffle", true}};

class Elements : public testing::TestWithParam<Subject> {
 protected:
  /// Returns a rig that has made its first output.
  std::unique_ptr<Rig> running() {
    auto rig = std::make_unique<Rig>(GetParam().element);
    EXPECT_TRUE(rig->caps(GetParam().caps()));
    expected_ = next(*rig);
    return rig;
  }

  Bytes next(Rig &rig) {
    const BufferRef out = rig.process(GetParam().frame());
    return samples_of(out.get(), rig.output_caps().get());
  }

  Bytes expected_;
};

INSTANTIATE_TEST_SUITE_P(Lifecycle, Elements, testing::ValuesIn(kSubjects),
                         [](const auto &info) { return std::string(info.param.element); });

void push_segment(Rig &rig) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(rig.event(gst_event_new_segment(&segment)));
}

TEST_P(Elements, SurviveAFlush) {
  const auto rig = running();
  rig->event(gst_event_new_flush_start());
  EXPECT_EQ(rig->push(GetParam().frame()), GST_FLOW_FLUSHING);
  rig->event(gst_event_new_flush_stop(TRUE));
  push_segment(*rig);
  EXPECT_TRUE(same_bytes(next(*rig), expected_));
}

TEST_P(Elements, PassEosAndTakeNothingAfterIt) {
  const auto rig = running();
  rig->event(gst_event_new_eos());
  bool seen = false;
  while (EventRef event{gst_harness_try_pull_event(rig->harness())})
    seen |= GST_EVENT_TYPE(event.get()) == GST_EVENT_EOS;
  EXPECT_TRUE(seen);
  EXPECT_EQ(rig->push(GetParam().frame()), GST_FLOW_EOS);
  EXPECT_EQ(rig->pull(), nullptr);
}

TEST_P(Elements, StartAndStopManyTimes) {
  const auto rig = running();
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(gst_element_set_state(rig->element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(rig->get("active-backend"), "auto");
    ASSERT_EQ(gst_element_set_state(rig->element(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
    rig->event(gst_event_new_stream_start("again"));
    ASSERT_TRUE(rig->caps(GetParam().caps()));
    push_segment(*rig);
    ASSERT_TRUE(same_bytes(next(*rig), expected_)) << "round " << i;
  }
}

TEST_P(Elements, NeedTheirCapsAnewAfterAStop) {
  const auto rig = running();
  ASSERT_EQ(gst_element_set_state(rig->element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  ASSERT_EQ(gst_element_set_state(rig->element(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  forget_caps(rig->harness()->srcpad);
  rig->event(gst_event_new_stream_start("again"));
  push_segment(*rig);
  EXPECT_EQ(rig->push(GetParam().frame()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(rig->pull(), nullptr);
  EXPECT_TRUE(rig->messages().errors().empty());
}

TEST_P(Elements, ReportTheErrorOfEachStart) {
  Messages messages;
  const ElementRef element =
      make_element(std::string(GetParam().element) + " backend=cuda cuda-device-id=999");
  gst_element_set_bus(element.get(), messages.bus());
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
    EXPECT_EQ(messages.errors().size(), 1u) << "round " << round;
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
  gst_element_set_bus(element.get(), nullptr);
}

TEST_P(Elements, StartAndStopWithoutAFrame) {
  const ElementRef element = make_element(GetParam().element);
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
    ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
}

TEST_P(Elements, ComeAndGoUnused) {
  for (int i = 0; i < 50; ++i) make_element(GetParam().element);
}

TEST_P(Elements, DropLateFramesAndSaySo) {
  const auto rig = running();
  const auto frame_at = [&](GstClockTime pts) {
    BufferRef frame = GetParam().frame();
    GST_BUFFER_PTS(frame.get()) = pts;
    return frame;
  };
  gst_pad_push_event(rig->harness()->sinkpad,
                     gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, GST_SECOND, 4 * GST_SECOND));
  EXPECT_EQ(rig->push(frame_at(2 * GST_SECOND)), GST_FLOW_OK);
  EXPECT_EQ(rig->pull(), nullptr);
  const auto messages = rig->messages().of_type(GST_MESSAGE_QOS);
  ASSERT_EQ(messages.size(), 1u);
  guint64 running_time = 0;
  gst_message_parse_qos(messages[0].get(), nullptr, &running_time, nullptr, nullptr, nullptr);
  EXPECT_EQ(running_time, 2 * GST_SECOND);
  const BufferRef out = rig->process(frame_at(10 * GST_SECOND));
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT));
}

TEST_P(Elements, DoNotDropWhereQosIsOff) {
  const auto rig = running();
  rig->set("qos", "false");
  gst_pad_push_event(rig->harness()->sinkpad,
                     gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, GST_SECOND, 4 * GST_SECOND));
  EXPECT_TRUE(same_bytes(next(*rig), expected_));
}

TEST_P(Elements, AutoSelectsTheAvailableBackend) {
  const BackendScope scope(TestBackend::automatic);
  bool cuda = true;
  try {
    open_cuda_backend();
  } catch (const Error &) {
    cuda = false;
  }
  const auto rig = running();
  EXPECT_EQ(rig->get("active-backend"), cuda ? "cuda" : "cpu");
}

TEST_P(Elements, TheCpuCanBeAskedFor) {
  Rig rig(std::string(GetParam().element) + " backend=cpu");
  EXPECT_EQ(rig.get("active-backend"), "cpu");
}

TEST_P(Elements, NotifyTheirBackend) {
  const ElementRef element = make_element(std::string(GetParam().element) + " backend=cpu");
  int notified = 0;
  g_signal_connect(
      element.get(), "notify::active-backend",
      G_CALLBACK(+[](GObject *, GParamSpec *, gpointer count) { ++*static_cast<int *>(count); }),
      &notified);
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  EXPECT_EQ(notified, 1);
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

TEST_P(Elements, CudaWithoutADeviceIsOneError) {
  try {
    open_cuda_backend();
    GTEST_SKIP() << "a CUDA device is usable";
  } catch (const Error &) {
  }
  Messages messages;
  const ElementRef element = make_element(std::string(GetParam().element) + " backend=cuda");
  gst_element_set_bus(element.get(), messages.bus());
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  const std::vector<ElementError> errors = messages.errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
  EXPECT_EQ(errors[0].source, GST_OBJECT_NAME(element.get()));
  EXPECT_TRUE(mentions(errors[0].text, "CUDA"));
  EXPECT_TRUE(messages.of_type(GST_MESSAGE_WARNING).empty());
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  // It runs if it may use the CPU.
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "auto");
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
}

TEST_P(Elements, DoNotGrowOverTenThousandFrames) {
  if (!kMemoryIsMeasured) GTEST_SKIP() << "a sanitizer uses additional memory";
  const auto rig = running();
  const BufferRef frame = GetParam().frame();
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(rig->push(BufferRef(gst_buffer_ref(frame.get()))), GST_FLOW_OK);
      rig->pull();
      if (i % 64 == 0) rig->messages().of_type(GST_MESSAGE_ELEMENT);
    }
  };
  run(1000);
  expect_no_growth(resident_memory, 1 << 20, [&] { run(10000); });
}

// ------------------------------------------------------------------------------------- new caps

struct Size {
  int width, height;
};

const ImageDesc kPictures[] = {{PixelFormat::NV12, 13, 7}, {PixelFormat::NV12, 20, 30},
                               {PixelFormat::RGB, 20, 30}, {PixelFormat::GRAY8, 1, 1},
                               {PixelFormat::YV12, 5, 9},  {PixelFormat::NV12, 13, 7}};

TEST(NewCaps, TakeEffectInNormalize) {
  for (const std::string size : {"", " width=9 height=9"}) {
    Rig rig("cudanormalize" + size);
    for (const ImageDesc &desc : kPictures) {
      ASSERT_TRUE(rig.caps(video_caps(desc)));
      const Picture picture = random_picture(desc);
      const NormalizeCase params =
          normalize_params(source_of(desc), Color::rgb, DType::float32, Layout::nchw,
                           size.empty() ? desc.width : 9, size.empty() ? desc.height : 9);
      EXPECT_TRUE(
          same_bytes(bytes_of(rig.process(buffer_of(picture)).get()), normalized(picture, params)));
      EXPECT_EQ(rig.output("dimensions"), dimensions_of(params.out));
    }
  }
}

TEST(NewCaps, TakeEffectInLetterbox) {
  const ImageDesc out = {PixelFormat::BGR, 16, 16};
  Rig rig("cudaletterbox");
  rig.downstream(video_caps(out));
  for (const ImageDesc &desc : kPictures) {
    ASSERT_TRUE(rig.caps(video_caps(desc)));
    const Picture picture = random_picture(desc);
    LetterboxParams params = {source_of(desc), out, {}};
    params.resize.mode = ResizeMode::affine;
    EXPECT_TRUE(same_picture(picture_of(rig.process(buffer_of(picture)).get(), out),
                             letterboxed(picture, params)));
  }
}

TEST(NewCaps, MayChangeOnlyTheColours) {
  const Picture picture = random_picture(kNv12);
  Rig rig("cudanormalize");
  for (const char *fields : {"colorimetry=bt601", "colorimetry=bt709", "chroma-site=mpeg2",
                             "chroma-site=jpeg", "colorimetry=bt601"}) {
    ASSERT_TRUE(rig.caps(video_caps(kNv12, fields)));
    EXPECT_TRUE(same_bytes(
        bytes_of(rig.process(buffer_of(picture)).get()),
        output_bytes("cudanormalize", video_caps(kNv12, fields), buffer_of(picture), "ANY")))
        << fields;
  }
}

TEST(NewCaps, TakeEffectInPixelShuffle) {
  Rig rig("cudapixelshuffle");
  for (const TensorDesc &desc : {kTensor, TensorDesc{DType::uint8, Layout::nchw, 2, 4, 1, 1},
                                 TensorDesc{DType::float16, Layout::nchw, 1, 8, 5, 2}}) {
    ASSERT_TRUE(rig.caps(tensor_caps(desc)));
    const Bytes bytes = random_tensor(desc, 4);
    EXPECT_TRUE(same_bytes(bytes_of(rig.process(buffer_of(bytes)).get()),
                           shuffled_bytes(bytes, {desc, 2})));
  }
}

/// Pushes a frame that must end in not-negotiated; returns how many errors were posted.
size_t expect_refused_frame(Rig &rig, BufferRef frame) {
  EXPECT_EQ(rig.push(std::move(frame)), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(rig.pull(), nullptr);
  return rig.messages().errors().size();
}

TEST_P(Elements, GoBackToTheirCapsFromRefusedOnes) {
  const char *const refused[] = {
      "video/x-raw,format=NV12", "video/x-raw,format=NV12,width=40,height=30,colorimetry=smpte240m",
      "video/x-raw,format=GRAY8,width=40", "other/tensors,format=static,num_tensors=1,types=uint8",
      "other/tensors,format=static,num_tensors=1,types=uint8,dimensions=(string)4:4:5:1"};
  const auto rig = running();
  for (const char *caps : refused) {
    if (rig->caps(caps)) continue;
    expect_refused_frame(*rig, GetParam().frame());
    ASSERT_TRUE(rig->caps(GetParam().caps()));
    EXPECT_TRUE(same_bytes(next(*rig), expected_)) << "after " << caps;
  }
}

TEST_P(Elements, GoOnWhenDownstreamTakesTheirCapsAgain) {
  const auto rig = running();
  rig->downstream("text/plain");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(expect_refused_frame(*rig, GetParam().frame()), i == 0 ? 1u : 0u) << "once";
  }
  rig->downstream("ANY");
  EXPECT_TRUE(same_bytes(next(*rig), expected_));
}

TEST(NewCaps, AreTakenFromDownstreamAtTheNextFrame) {
  const Picture picture = random_picture(kNv12);
  Rig rig("cudanormalize");
  ASSERT_TRUE(rig.caps(video_caps(kNv12)));
  for (const Size size : {Size{5, 6}, Size{9, 3}, Size{5, 6}}) {
    const NormalizeCase params = normalize_params(source_of(kNv12), Color::rgb, DType::float32,
                                                  Layout::nchw, size.width, size.height);
    rig.downstream(tensor_caps(params.out));
    EXPECT_TRUE(
        same_bytes(bytes_of(rig.process(buffer_of(picture)).get()), normalized(picture, params)));
    EXPECT_EQ(rig.output("dimensions"), dimensions_of(params.out));
  }
}

TEST(NewCaps, AreRefusedIfDownstreamAsksForTheImpossible) {
  Rig rig("cudaletterbox");
  ASSERT_TRUE(rig.caps(video_caps(kNv12)));
  rig.process(buffer_of(random_picture(kNv12)));
  rig.downstream("video/x-raw,format=UYVY");
  EXPECT_EQ(expect_refused_frame(rig, buffer_of(random_picture(kNv12))), 1u);
  rig.downstream("video/x-raw,format=RGB,width=3,height=3");
  rig.process(buffer_of(random_picture(kNv12)));
  EXPECT_EQ(rig.output("width"), "3");
}

}  // namespace
}  // namespace cudatensor
