// SPDX-License-Identifier: LGPL-2.1-or-later
// Every call to CUDA and to libgstcuda fails once, alone or with all later calls. The element posts
// one error that names cause and remedy, or nobody notices the fault. No frame is wrong, and the
// element can start again.
#include <map>
#include <memory>
#include <mutex>

#include "gpu.h"
#include "gst/nvmm/deepstream.h"
#include "reference.h"
#include "rig.h"
#include "surfaces.h"

namespace cudatensor {
namespace {

const ImageDesc kNv12 = {PixelFormat::NV12, 20, 12};
const TensorDesc kTensor = {DType::float32, Layout::nchw, 1, 4, 5, 4};
constexpr int kFrames = 3;

struct Code {
  int number;
  const char *name;
};
constexpr Code kMemory = {2, "cudaErrorMemoryAllocation"},
               kDriver = {35, "cudaErrorInsufficientDriver"},
               kExclusive = {46, "cudaErrorDevicesUnavailable"},
               kLost = {700, "cudaErrorIllegalAddress"};

/// Fails the calls of elements that start while it lives.
class Fault {
 public:
  Fault(int call, const Code &code, bool sticky) {
    const std::string text =
        std::to_string(call) + (sticky ? "+:" : ":") + std::to_string(code.number);
    g_setenv("CUDATENSOR_FAULT", text.c_str(), TRUE);
  }
  ~Fault() { g_unsetenv("CUDATENSOR_FAULT"); }
  Fault(const Fault &) = delete;
  Fault &operator=(const Fault &) = delete;
};

/// Created before calls fail, because a failing call could be one that fills it.
BufferRef surface(uint64_t seed) {
  static std::map<uint64_t, BufferRef> made;
  BufferRef &buffer = made[seed];
  if (buffer == nullptr) {
    buffer = surface_buffer(random_picture(kNv12, seed));
    GST_BUFFER_PTS(buffer.get()) = seed;
  }
  return BufferRef(gst_buffer_ref(buffer.get()));
}

/// An element between memories.
struct Subject {
  const char *element;
  std::string in, out;  ///< caps
  bool cuda_in, cuda_out, nvmm_in;

  bool is_tensor() const { return in.rfind("other", 0) == 0; }
  bool is_histogram() const { return g_str_has_prefix(element, "cudahistogram"); }
  BufferRef frame(uint64_t seed) const {
    if (nvmm_in) return surface(seed);
    BufferRef buffer = is_tensor() ? buffer_of(random_tensor(kTensor, seed))
                                   : buffer_of(random_picture(kNv12, seed));
    if (cuda_in) buffer = to_cuda(buffer);
    GST_BUFFER_PTS(buffer.get()) = seed;
    return buffer;
  }
};

void PrintTo(const Subject &s, std::ostream *os) {
  *os << s.element << " from " << s.in << " to " << s.out;
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const bool in : {false, true})
    for (const bool out : {false, true}) {
      const auto add = [&](const char *element, const std::string &in_caps,
                           const std::string &out_caps) {
        all.push_back({element, in ? in_cuda(in_caps) : in_caps, out ? in_cuda(out_caps) : out_caps,
                       in, out, false});
      };
      const std::string nv12 = video_caps(kNv12), tensor = tensor_caps(kTensor);
      add("cudanormalize", nv12, "other/tensors");
      add("cudanormalize regions=tiles", nv12, "other/tensors");
      add("cudaletterbox", nv12, video_caps({PixelFormat::RGBA, 128, 5}));
      add("cudanv12toyuv444", nv12, "video/x-raw,width=512,height=5");
      add("cudapixelshuffle", tensor, "other/tensors");
      add("cudapixelshuffle", tensor, "video/x-raw,format=GRAY8");
      if (in != out) continue;
      add("cudahistogram", nv12, nv12);
      add("cudahistogram interval=0", nv12, nv12);
    }
  const std::string surface = in_nvmm(video_caps(kNv12));
  for (const bool out : {false, true})
    all.push_back({"cudanormalize", surface, out ? in_cuda("other/tensors") : "other/tensors",
                   false, out, true});
  all.push_back({"cudahistogram", surface, surface, false, false, true});
  return all;
}

// ---------------------------------------------------------------------------------------- trials

/// Starts, runs and stops an element, and may fail at any time.
class Trial {
 public:
  Trial(const Subject &subject, const std::string &properties);
  ~Trial();
  Trial(const Trial &) = delete;
  Trial &operator=(const Trial &) = delete;

  /// Runs from start to stop, until a call fails.
  void run();

  bool started() const { return started_; }
  bool failed() const { return failed_; }
  const std::vector<ElementError> &errors() const { return errors_; }
  const std::vector<Bytes> &outputs() const { return outputs_; }
  const std::vector<MessageRef> &histograms() const { return histograms_; }
  const std::string &active() const { return active_; }

 private:
  static GstFlowReturn receive(GstPad *pad, GstObject *parent, GstBuffer *buffer);
  bool start();
  bool negotiate();
  bool push_frames();
  void stop();

