// SPDX-License-Identifier: LGPL-2.1-or-later
// Which backend computes for the elements that tests make: as they choose themselves, or what
// CUDATENSOR_TEST_BACKEND=cpu or cuda says.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

enum class TestBackend { automatic, cpu, cuda };

/// What elements are made for now. The environment's, outside of a BackendScope.
TestBackend test_backend();

/// The value of the variable, for messages.
const char *text_of(TestBackend backend);

/// Whether a CUDA context starts here, and libgstcuda works in it.
bool gpu_is_there();

/// Makes elements of tests run on one backend while it lives, on CUDA in the context that the
/// process shares, or in what they find by themselves.
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

/// Gives this plugin's elements in `element`, which may be a bin, the backend that is wanted where
/// their description leaves it to them. Those that may run on CUDA share a context: one of its own
/// would cost each a tenth of a second.
void choose_backend(GstElement *element);

/// Whether an element's histograms may come later than its frames.
bool is_asynchronous(GstElement *element);

}  // namespace cudatensor
