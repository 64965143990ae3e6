// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements that are started and stopped while upstream pushes, and processes that end while
// elements work.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kNv12 = {PixelFormat::NV12, 32, 24};
const TensorDesc kTensor = {DType::uint8, Layout::nchw, 1, 4, 4, 4};

struct Subject {
  const char *name, *description, *sink;
  bool tensor = false;

  std::string caps() const { return tensor ? tensor_caps(kTensor) : video_caps(kNv12); }
  BufferRef frame() const {
    return tensor ? buffer_of(random_tensor(kTensor, 1)) : buffer_of(random_picture(kNv12));
  }
};

const Subject kSubjects[] = {{"cudanv12toyuv444", "cudanv12toyuv444", "sink"},
                             {"cudaletterbox", "cudaletterbox", "sink"},
                             {"cudanormalize", "cudanormalize", "sink"},
                             {"cudahistogram", "cudahistogram interval=0", "sink"},
                             {"cudapixelshuffle", "cudapixelshuffle", "sink", true},
                             {"cudatensormux", "cudatensormux width=8 height=8", "sink_%u"}};

/// Returns a pad with a template. A pad without one answers queries with its caps, which GStreamer
/// refs too late if new caps replace them meanwhile.
GstPad *new_source_pad() {
  GstPadTemplate *any = gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_CAPS_ANY);
  gst_object_ref_sink(any);
  GstPad *pad = gst_pad_new_from_template(any, "src");
  gst_object_unref(any);
  return pad;
}

/// An element between a pad that pushes and a sink.
class Upstream {
 public:
  explicit Upstream(const Subject &subject)
      : subject_(subject),
        element_(make_element(subject.description)),
        sink_(make_element("fakesink async=false sync=false")),
        pad_(GST_PAD(gst_object_ref_sink(new_source_pad()))) {
    EXPECT_TRUE(gst_element_link(element_.get(), sink_.get()));
    PadRef peer(sink_pad());
    gst_pad_set_active(pad_.get(), TRUE);
    EXPECT_EQ(gst_pad_link(pad_.get(), peer.get()), GST_PAD_LINK_OK);
    gst_element_set_state(sink_.get(), GST_STATE_PLAYING);
  }
  ~Upstream() {
    gst_element_set_state(element_.get(), GST_STATE_NULL);
    gst_element_set_state(sink_.get(), GST_STATE_NULL);
  }

  GstElement *element() const { return element_.get(); }

  void push_events() {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    const CapsRef caps(gst_caps_from_string(subject_.caps().c_str()));
    gst_pad_push_event(pad_.get(), gst_event_new_stream_start("restarted"));
    gst_pad_push_event(pad_.get(), gst_event_new_caps(caps.get()));
    gst_pad_push_event(pad_.get(), gst_event_new_segment(&segment));
  }
  GstFlowReturn push() { return gst_pad_push(pad_.get(), subject_.frame().release()); }

 private:
  GstPad *sink_pad() const {
    if (strchr(subject_.sink, '%') != nullptr)
      return gst_element_request_pad_simple(element_.get(), subject_.sink);
    return gst_element_get_static_pad(element_.get(), subject_.sink);
  }

  // A copy, because GoogleTest frees its own while the process ends.
  const Subject subject_;
  ElementRef element_, sink_;
  PadRef pad_;
};

class Restarts : public testing::TestWithParam<Subject> {};

INSTANTIATE_TEST_SUITE_P(Elements, Restarts, testing::ValuesIn(kSubjects),
                         [](const auto &info) { return std::string(info.param.name); });

/// The element notifies `active-backend` while it opens its backend and after it has closed it.
TEST_P(Restarts, LetNoFrameInBeforeTheBackendIsOpenOrAfterItIsClosed) {
  struct Context {
    Upstream upstream;
    std::vector<GstFlowReturn> flows;
  } context{Upstream(GetParam()), {}};
  const auto push = +[](GstElement *, GParamSpec *, gpointer data) {
    auto *c = static_cast<Context *>(data);
    // Pushes from another thread, as upstream does.
    std::thread([c] {
      c->upstream.push_events();
      c->flows.push_back(c->upstream.push());
    }).join();
  };
  g_signal_connect(context.upstream.element(), "notify::active-backend", G_CALLBACK(push),
                   &context);
  for (int i = 0; i < 3; ++i) {
    gst_element_set_state(context.upstream.element(), GST_STATE_PLAYING);
    gst_element_set_state(context.upstream.element(), GST_STATE_NULL);
  }
  EXPECT_EQ(context.flows, std::vector<GstFlowReturn>(6, GST_FLOW_FLUSHING));
}