  const Subject &subject_;
  Messages messages_;
  ElementRef element_;
  PadRef src_, sink_;
  bool started_ = false, failed_ = false;
  std::string active_;
  std::vector<ElementError> errors_;
  std::vector<BufferRef> buffers_;
  std::vector<Bytes> outputs_;
  std::vector<MessageRef> histograms_;
};

PadRef make_pad(const char *name, GstPadDirection direction, const std::string &caps) {
  const CapsRef parsed(gst_caps_from_string(caps.c_str()));
  GstPadTemplate *pad_template =
      gst_pad_template_new(name, direction, GST_PAD_ALWAYS, parsed.get());
  gst_object_ref_sink(pad_template);
  GstPad *pad = gst_pad_new_from_template(pad_template, name);
  gst_object_unref(pad_template);
  return PadRef(static_cast<GstPad *>(gst_object_ref_sink(pad)));
}

Trial::Trial(const Subject &subject, const std::string &properties)
    : subject_(subject),
      element_(make_element(subject.element + properties)),
      src_(make_pad("src", GST_PAD_SRC, subject.in)),
      sink_(make_pad("sink", GST_PAD_SINK, subject.out)) {
  gst_element_set_bus(element_.get(), messages_.bus());
  gst_pad_set_element_private(sink_.get(), this);
  gst_pad_set_chain_function(sink_.get(), receive);
  const PadRef in(gst_element_get_static_pad(element_.get(), "sink"));
  const PadRef out(gst_element_get_static_pad(element_.get(), "src"));
  EXPECT_EQ(gst_pad_link(src_.get(), in.get()), GST_PAD_LINK_OK);
  EXPECT_EQ(gst_pad_link(out.get(), sink_.get()), GST_PAD_LINK_OK);
  gst_pad_set_active(src_.get(), TRUE);
  gst_pad_set_active(sink_.get(), TRUE);
}

Trial::~Trial() {
  stop();
  gst_element_set_bus(element_.get(), nullptr);
}

GstFlowReturn Trial::receive(GstPad *pad, GstObject *, GstBuffer *buffer) {
  static_cast<Trial *>(gst_pad_get_element_private(pad))->buffers_.emplace_back(buffer);
  return GST_FLOW_OK;
}

bool Trial::start() {
  const auto change = gst_element_set_state(element_.get(), GST_STATE_PLAYING);
  started_ = change != GST_STATE_CHANGE_FAILURE;
  gint active = 0;
  g_object_get(element_.get(), "active-backend", &active, nullptr);
  active_ = active == 2 ? "cpu" : active == 1 ? "cuda" : "auto";
  return started_;
}

bool Trial::negotiate() {
  gst_pad_push_event(src_.get(), gst_event_new_stream_start("trial"));
  const CapsRef caps(gst_caps_from_string(subject_.in.c_str()));
  gst_pad_push_event(src_.get(), gst_event_new_caps(caps.get()));
  // Upstream pushes nothing after caps that were refused.
  const PadRef in(gst_element_get_static_pad(element_.get(), "sink"));
  if (!gst_pad_has_current_caps(in.get())) return false;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(src_.get(), gst_event_new_segment(&segment));
  const QueryRef query(gst_query_new_allocation(caps.get(), TRUE));
  gst_pad_peer_query(src_.get(), query.get());
  return true;
}

bool Trial::push_frames() {
  for (uint64_t seed = 1; seed <= kFrames; ++seed)
    if (gst_pad_push(src_.get(), subject_.frame(seed).release()) != GST_FLOW_OK) return false;
  return true;
}

void Trial::run() {
  failed_ = !start() || !negotiate() || !push_frames();
  if (!failed_) gst_pad_push_event(src_.get(), gst_event_new_eos());
  for (const BufferRef &buffer : buffers_) outputs_.push_back(bytes_of(buffer.get()));
  buffers_.clear();
  stop();
  errors_ = messages_.errors();
  histograms_ = messages_.elements("cudahistogram");
}

void Trial::stop() {
  EXPECT_NE(gst_element_set_state(element_.get(), GST_STATE_NULL), GST_STATE_CHANGE_FAILURE);
}

// ------------------------------------------------------------------------------- what must be so

class Faults : public GpuTest, public testing::WithParamInterface<Subject> {
 protected:
  void SetUp() override;

  /// Returns whether the fault was noticed.
  bool expect_one_error_or_none(int call, const Code &code, bool sticky);
  void expect_all_is_well(const Trial &trial) const;

  std::unique_ptr<Trial> tried(const std::string &properties = "") const {
    auto trial = std::make_unique<Trial>(GetParam(), properties);
    trial->run();
    return trial;
  }
  void expect_right_outputs(const Trial &trial) const;

