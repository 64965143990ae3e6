// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/tensor.h"

#include "kernels/error.h"

namespace cudatensor {

void check_tensor_size(const TensorDesc &t) {
  auto bytes = static_cast<int64_t>(size_of(t.dtype));
  bool fits = true;
  for (const int64_t side : {t.n, t.c, t.h, t.w}) {
    if (side < 1)
      throw Error(Error::Code::settings, "the dimensions of a tensor must be at least 1");
    fits = fits && !__builtin_mul_overflow(bytes, side, &bytes);
  }
  if (!fits) throw Error(Error::Code::settings, "the size of a tensor overflows");
}

}  // namespace cudatensor
