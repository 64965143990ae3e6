// SPDX-License-Identifier: LGPL-2.1-or-later
// Delivery of measurements from the threads of cameras to the main loop.
#include "capture/inbox.h"

#include <gtest/gtest.h>

#include <thread>

namespace luminance {
namespace {

const std::atomic<bool> kGoesOn{false};

void iterate() {
  while (g_main_context_iteration(nullptr, FALSE)) {
  }
}

TEST(Inbox, DeliversOnTheMainLoop) {
  std::vector<size_t> cameras;
  Inbox inbox([&](const Arrival &arrival) { cameras.push_back(arrival.camera); });
  std::thread([&] {
    for (size_t i = 0; i < 3; ++i) inbox.put({i, 0, {}}, kGoesOn);
  }).join();
  EXPECT_TRUE(cameras.empty());
  iterate();
  EXPECT_EQ(cameras, (std::vector<size_t>{0, 1, 2}));
}

TEST(Inbox, DeliversNothingOnceItIsClosed) {
  int delivered = 0;
  Inbox inbox([&](const Arrival &) { ++delivered; });
  inbox.put({}, kGoesOn);
  inbox.close();
  inbox.put({}, kGoesOn);
  iterate();
  EXPECT_EQ(delivered, 0);
}

TEST(Inbox, DoesNotBlockOnceItOrTheCameraIsOver) {
  for (const bool closes : {false, true}) {
    std::atomic<bool> over{false};
    std::atomic<int> count{0};
    Inbox inbox([](const Arrival &) {});
    std::thread camera([&] {
      for (; count < 100000 && !over; ++count) inbox.put({}, over);
    });
    while (count < 256) std::this_thread::yield();
    if (closes) inbox.close();
    if (!closes) over = true, inbox.wake();
    camera.join();
    if (closes)
      EXPECT_EQ(count, 100000);
    else
      EXPECT_LE(count, 257);
    iterate();
  }
}

}  // namespace
}  // namespace luminance
