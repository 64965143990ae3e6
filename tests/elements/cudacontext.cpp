// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context: elements share it with neighbours and the application, follow changes, and
// release it.
#include <atomic>
#include <thread>

#include "gpu.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kNv12 = {PixelFormat::NV12, 32, 18};
const TensorDesc kTensor = {DType::float32, Layout::nchw, 1, 12, 3, 5};

/// An element and its input.
struct Subject {
  const char *element;
  bool tensor = false;

  std::string caps() const { return tensor ? tensor_caps(kTensor) : video_caps(kNv12); }
  BufferRef frame() const {
    return tensor ? buffer_of(random_tensor(kTensor, 1)) : buffer_of(random_picture(kNv12));
  }
};

void PrintTo(const Subject &subject, std::ostream *os) { *os << subject.element; }

const Subject kSubjects[] = {{"cudanv12toyuv444 resize-width=20"},
                             {"cudaletterbox"},
                             {"cudanormalize"},
                             {"cudahistogram interval=0"},
                             {"cudapixelshuffle", true}};

/// Elements find their own contexts.
class OwnContexts : public GpuTest {
 protected:
  OwnContexts() : GpuTest(true) {}
};

class EveryElement : public OwnContexts, public testing::WithParamInterface<Subject> {
 protected:
  std::unique_ptr<Rig> started(const std::string &properties = "") const {
    auto rig = std::make_unique<Rig>(GetParam().element + properties);
    EXPECT_TRUE(rig->caps(GetParam().caps()));
    return rig;
  }
  BufferRef next(Rig &rig) const { return rig.process(GetParam().frame()); }
  /// Returns the expected output, whatever the memory.
  Bytes expected() const { return result_of(*started(" backend=cpu"), GetParam().frame()); }
  static Bytes result_of(Rig &rig, BufferRef frame) {
    const BufferRef out = rig.process(std::move(frame));
    return samples_of(out.get(), rig.output_caps().get());
  }
};

INSTANTIATE_TEST_SUITE_P(CudaContext, EveryElement, testing::ValuesIn(kSubjects),
                         [](const auto &info) {
                           const std::string text = info.param.element;
                           return text.substr(0, text.find(' '));
                         });

/// Returns the context that an element answers on its own pad.
ContextRef context_of(GstElement *element) {
  const PadRef pad(gst_element_get_static_pad(element, "sink"));
  const PadRef peer(gst_pad_get_peer(pad.get()));
  return ask_for_context(peer.get());
}

// ----------------------------------------------------------------------------------- neighbours

TEST_P(EveryElement, AnswersItsNeighbours) {
  const auto rig = started();
  const ContextRef upstream = ask_for_context(rig->harness()->srcpad);
  const ContextRef downstream = ask_for_context(rig->harness()->sinkpad);
  ASSERT_NE(upstream, nullptr);
  EXPECT_EQ(upstream, downstream);
  const BufferRef out = next(*rig);
  const gstcuda::Memory *memory = cuda_memory_of(out.get());
  EXPECT_TRUE(memory == nullptr || memory->context == upstream.get());
}

TEST_P(EveryElement, DoesNotAnswerForOtherContexts) {
  const auto rig = started();
  const QueryRef query(gst_query_new_context("gst.gl.GLDisplay"));
  EXPECT_FALSE(gst_pad_peer_query(rig->harness()->srcpad, query.get()));
}

TEST_F(OwnContexts, AreSharedWithinAPipeline) {
  Rig rig("cudahistogram name=a ! queue ! cudaletterbox name=b ! cudanormalize name=c");
  ASSERT_TRUE(rig.caps(video_caps(kNv12)));
  const auto find = [&](const char *name) {
    return ElementRef(gst_bin_get_by_name(GST_BIN(rig.element()), name));
  };
  const ContextRef context = context_of(find("a").get());
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(context_of(find("b").get()), context);
  EXPECT_EQ(context_of(find("c").get()), context);
}

TEST_P(EveryElement, TellsOfItsNewContext) {
  const auto rig = started();
  EXPECT_EQ(rig->messages().of_type(GST_MESSAGE_NEED_CONTEXT).size(), 1u);
  const auto told = rig->messages().of_type(GST_MESSAGE_HAVE_CONTEXT);
  ASSERT_EQ(told.size(), 1u);
  GstContext *message = nullptr;
  gst_message_parse_have_context(told[0].get(), &message);
  const Ref<GstContext> owned(message);
  const GValue *value =
      gst_structure_get_value(gst_context_get_structure(message), gstcuda::kContextType);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(g_value_get_object(value), ask_for_context(rig->harness()->srcpad).get());
}

// ------------------------------------------------------------------------------- the application

/// Gives the application's context to elements that need one.
GstBusSyncReply give_context(GstBus *, GstMessage *message, gpointer context) {
  const gchar *type = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT &&
      gst_message_parse_context_type(message, &type) && g_str_equal(type, gstcuda::kContextType))
    gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)),
                            message_of(static_cast<gstcuda::Context *>(context)).get());
  return GST_BUS_PASS;
}

