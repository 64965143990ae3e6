// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>
#include <gtest/gtest.h>

#include "../quarks.h"

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  cudatensor::grow_quarks();
  gst_init(&argc, &argv);
  return RUN_ALL_TESTS();
}
