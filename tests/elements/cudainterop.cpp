// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensors in CUDAMemory, handed to consumers: contexts, and the order of work. A gate in a stream
// delays the work behind it.
#include <algorithm>
#include <future>
#include <random>
#include <thread>

#include "gpu.h"
#include "handed.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const TensorDesc kTensor = {DType::float32, Layout::nchw, 1, 3, 12, 20};
const ImageDesc kNv12 = {PixelFormat::NV12, 64, 48};

Bytes right() { return random_tensor(kTensor, 1); }
Bytes wrong() { return random_tensor(kTensor, 2); }

/// Elements find their own contexts; consumers work in the primary context.
class CudaInterop : public GpuTest {
 protected:
  CudaInterop() : GpuTest(true) {}
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) primary_ = wrap_primary_context();
  }

  gstcuda::Context *primary() const { return primary_.get(); }
  void *primary_handle() const { return gstcuda::loaded().context_get_handle(primary()); }
  BufferRef buffer(const Bytes &bytes, gstcuda::Stream *stream = nullptr) const {
    return to_cuda(buffer_of(bytes), {primary(), stream});
  }

 private:
  ContextRef primary_;
};

/// Streams are libgstcuda objects.
class CudaInteropStreams : public CudaInterop {
 protected:
  void SetUp() override {
    CudaInterop::SetUp();
    if (!IsSkipped() && !has_streams()) GTEST_SKIP() << "needs the streams of GStreamer 1.24";
    if (!IsSkipped()) stream_ = new_stream(primary());
  }

  gstcuda::Stream *stream() const { return stream_.get(); }
  Stream handle() const { return handle_of(stream()); }

 private:
  StreamRef stream_;
};

TensorRef tensor_in(const BufferRef &buffer) {
  return tensor_of(buffer.get(), in_cuda(tensor_caps(kTensor)));
}

// ------------------------------------------------------------------------------ what they say

TEST_F(CudaInterop, IsTheDevicesMemoryItself) {
  const StreamRef stream = has_streams() ? new_stream(primary()) : nullptr;
  const BufferRef made = buffer(right(), stream.get());
  const TensorRef tensor = tensor_in(made);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(gst_cuda_tensor_get_data(tensor.get()), device_address_of(made.get()));
  EXPECT_EQ(gst_cuda_tensor_get_device_type(tensor.get()), GST_CUDA_TENSOR_DEVICE_TYPE_CUDA);
  EXPECT_EQ(gst_cuda_tensor_get_device_id(tensor.get()), 0);
  EXPECT_EQ(gst_cuda_tensor_get_context(tensor.get()), primary_handle());
  EXPECT_EQ(gst_cuda_tensor_get_stream(tensor.get()),
            stream != nullptr ? handle_of(stream.get()).handle : nullptr);
  const Legacy legacy = to_dlpack(tensor.get());
  const Versioned versioned = to_versioned(tensor.get());
  for (const DLTensor *dl : {&legacy->dl_tensor, &versioned->dl_tensor}) {
    EXPECT_EQ(dl->data, device_address_of(made.get()));
    EXPECT_EQ(dl->device.device_type, kDLCUDA);
    EXPECT_EQ(dl->device.device_id, 0);
  }
}

TEST_F(CudaInterop, IsReadOnlyWhereOthersMaySee) {
  BufferRef made = buffer(right());
  const TensorRef tensor = tensor_in(made);
  EXPECT_EQ(to_versioned(tensor.get(), GST_CUDA_TENSOR_NO_STREAM)->flags, kDLReadOnly);
  made.reset();
  EXPECT_EQ(to_versioned(tensor.get(), GST_CUDA_TENSOR_NO_STREAM)->flags, 0u);
}

// ------------------------------------------------------------------------------------ contexts