TEST_P(EveryElement, UsesTheApplicationsContext) {
  const ContextRef context = new_context();
  Rig rig(GetParam().element, give_context, context.get());
  ASSERT_TRUE(rig.caps(GetParam().caps()));
  EXPECT_EQ(ask_for_context(rig.harness()->srcpad), context);
  EXPECT_TRUE(rig.messages().of_type(GST_MESSAGE_HAVE_CONTEXT).empty());
  EXPECT_TRUE(same_bytes(result_of(rig, GetParam().frame()), expected()));
}

/// Returns the bytes that this process' CUDA runtime reads at the buffer's address, in its own
/// context.
Bytes read_by_the_runtime(GstBuffer *buffer) {
  uint8_t *const address = device_address_of(buffer);
  const auto size = static_cast<ptrdiff_t>(gst_buffer_get_size(buffer));
  const PrimaryContextScope scope(0);
  const auto runtime = open_cuda_backend();
  const auto memory = runtime->device()->allocate_pinned(gst_buffer_get_size(buffer));
  const Stream stream = handle_of(stream_of(buffer));
  runtime->device()->copy({memory->data(), size}, {address, size}, memory->size(), 1, stream);
  runtime->device()->synchronize(stream);
  return Bytes(memory->data(), memory->data() + size);
}

TEST_F(OwnContexts, MayBeTheContextOfTheCudaRuntime) {
  const ContextRef context = wrap_primary_context();
  for (const Subject &subject : {kSubjects[2], kSubjects[4]}) {
    const std::string element = subject.element;
    const Bytes expected =
        output_bytes(element + " backend=cpu", subject.caps(), subject.frame(), "ANY");
    Rig rig(element, give_context, context.get());
    ASSERT_TRUE(rig.caps(subject.caps()));
    for (int i = 0; i < 2; ++i) {
      const BufferRef out = rig.process(subject.frame());
      gstcuda::Memory *memory = cuda_memory_of(out.get());
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(memory->context, context.get());
      EXPECT_TRUE(same_bytes(read_by_the_runtime(out.get()), expected)) << element;
    }
  }
}

// --------------------------------------------------------------------------------------- devices

