// SPDX-License-Identifier: LGPL-2.1-or-later
#include "errors.h"

namespace cudatensor {

void post_error(GstElement *element, const Error &error) {
  switch (error.code()) {
    case Error::Code::settings:
      GST_ELEMENT_ERROR(element, LIBRARY, SETTINGS, ("%s", error.what()), (nullptr));
      break;
    case Error::Code::input:
      GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("%s", error.what()), (nullptr));
      break;
    case Error::Code::not_found:
      GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("%s", error.what()), (nullptr));
      break;
    case Error::Code::out_of_memory:
      GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("%s", error.what()), (nullptr));
      break;
    case Error::Code::device:
      GST_ELEMENT_ERROR(element, RESOURCE, FAILED, ("%s", error.what()), (nullptr));
      break;
  }
}

}  // namespace cudatensor
