// SPDX-License-Identifier: LGPL-2.1-or-later
#include "background.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

std::future<void> in_background(std::function<void()> task) {
  std::packaged_task<void()> packaged(std::move(task));
  std::future<void> done = packaged.get_future();
  std::thread(std::move(packaged)).detach();
  return done;
}

std::future<void> set_state_in_background(GstElement *element, GstState state) {
  const std::shared_ptr<GstElement> kept(GST_ELEMENT(gst_object_ref(element)), gst_object_unref);
  return in_background([kept, state] { gst_element_set_state(kept.get(), state); });
}

bool ends_within(const std::future<void> &task, gint64 patience) {
  return task.wait_for(std::chrono::microseconds(patience)) == std::future_status::ready;
}

void leave(int status) {
  std::fflush(nullptr);
  _exit(status);
}