TEST_P(EveryElement, RefusesANonexistentDevice) {
  const std::string name =
      std::string(GetParam().element).substr(0, strcspn(GetParam().element, " "));
  for (const int device : {count_cuda_devices(), 99}) {
    Messages messages;
    const ElementRef element = make_element(name + " cuda-device-id=" + std::to_string(device));
    gst_element_set_bus(element.get(), messages.bus());
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
    const std::vector<ElementError> errors = messages.errors();
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_TRUE(errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
    EXPECT_TRUE(mentions(errors[0].text, std::to_string(device)));
    EXPECT_TRUE(mentions(errors[0].text, "cudaErrorInvalidDevice"));
    gst_element_set_state(element.get(), GST_STATE_NULL);
    gst_util_set_object_arg(G_OBJECT(element.get()), "cuda-device-id", "0");
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state(element.get(), GST_STATE_NULL);
    gst_element_set_bus(element.get(), nullptr);
  }
}

guint device_of(gstcuda::Context *context) {
  guint device = 0;
  g_object_get(context, "cuda-device-id", &device, nullptr);
  return device;
}

TEST_F(OwnContexts, WorkOnSeveralDevicesAtOnce) {
  const int count = count_cuda_devices();
  if (count < 2) GTEST_SKIP() << "needs two GPUs";
  const Subject &subject = kSubjects[2];
  const Bytes expected =
      output_bytes("cudanormalize backend=cpu", subject.caps(), subject.frame(), "ANY");
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int device = 0; device < count; ++device)
    threads.emplace_back([&, device] {
      Rig rig("cudanormalize cuda-device-id=" + std::to_string(device));
      rig.caps(subject.caps());
      for (int i = 0; i < 100; ++i) {
        const BufferRef out = rig.process(subject.frame());
        gstcuda::Memory *memory = cuda_memory_of(out.get());
        right += memory != nullptr && device_of(memory->context) == static_cast<guint>(device) &&
                 bytes_of(out.get()) == expected;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(right, 100 * count);
}

TEST_F(OwnContexts, RefuseMemoryOfADeviceThatWasNotAskedFor) {
  if (count_cuda_devices() < 2) GTEST_SKIP() << "needs two GPUs";
  const Subject &subject = kSubjects[2];
  const ContextRef other = new_context(1);
  Rig rig("cudanormalize cuda-device-id=0");
  ASSERT_TRUE(rig.caps(in_cuda(subject.caps())));
  rig.process(to_cuda(subject.frame(), {shared_context()}));
  expect_error(rig, to_cuda(subject.frame(), {other.get()}), "device 1");
}

TEST_F(OwnContexts, FollowMemoryToAnotherDeviceIfNoneIsAskedFor) {
  if (count_cuda_devices() < 2) GTEST_SKIP() << "needs two GPUs";
  const Subject &subject = kSubjects[2];
  const Bytes expected =
      output_bytes("cudanormalize backend=cpu", subject.caps(), subject.frame(), "ANY");
  const ContextRef other = new_context(1);
  Rig rig("cudanormalize");
  ASSERT_TRUE(rig.caps(in_cuda(subject.caps())));
  for (gstcuda::Context *context : {shared_context(), other.get(), shared_context()})
    EXPECT_TRUE(
        same_bytes(bytes_of(rig.process(to_cuda(subject.frame(), {context})).get()), expected));
}

// ------------------------------------------------------------------------------------- following

TEST_P(EveryElement, FollowsUpstreamToAnotherContext) {
  const Bytes expected_bytes = expected();
  const ContextRef first = new_context(), second = new_context();
  const auto rig = started();
  ASSERT_TRUE(rig->caps(in_cuda(GetParam().caps())));
  for (const ContextRef *context : {&first, &second, &second, &first}) {
    BufferRef frame = to_cuda(GetParam().frame(), {context->get()});
    EXPECT_TRUE(same_bytes(result_of(*rig, std::move(frame)), expected_bytes));
    const ContextRef answered = ask_for_context(rig->harness()->srcpad);
    EXPECT_EQ(answered, *context);
  }
  // Also changes to the CPU's memory, which has no context, and back.
  ASSERT_TRUE(rig->caps(GetParam().caps()));
  EXPECT_TRUE(same_bytes(result_of(*rig, GetParam().frame()), expected_bytes));
  const size_t histograms = g_str_has_prefix(GetParam().element, "cudahistogram") ? 5 : 0;
  EXPECT_EQ(rig->histograms(histograms).size(), histograms);
}

TEST_F(OwnContexts, LoseNothingOfAnInterval) {
  const ContextRef first = new_context(), second = new_context();
  Rig rig("cudahistogram interval=1000");
  ASSERT_TRUE(rig.caps(in_cuda(video_caps(kNv12))));
  GstClockTime pts = 0;
  for (const ContextRef *context : {&first, &second, &second, &first}) {
    BufferRef frame = to_cuda(buffer_of(random_picture(kNv12)), {context->get()});
    GST_BUFFER_PTS(frame.get()) = pts++;
    rig.process(std::move(frame));
  }
  rig.event(gst_event_new_eos());
  const auto messages = rig.histograms(1);
  ASSERT_EQ(messages.size(), 1u);
  guint frames = 0;
  guint64 pixels = 0;
  gst_structure_get(gst_message_get_structure(messages[0].get()), "frames", G_TYPE_UINT, &frames,
                    "pixels", G_TYPE_UINT64, &pixels, nullptr);
  EXPECT_EQ(frames, 4u);
  EXPECT_EQ(pixels, guint64{4} * kNv12.width * kNv12.height);
}

TEST_P(EveryElement, MakesItsOutputWhereItsInputIs) {
  const ContextRef context = new_context();
  const auto rig = started();
  ASSERT_TRUE(rig->caps(in_cuda(GetParam().caps())));
  const BufferRef out = rig->process(to_cuda(GetParam().frame(), {context.get()}));
  ASSERT_NE(cuda_memory_of(out.get()), nullptr);
  EXPECT_EQ(cuda_memory_of(out.get())->context, context.get());
}

// ------------------------------------------------------------------------------------ the end

void restart(Rig &rig, const std::string &caps) {
  ASSERT_EQ(gst_element_set_state(rig.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  ASSERT_EQ(gst_element_set_state(rig.element(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  rig.event(gst_event_new_stream_start("again"));
  ASSERT_TRUE(rig.caps(caps));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.event(gst_event_new_segment(&segment));
}

TEST_P(EveryElement, StartsAgain) {
  const Bytes expected_bytes = expected();
  const auto rig = started();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(same_bytes(result_of(*rig, GetParam().frame()), expected_bytes));
    restart(*rig, GetParam().caps());
  }
}

TEST_P(EveryElement, GivesItsContextBackWhenItStops) {
  ContextRef context = new_context();
  const auto references = [&] { return GST_OBJECT_REFCOUNT_VALUE(context.get()); };
  Rig rig(GetParam().element, give_context, context.get());
  ASSERT_TRUE(rig.caps(GetParam().caps()));
  for (int i = 0; i < 3; ++i) next(rig);
  EXPECT_GT(references(), 2);
  ASSERT_EQ(gst_element_set_state(rig.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  // One reference is ours; GStreamer holds the other, as the context that the application has set.
  EXPECT_EQ(references(), 2);
}

TEST_P(EveryElement, LeavesNoContextBehind) {
  GWeakRef context;
  {
    const auto rig = started();
    next(*rig);
    rig->messages().of_type(GST_MESSAGE_HAVE_CONTEXT);
    g_weak_ref_init(&context, ask_for_context(rig->harness()->srcpad).get());
  }
  gpointer left = g_weak_ref_get(&context);
  EXPECT_EQ(left, nullptr);
  if (left != nullptr) gst_object_unref(left);
  g_weak_ref_clear(&context);
}

}  // namespace
}  // namespace cudatensor