TEST_F(CudaInterop, RefusesAnotherContextUnlessTheConsumerWorksThere) {
  const BufferRef made = to_cuda(buffer_of(right()), {shared_context()});
  const TensorRef tensor = tensor_in(made);
  Refusal legacy, versioned, acquired;
  EXPECT_EQ(gst_cuda_tensor_to_dlpack(tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE, nullptr,
                                      legacy.into()),
            nullptr);
  EXPECT_EQ(gst_cuda_tensor_to_dlpack_versioned(tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE,
                                                GST_CUDA_TENSOR_NO_STREAM, versioned.into()),
            nullptr);
  EXPECT_FALSE(gst_cuda_tensor_acquire(tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE, nullptr,
                                       acquired.into()));
  for (const Refusal *refusal : {&legacy, &versioned, &acquired})
    EXPECT_TRUE(refusal->is(GST_CUDA_TENSOR_ERROR_CONTEXT, "share_primary_context"));

  const Entered entered;
  const auto consumer = entered.device().make_stream();
  EXPECT_EQ(gst_cuda_tensor_get_context(tensor.get()), current_context());
  PinnedBytes seen(entered.device(), wrong());
  const Legacy dl =
      to_dlpack(tensor.get(), consumer->get().handle, GST_CUDA_TENSOR_ACQUIRE_FLAG_ANY_CONTEXT);
  ASSERT_NE(dl, nullptr);
  seen.read_from(made.get(), consumer->get());
  entered.device().synchronize(consumer->get());
  EXPECT_TRUE(same_bytes(seen.bytes(), right()));
}

TEST_F(CudaInterop, RefusesAStreamOfAnotherContext) {
  const BufferRef made = buffer(right());
  const TensorRef tensor = tensor_in(made);
  const Entered entered(shared_context());
  const auto foreign = entered.device().make_stream();
  Refusal refusal;
  EXPECT_EQ(gst_cuda_tensor_to_dlpack(tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE,
                                      foreign->get().handle, refusal.into()),
            nullptr);
  EXPECT_TRUE(refusal.is(GST_CUDA_TENSOR_ERROR_CUDA, "cudaEventRecord"));
  EXPECT_TRUE(tensor != nullptr && GST_MINI_OBJECT_REFCOUNT_VALUE(made.get()) == 2);
}

const std::string kCamera =
    "video/x-raw,format=NV12,width=64,height=48 ! cudanormalize ! other/tensors(memory:CUDAMemory)";

void share(GstElement *element) {
  GError *error = nullptr;
  EXPECT_TRUE(gst_cuda_tensor_share_primary_context(element, 0, &error)) << error->message;
  g_clear_error(&error);
}

TEST_F(CudaInterop, IsRefusedUntilThePipelineSharesThePrimaryContext) {
  Camera camera(kCamera);
  for (const bool shared : {false, true, true}) {
    if (shared) share(camera.get());
    camera.pipeline().start();
    const SampleRef sample = camera.pull();
    ASSERT_NE(sample, nullptr);
    const TensorRef tensor = tensor_of(sample.get());
    EXPECT_EQ(gst_cuda_tensor_get_context(tensor.get()) == primary_handle(), shared);
    GError *error = nullptr;
    const Versioned dl(gst_cuda_tensor_to_dlpack_versioned(
        tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE, nullptr, &error));
    EXPECT_EQ(dl != nullptr, shared);
    g_clear_error(&error);
    camera.pipeline().stop();
  }
}

