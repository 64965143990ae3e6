// SPDX-License-Identifier: LGPL-2.1-or-later
#include "backend.h"

#include <exception>
#include <string>

#include "gpu.h"
#include "kernels/ops.h"

namespace cudatensor {
namespace {

TestBackend backend_of_environment() {
  const char *text = g_getenv("CUDATENSOR_TEST_BACKEND");
  if (text == nullptr || g_str_equal(text, "auto")) return TestBackend::automatic;
  if (g_str_equal(text, "cpu")) return TestBackend::cpu;
  if (g_str_equal(text, "cuda")) return TestBackend::cuda;
  g_error("CUDATENSOR_TEST_BACKEND=%s is none of cpu, cuda, auto", text);
}

struct Choice {
  TestBackend backend = backend_of_environment();
  bool own_contexts = false;
};

Choice &choice() {
  static Choice choice;
  return choice;
}

bool has_backend(GstElement *element) {
  GstElementFactory *factory = gst_element_get_factory(element);
  if (factory == nullptr) return false;
  const gchar *plugin = gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory));
  return g_strcmp0(plugin, "cudatensor") == 0 &&
         g_object_class_find_property(G_OBJECT_GET_CLASS(element), "backend") != nullptr;
}

void choose_for_one(GstElement *element) {
  gint described = 0;
  g_object_get(element, "backend", &described, nullptr);
  const bool open = described == 0;
  if (open && choice().backend != TestBackend::automatic)
    gst_util_set_object_arg(G_OBJECT(element), "backend", text_of(choice().backend));
  if (choice().backend != TestBackend::cpu && !choice().own_contexts) share_context(element);
}

void choose_for_item(const GValue *item, gpointer) {
  auto *element = GST_ELEMENT(g_value_get_object(item));
  if (has_backend(element)) choose_for_one(element);
}

}  // namespace

TestBackend test_backend() { return choice().backend; }

const char *text_of(TestBackend backend) {
  switch (backend) {
    case TestBackend::automatic: return "auto";
    case TestBackend::cpu: return "cpu";
    case TestBackend::cuda: return "cuda";
  }
  return "";
}

bool gpu_is_there() {
  static const bool there = [] {
    try {
      open_cuda_backend();
    } catch (const std::exception &) {
      return false;
    }
    return gstcuda::library() != nullptr;
  }();
  return there;
}

BackendScope::BackendScope(TestBackend backend, bool own_contexts)
    : backend_(choice().backend), own_contexts_(choice().own_contexts) {
  choice().backend = backend;
  choice().own_contexts = own_contexts;
}

BackendScope::~BackendScope() {
  choice().backend = backend_;
  choice().own_contexts = own_contexts_;
}

void choose_backend(GstElement *element) {
  if (has_backend(element)) return choose_for_one(element);
  if (!GST_IS_BIN(element)) return;
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(element));
  while (gst_iterator_foreach(elements, choose_for_item, nullptr) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(elements);
  gst_iterator_free(elements);
}

bool is_asynchronous(GstElement *element) {
  if (GST_IS_BIN(element)) return test_backend() != TestBackend::cpu && gpu_is_there();
  gchar *active = nullptr;
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), "active-backend", &value);
  active = gst_value_serialize(&value);
  const bool cuda = g_strcmp0(active, "cuda") == 0;
  g_free(active);
  g_value_unset(&value);
  return cuda;
}

}  // namespace cudatensor
