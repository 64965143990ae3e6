// SPDX-License-Identifier: LGPL-2.1-or-later
// Selects the backend of the elements that tests make: their own choice, or the one that
// CUDATENSOR_TEST_BACKEND=cpu or cuda names.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

enum class TestBackend { automatic, cpu, cuda };

/// Returns the backend for new elements: that of the environment variable, except in a
/// BackendScope.
TestBackend test_backend();

/// The value of the variable, for messages.
const char *text_of(TestBackend backend);

/// Returns whether a CUDA context can be created and libgstcuda works in it.
bool gpu_is_there();

/// While it lives, elements of tests run on one backend. On CUDA they use the context that the
/// process shares, or one that they find themselves.
class BackendScope {
 public:
  explicit BackendScope(TestBackend backend, bool own_contexts = false);
  ~BackendScope();
  BackendScope(const BackendScope &) = delete;
  BackendScope &operator=(const BackendScope &) = delete;

 private:
  TestBackend backend_;
  bool own_contexts_;
};

/// Sets the backend of this plugin's elements in `element`, which may be a bin, unless their
/// description sets it. Elements that may run on CUDA share a context, because creating one takes a
/// tenth of a second.
void choose_backend(GstElement *element);

/// Returns whether an element may post histograms after it has pushed their frames.
bool is_asynchronous(GstElement *element);

}  // namespace cudatensor