TEST_F(CudaInterop, SharesThePrimaryContextWithElementsThatComeLater) {
  const ElementRef pipeline(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  share(pipeline.get());
  // A bin in the pipeline.
  GstElement *chain = make_element("cudaletterbox ! cudanormalize").release();
  GstElement *source = make_element("videotestsrc num-buffers=1").release();
  GstElement *sink = make_element("appsink sync=false").release();
  gst_bin_add_many(GST_BIN(pipeline.get()), source, chain, sink, nullptr);
  ASSERT_TRUE(gst_element_link_many(source, chain, sink, nullptr));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  GstSample *pulled = nullptr;
  g_signal_emit_by_name(sink, "try-pull-sample", 20 * GST_SECOND, &pulled);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  const SampleRef sample(pulled);
  ASSERT_NE(sample, nullptr);
  EXPECT_EQ(gst_cuda_tensor_get_context(tensor_of(sample.get()).get()), primary_handle());
}

TEST_F(CudaInterop, SharesOneObjectBetweenPipelines) {
  std::vector<std::unique_ptr<Camera>> cameras;
  std::vector<SampleRef> samples;
  for (int i = 0; i < 2; ++i) {
    cameras.push_back(std::make_unique<Camera>(kCamera));
    share(cameras.back()->get());
    cameras.back()->pipeline().start();
    samples.push_back(cameras.back()->pull());
    ASSERT_NE(samples.back(), nullptr);
  }
  EXPECT_EQ(cuda_memory_of(gst_sample_get_buffer(samples[0].get()))->context,
            cuda_memory_of(gst_sample_get_buffer(samples[1].get()))->context);
}

TEST_F(CudaInterop, SharesNoContextWithWhatHasStarted) {
  Camera camera(kCamera);
  ASSERT_TRUE(camera.pipeline().reaches(GST_STATE_PAUSED));
  Refusal refusal;
  EXPECT_FALSE(gst_cuda_tensor_share_primary_context(camera.get(), 0, refusal.into()));
  EXPECT_TRUE(refusal.is(GST_CUDA_TENSOR_ERROR_STATE, "NULL"));
}

TEST_F(CudaInterop, SharesNoContextOfANonexistentDevice) {
  const ElementRef element = make_element("cudanormalize");
  for (const int device : {99, -1}) {
    Refusal refusal;
    EXPECT_FALSE(gst_cuda_tensor_share_primary_context(element.get(), device, refusal.into()));
    EXPECT_TRUE(refusal.is(GST_CUDA_TENSOR_ERROR_NO_CUDA, std::to_string(device)));
  }
}

TEST_F(CudaInterop, LeavesTheCurrentContextAsItIs) {
  const auto use = [&] {
    void *const before = current_context();
    const BufferRef made = buffer(right());
    EXPECT_EQ(current_context(), before);
    Legacy dl = to_dlpack(tensor_in(made).get());
    EXPECT_EQ(current_context(), before);
    dl.reset();
    EXPECT_EQ(current_context(), before);
    return before;
  };
  std::thread([&] { EXPECT_EQ(use(), nullptr); }).join();
  const Entered entered(shared_context());
  EXPECT_NE(use(), nullptr);
}

// --------------------------------------------------------------------------------------- order

TEST_F(CudaInteropStreams, ConsumerWaitsForTheProducer) {
  const Entered entered(primary());
  const auto consumer = entered.device().make_stream();
  const PinnedBytes good(entered.device(), right());
  for (const bool explicitly : {false, true}) {
    const BufferRef made = buffer(wrong(), stream());
    PinnedBytes seen(entered.device(), wrong());
    Gate gate(handle());
    good.write_to(made.get(), handle());
    const TensorRef tensor = tensor_in(made);
    Versioned dl;
    if (explicitly)
      ASSERT_TRUE(gst_cuda_tensor_acquire(tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE,
                                          consumer->get().handle, nullptr));
    else
      dl = to_versioned(tensor.get(), consumer->get().handle);
    seen.read_from(made.get(), consumer->get());
    EXPECT_TRUE(gate.holds()) << "the CPU has waited";
    gate.open();
    entered.device().synchronize(consumer->get());
    EXPECT_TRUE(same_bytes(seen.bytes(), right())) << explicitly;
    if (explicitly) gst_cuda_tensor_release(tensor.get(), consumer->get().handle);
  }
}

/// How a consumer orders its stream after the producer's.
enum class Hold { dlpack, dlpack_of_a_stream_that_may_go, acquired };

TEST_F(CudaInteropStreams, NextWriterWaitsForTheConsumer) {
  const Entered entered(primary());
  const auto consumer = entered.device().make_stream();
  const PinnedBytes bad(entered.device(), wrong());
  for (const Hold hold : {Hold::dlpack, Hold::dlpack_of_a_stream_that_may_go, Hold::acquired}) {
    const bool explicitly = hold == Hold::acquired;
    const BufferRef made = buffer(right(), stream());
    PinnedBytes seen(entered.device(), wrong());
    TensorRef tensor = tensor_in(made);
    Legacy dl = to_dlpack(tensor.get(), consumer->get().handle,
                          hold == Hold::dlpack ? GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE
                                               : GST_CUDA_TENSOR_ACQUIRE_FLAG_TRANSIENT_STREAM);
    if (explicitly) {
      dl.reset();
      ASSERT_TRUE(gst_cuda_tensor_acquire(tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE,
                                          consumer->get().handle, nullptr));
    }
    Gate gate(consumer->get());
    seen.read_from(made.get(), consumer->get());
    if (explicitly) gst_cuda_tensor_release(tensor.get(), consumer->get().handle);
    dl.reset();
    tensor.reset();
    // The pool's next user writes like this.
    bad.write_to(made.get(), handle());
    EXPECT_TRUE(gate.holds()) << "the CPU has waited";
    gate.open();
    entered.device().synchronize(handle());
    entered.device().synchronize(consumer->get());
    EXPECT_TRUE(same_bytes(seen.bytes(), right())) << static_cast<int>(hold);
  }
}

TEST_F(CudaInteropStreams, MayBeUsedOnTheProducersStream) {
  const BufferRef made = buffer(right(), stream());
  const TensorRef tensor = tensor_in(made);
  const Entered entered(primary());
  PinnedBytes seen(entered.device(), wrong());
  Legacy dl = to_dlpack(tensor.get(), handle().handle);
  seen.read_from(made.get(), handle());
  dl.reset();
  entered.device().synchronize(handle());
  EXPECT_TRUE(same_bytes(seen.bytes(), right()));
}

/// Memory without a stream: it is complete, and its next writer waits for nobody.
class CudaInteropKept : public CudaInterop,
                        public testing::WithParamInterface<GstCudaTensorAcquireFlags> {};

INSTANTIATE_TEST_SUITE_P(, CudaInteropKept,
                         testing::Values(GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE,
                                         GST_CUDA_TENSOR_ACQUIRE_FLAG_TRANSIENT_STREAM));

TEST_P(CudaInteropKept, IsHeldUntilTheConsumerIsDone) {
  const Entered entered(primary());
  const auto consumer = entered.device().make_stream();
  std::vector<Watch> watches;
  std::vector<Legacy> held;
  std::vector<PinnedBytes> seen;
  seen.reserve(5);
  std::vector<BufferRef> buffers;
  for (int i = 0; i < 5; ++i) {
    buffers.push_back(buffer(right()));
    watches.emplace_back(buffers.back().get());
    held.push_back(to_dlpack(tensor_in(buffers.back()).get(), consumer->get().handle, GetParam()));
    seen.emplace_back(entered.device(), wrong());
  }
  Gate gate(consumer->get());
  for (int i = 0; i < 5; ++i) seen[i].read_from(buffers[i].get(), consumer->get());
  buffers.clear();
  std::thread([&] { held.clear(); }).join();
  EXPECT_TRUE(gate.holds()) << "the CPU has waited";
  g_usleep(20000);
  for (const Watch &watch : watches) EXPECT_FALSE(watch.is_gone());
  gate.open();
  for (const Watch &watch : watches) EXPECT_TRUE(watch.goes());
  entered.device().synchronize(consumer->get());
  for (const PinnedBytes &bytes : seen) EXPECT_TRUE(same_bytes(bytes.bytes(), right()));
}

/// Garbage collectors release tensors this late.
TEST_F(CudaInterop, MayOutliveTheConsumersStream) {
  const Entered entered(primary());
  const StreamRef own = has_streams() ? new_stream(primary()) : nullptr;
  for (gstcuda::Stream *const stream : {static_cast<gstcuda::Stream *>(nullptr), own.get()}) {
    BufferRef made = buffer(right(), stream);
    const Watch watch(made.get());
    auto consumer = entered.device().make_stream();
    Versioned dl = to_versioned(tensor_in(made).get(), consumer->get().handle,
                                GST_CUDA_TENSOR_ACQUIRE_FLAG_TRANSIENT_STREAM);
    made.reset();
    consumer.reset();
    std::thread([&] { dl.reset(); }).join();
    EXPECT_TRUE(watch.goes());
  }
}

TEST_F(CudaInterop, IsReleasedAtOnceIfTheConsumerIsDone) {
  BufferRef made = buffer(right());
  const Watch watch(made.get());
  const Entered entered(primary());
  const auto consumer = entered.device().make_stream();
  Legacy dl = to_dlpack(tensor_in(made).get(), consumer->get().handle);
  made.reset();
  entered.device().synchronize(consumer->get());
  dl.reset();
  EXPECT_TRUE(watch.goes());
}

TEST_F(CudaInterop, IsReleasedAtOnceIfTheConsumerNamesNoStream) {
  BufferRef made = buffer(right());
  const Watch watch(made.get());
  Legacy dl = to_dlpack(tensor_in(made).get(), GST_CUDA_TENSOR_NO_STREAM);
  made.reset();
  EXPECT_FALSE(watch.is_gone());
  dl.reset();
  EXPECT_TRUE(watch.is_gone());
}

/// The last one, the per-thread default stream, is a different stream on another thread.
TEST_F(CudaInterop, MayBeUsedOnTheDefaultStreams) {
  const Entered entered(primary());
  for (const uintptr_t number : {0, 1, 2})
    for (const std::launch where : {std::launch::deferred, std::launch::async}) {
      const auto stream = reinterpret_cast<gpointer>(number);
      BufferRef made = buffer(right());
      const Watch watch(made.get());
      Legacy dl = to_dlpack(tensor_in(made).get(), stream);
      made.reset();
      Gate gate({stream});
      std::async(where, [&] { dl.reset(); }).wait();
      EXPECT_TRUE(gate.holds()) << "the CPU has waited";
      g_usleep(20000);
      EXPECT_FALSE(watch.is_gone()) << number;
      gate.open();
      EXPECT_TRUE(watch.goes()) << number;
    }
}

// ------------------------------------------------------------------------------- with elements

/// The buffer that the element's pool provides next must not be overwritten while a consumer reads
/// it.
TEST_F(CudaInterop, IsNotOverwrittenByTheNextFrame) {
  const Picture first = random_picture(kNv12, 1), second = random_picture(kNv12, 2);
  const auto expected = [](const Picture &picture) {
    return output_bytes("cudanormalize backend=cpu", video_caps(kNv12), buffer_of(picture), "ANY");
  };
  const Bytes expected_first = expected(first), expected_second = expected(second);
  // Held to the end, because freeing memory would wait for the whole device.
  const BufferRef first_frame = to_cuda(buffer_of(first), {primary()});
  const BufferRef second_frame = to_cuda(buffer_of(second), {primary()});
  const auto again = [](const BufferRef &frame) { return BufferRef(gst_buffer_ref(frame.get())); };
  Rig rig("cudanormalize");  // follows upstream to the primary context
  rig.downstream("other/tensors(memory:CUDAMemory)");
  ASSERT_TRUE(rig.caps(in_cuda(video_caps(kNv12))));
  // Allocates everything before the gate closes.
  for (int round = 0; round < 2; ++round) {
    std::vector<BufferRef> held;
    for (int i = 0; i < 3; ++i) held.push_back(rig.process(again(second_frame)));
    for (const BufferRef &out : held) ASSERT_TRUE(same_bytes(bytes_of(out.get()), expected_second));
  }
  const Entered entered(primary());
  const auto consumer = entered.device().make_stream();
  PinnedBytes seen(entered.device(), Bytes(expected_first.size()));
  BufferRef out = rig.process(again(first_frame));
  const CapsRef caps = rig.output_caps();
  Refusal none;
  TensorRef tensor(gst_cuda_tensor_new(out.get(), caps.get(), none.into()));
  ASSERT_NE(tensor, nullptr);
  Legacy dl = to_dlpack(tensor.get(), consumer->get().handle);
  ASSERT_NE(dl, nullptr);
  std::vector<BufferRef> later;
  const uint8_t *const address = device_address_of(out.get());
  {
    Gate gate(consumer->get());
    seen.read_from(out.get(), consumer->get());
    out.reset();
    tensor.reset();
    dl.reset();
    // Without streams, the buffer has not returned yet, and another would have to be allocated.
    for (int i = 0; i < (has_streams() ? 3 : 2); ++i) {
      ASSERT_EQ(rig.push(again(second_frame)), GST_FLOW_OK);
      later.push_back(rig.pull());
      ASSERT_NE(later.back(), nullptr);
    }
    EXPECT_TRUE(gate.holds()) << "the CPU has waited";
  }
  entered.device().synchronize(consumer->get());
  EXPECT_TRUE(same_bytes(seen.bytes(), expected_first));
  int reused = 0;
  for (const BufferRef &each : later) {
    EXPECT_TRUE(same_bytes(bytes_of(each.get()), expected_second));
    reused += device_address_of(each.get()) == address;
  }
  EXPECT_EQ(reused, has_streams() ? 1 : 0);
}

struct Kept {
  Versioned tensor;
  Bytes expected;
};

Kept keep_next(Camera &camera, gpointer consumer) {
  const SampleRef sample = camera.pull();
  EXPECT_NE(sample, nullptr);
  if (!sample) return {};
  Bytes expected = bytes_of(gst_sample_get_buffer(sample.get()));
  return {to_versioned(tensor_of(sample.get()).get(), consumer), std::move(expected)};
}

Bytes read(const Kept &kept, Device &device, Stream stream) {
  const auto size = static_cast<ptrdiff_t>(kept.expected.size());
  const auto memory = device.allocate_pinned(kept.expected.size());
  device.copy({memory->data(), size}, {static_cast<uint8_t *>(kept.tensor->dl_tensor.data), size},
              memory->size(), 1, stream);
  device.synchronize(stream);
  return Bytes(memory->data(), memory->data() + size);
}

/// Releases everything from another thread, in random order.
void let_go(std::vector<Kept> kept, gstcuda::Context *context, Stream consumer) {
  std::shuffle(kept.begin(), kept.end(), std::mt19937(1));
  std::vector<std::thread> threads;
  for (size_t first = 0; first < 2; ++first)
    threads.emplace_back([&, first] {
      for (size_t i = first; i < kept.size(); i += 2) {
        {
          const Entered entered(context);
          EXPECT_TRUE(same_bytes(read(kept[i], entered.device(), consumer), kept[i].expected));
        }
        kept[i].tensor.reset();
      }
    });
  for (std::thread &thread : threads) thread.join();
}

TEST_F(CudaInterop, ReleasesAHundredInAnyOrder) {
  const Entered entered(primary());
  const auto consumer = entered.device().make_stream();
  Camera camera(kCamera);
  share(camera.get());
  camera.pipeline().start();
  for (int round = 0; round < 2; ++round) {
    std::vector<Kept> kept;
    for (int i = 0; i < 100; ++i) kept.push_back(keep_next(camera, consumer->get().handle));
    std::thread other(let_go, std::move(kept), primary(), consumer->get());
    for (int i = 0; i < 30; ++i) keep_next(camera, consumer->get().handle);
    other.join();
  }
}

TEST_F(CudaInterop, OutlivesThePipeline) {
  const Entered entered(primary());
  const auto consumer = entered.device().make_stream();
  std::vector<Kept> kept;
  std::vector<Watch> watches;
  {
    Camera camera(kCamera);
    share(camera.get());
    camera.pipeline().start();
    for (int i = 0; i < 20; ++i) {
      const SampleRef sample = camera.pull();
      ASSERT_NE(sample, nullptr);
      watches.emplace_back(gst_sample_get_buffer(sample.get()));
      kept.push_back({to_versioned(tensor_of(sample.get()).get(), consumer->get().handle),
                      bytes_of(gst_sample_get_buffer(sample.get()))});
    }
  }
  for (const Watch &watch : watches) EXPECT_FALSE(watch.is_gone());
  let_go(std::move(kept), primary(), consumer->get());
  for (const Watch &watch : watches) EXPECT_TRUE(watch.goes());
}

// --------------------------------------------------------------------------------------- faults

/// Fails the calls for tensors that are made while it lives.
class Fault {
 public:
  explicit Fault(const std::string &text) { g_setenv("CUDATENSOR_FAULT", text.c_str(), TRUE); }
  ~Fault() { g_unsetenv("CUDATENSOR_FAULT"); }
  Fault(const Fault &) = delete;
  Fault &operator=(const Fault &) = delete;
};

TEST_F(CudaInterop, LetsTheBufferGoWhateverFails) {
  const Entered entered(primary());
  const auto consumer = entered.device().make_stream();
  const StreamRef stream = has_streams() ? new_stream(primary()) : nullptr;
  for (gstcuda::Stream *own : {static_cast<gstcuda::Stream *>(nullptr), stream.get()})
    for (const char *then : {":", "+:"}) {
      int refusals = 0, logged = 0;
      for (int call = 1, quiet = 0; quiet < 2; ++call) {
        WarningLog log;
        BufferRef made = buffer(right(), own);
        const Watch watch(made.get());
        GError *error = nullptr;
        {
          const Fault fault(std::to_string(call) + then + "700");
          const TensorRef tensor = tensor_in(made);
          made.reset();
          Legacy dl(gst_cuda_tensor_to_dlpack(tensor.get(), GST_CUDA_TENSOR_ACQUIRE_FLAG_NONE,
                                              consumer->get().handle, &error));
          EXPECT_EQ(dl == nullptr, error != nullptr);
        }
        EXPECT_TRUE(watch.goes()) << call << then;
        const bool said = log.text().find("cudaErrorIllegalAddress") != std::string::npos;
        refusals += error != nullptr;
        logged += error == nullptr && said;
        quiet = error == nullptr && !said ? quiet + 1 : 0;
        EXPECT_TRUE(mentions(error != nullptr ? error->message : log.text(),
                             error != nullptr || said ? "cudaErrorIllegalAddress" : ""));
        g_clear_error(&error);
        ASSERT_LT(call, 50);
      }
      EXPECT_GT(refusals, 1);
      EXPECT_GT(logged, 1);
    }
  // Tensors work as before.
  const BufferRef made = buffer(right());
  EXPECT_NE(to_dlpack(tensor_in(made).get()), nullptr);
}

}  // namespace
}  // namespace cudatensor
