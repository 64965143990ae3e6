// SPDX-License-Identifier: LGPL-2.1-or-later
// Where exceptions of the kernels become GStreamer's errors.
#pragma once

#include <gst/gst.h>

#include <new>

#include "kernels/error.h"

namespace cudatensor {

/// Posts one element error that names the cause.
void post_error(GstElement *element, const Error &error);

/// Thrown to end a frame whose error has been posted.
struct AlreadyPosted {};

/// Calls `body`; false where it threw, with the error posted.
template <class Body>
bool guard(GstElement *element, const Body &body) {
  try {
    body();
    return true;
  } catch (const AlreadyPosted &) {
  } catch (const Error &error) {
    post_error(element, error);
  } catch (const std::bad_alloc &) {
    post_error(element, Error(Error::Code::out_of_memory, "out of host memory"));
  } catch (const std::exception &error) {
    post_error(element, Error(Error::Code::device, error.what()));
  }
  return false;
}

}  // namespace cudatensor
