// SPDX-License-Identifier: LGPL-2.1-or-later
#include "backends.h"

#include "kernels/error.h"

namespace cudatensor {

void KernelTest::SetUp() {
  if (GetParam() == "cpu") {
    for (const unsigned threads : {1u, 2u, 3u})
      machines_.push_back(std::make_unique<Machine>(std::to_string(threads) + " threads",
                                                    open_cpu_backend(threads)));
    return;
  }
  try {
    machines_.push_back(std::make_unique<Machine>("CUDA", open_cuda_backend(-1)));
  } catch (const Error &error) {
    if (error.code() != Error::Code::not_found) throw;
    GTEST_SKIP() << error.what();
  }
}

}  // namespace cudatensor