TEST_P(Restarts, DoNotCrashWhileUpstreamPushes) {
  Upstream upstream(GetParam());
  std::atomic<bool> stop{false};
  std::atomic<int> pushed{0};
  std::thread camera([&] {
    for (int i = 0; !stop; ++i) {
      if (i % 8 == 0) upstream.push_events();
      pushed += upstream.push() == GST_FLOW_OK;
    }
  });
  for (int i = 0; i < 300; ++i) {
    const int before = pushed;
    gst_element_set_state(upstream.element(), GST_STATE_PLAYING);
    g_usleep(static_cast<gulong>(i % 7) * 100);
    // Some runs wait for a frame, however long it takes on this machine.
    for (int wait = 0; i % 50 == 0 && pushed == before && wait < 5000; ++wait) g_usleep(1000);
    gst_element_set_state(upstream.element(), GST_STATE_NULL);
  }
  stop = true;
  camera.join();
  EXPECT_GT(pushed, 0) << "no frame came through";
  // The element still works.
  gst_element_set_state(upstream.element(), GST_STATE_PLAYING);
  upstream.push_events();
  EXPECT_EQ(upstream.push(), GST_FLOW_OK);
}

TEST_P(Restarts, LetNoFrameIntoAnElementWithOnlyItsPadsActive) {
  if (strchr(GetParam().sink, '%') != nullptr) GTEST_SKIP() << "the element's pads queue the frame";
  Upstream upstream(GetParam());
  gst_element_foreach_pad(
      upstream.element(),
      [](GstElement *, GstPad *pad, gpointer) { return gst_pad_set_active(pad, TRUE); }, nullptr);
  upstream.push_events();
  EXPECT_NE(upstream.push(), GST_FLOW_OK);
}

// ------------------------------------------------------------------------- the end of a process

/// Ends the process while threads still push, set properties and ask for caps.
[[noreturn]] void end_the_process(const Subject &subject) {
  auto *upstream = new Upstream(subject);
  gst_element_set_state(upstream->element(), GST_STATE_PLAYING);
  std::thread([upstream] {
    for (int i = 0;; ++i) {
      if (i % 8 == 0) upstream->push_events();
      upstream->push();
    }
  }).detach();
  std::thread([upstream] {
    GParamSpec **specs = nullptr;
    guint count = 0;
    specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(upstream->element()), &count);
    for (;;) {
      for (guint i = 0; i < count; ++i) {
        GValue value = G_VALUE_INIT;
        g_value_init(&value, specs[i]->value_type);
        g_object_get_property(G_OBJECT(upstream->element()), specs[i]->name, &value);
        if ((specs[i]->flags & G_PARAM_WRITABLE) != 0 && strcmp(specs[i]->name, "name") != 0 &&
            strcmp(specs[i]->name, "parent") != 0)
          g_object_set_property(G_OBJECT(upstream->element()), specs[i]->name, &value);
        g_value_unset(&value);
      }
      gst_element_foreach_pad(
          upstream->element(),
          [](GstElement *, GstPad *pad, gpointer) -> gboolean {
            gst_caps_unref(gst_pad_query_caps(pad, nullptr));
            return TRUE;
          },
          nullptr);
    }
  }).detach();
  g_usleep(50000);
  std::exit(0);
}

// Registered before the plugin is loaded, so that it runs after the plugin's statics, if it had
// any, are destroyed.
void linger() { g_usleep(200000); }
[[maybe_unused]] const int kLingers = std::atexit(linger);

class ProcessEnd : public testing::TestWithParam<Subject> {};

INSTANTIATE_TEST_SUITE_P(Elements, ProcessEnd, testing::ValuesIn(kSubjects),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(ProcessEnd, DoesNotCrashWhileElementsWork) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(end_the_process(GetParam()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cudatensor