  std::unique_ptr<Trial> good_;
};

void Faults::SetUp() {
  GpuTest::SetUp();
  if (IsSkipped()) return;
  if (GetParam().nvmm_in && !nvmm::is_installed()) GTEST_SKIP() << "DeepStream is not installed";
  // The first trial makes the calls that a process makes once.
  tried();
  good_ = tried();
  ASSERT_TRUE(good_->errors().empty()) << good_->errors()[0].text;
  ASSERT_EQ(good_->outputs().size(), size_t{kFrames});
}

void Faults::expect_right_outputs(const Trial &trial) const {
  ASSERT_LE(trial.outputs().size(), size_t{kFrames});
  for (size_t i = 0; i < trial.outputs().size(); ++i)
    EXPECT_TRUE(same_bytes(trial.outputs()[i], good_->outputs()[i])) << "frame " << i;
  ASSERT_LE(trial.histograms().size(), good_->histograms().size());
  for (size_t i = 0; i < trial.histograms().size(); ++i)
    EXPECT_TRUE(gst_structure_is_equal(gst_message_get_structure(trial.histograms()[i].get()),
                                       gst_message_get_structure(good_->histograms()[i].get())));
}

void Faults::expect_all_is_well(const Trial &trial) const {
  for (const ElementError &error : trial.errors()) ADD_FAILURE() << error.text;
  EXPECT_FALSE(trial.failed());
  EXPECT_EQ(trial.outputs().size(), good_->outputs().size());
  EXPECT_EQ(trial.histograms().size(), good_->histograms().size());
  expect_right_outputs(trial);
}

/// Expects the text to name the cause of the first failed call, by the CUDA error or libgstcuda's
/// function, and to give advice.
void expect_cause(const std::string &text, const Code &code) {
  const bool named = text.find(code.name) != std::string::npos;
  EXPECT_TRUE(named || text.find("gst_cuda_") != std::string::npos ||
              text.find("gst_buffer_pool_") != std::string::npos)
      << text;
  EXPECT_TRUE(!named || text.find("; ") != std::string::npos) << "no advice: " << text;
}

bool Faults::expect_one_error_or_none(int call, const Code &code, bool sticky) {
  SCOPED_TRACE("call " + std::to_string(call) + (sticky ? " and on, " : ", ") + code.name);
  std::unique_ptr<Trial> trial;
  {
    const Fault fault(call, code, sticky);
    trial = tried();
  }
  if (trial->errors().empty()) {
    expect_all_is_well(*trial);
    return false;
  }
  EXPECT_EQ(trial->errors().size(), 1u) << trial->errors().back().text;
  for (const ElementError &error : trial->errors()) expect_cause(error.text, code);
  expect_right_outputs(*trial);
  SCOPED_TRACE("then again, after " + trial->errors()[0].text);
  expect_all_is_well(*tried());
  return true;
}

constexpr int kMostCalls = 400;

TEST_P(Faults, OutOfMemoryAndALostDeviceGiveAtMostOneError) {
  for (int call = 1; call < kMostCalls && !HasFailure(); ++call) {
    expect_one_error_or_none(call, kMemory, false);
    // If not even this fault is noticed, there are no more calls.
    if (expect_one_error_or_none(call, kLost, true)) continue;
    EXPECT_GT(call, 10) << "of all calls";
    return;
  }
  EXPECT_TRUE(HasFailure()) << "there is no end of calls";
}

TEST_P(Faults, OtherErrorsGiveAtMostOneError) {
  for (int call = 1; call < kMostCalls && !HasFailure(); call += 3) {
    expect_one_error_or_none(call, kExclusive, false);
    expect_one_error_or_none(call + 1, kDriver, false);
    if (!expect_one_error_or_none(call + 2, kMemory, true)) return;
  }
}

TEST_P(Faults, MakeTheElementUseTheCpuAtStart) {
  // The CPU cannot output CUDAMemory, nor read surfaces in device memory.
  if (GetParam().cuda_out || GetParam().nvmm_in) GTEST_SKIP() << "only for system memory";
  for (int call = 1; call < kMostCalls && !HasFailure(); ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    const Fault fault(call, call % 2 == 0 ? kMemory : kDriver, true);
    if (tried()->started()) return;
    const BackendScope scope(TestBackend::automatic);
    const auto trial = tried();
    EXPECT_EQ(trial->active(), "cpu");
    expect_all_is_well(*trial);
  }
}

INSTANTIATE_TEST_SUITE_P(CudaFaults, Faults, testing::ValuesIn(subjects()), [](const auto &info) {
  const Subject &s = info.param;
  std::string name = s.element;
  const bool each = name.find(" interval=0") != std::string::npos;
  const bool regions = name.find(" regions=") != std::string::npos;
  name = name.substr(0, name.find(' ')) +
         (s.nvmm_in   ? "FromNvmm"
          : s.cuda_in ? "FromCuda"
                      : "FromSystem") +
         (s.cuda_out ? "ToCuda" : "ToSystem") + (each ? "Each" : "") + (regions ? "Regions" : "");
  return name + (s.out.find("GRAY8") != std::string::npos ? "Picture" : "");
});

}  // namespace
}  // namespace cudatensor
