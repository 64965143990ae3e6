// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/error.h"

namespace cudatensor {

/// Expects an Error whose text names its cause.
template <class Call>
void expect_refusal(Error::Code code, const std::string &cause, const Call &call) {
  SCOPED_TRACE("refusal for " + cause);
  try {
    call();
    ADD_FAILURE() << "was accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(cause), std::string::npos) << error.what();
  }
}

}  // namespace cudatensor
