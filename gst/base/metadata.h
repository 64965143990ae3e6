// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

namespace cudatensor {

struct ElementMetadata {
  const char *name;  ///< the name for gst_element_factory_make()
  const char *long_name;
  const char *klass;  ///< without Hardware, which a build with CUDA adds
  const char *description;
};

/// Sets the metadata of an element's class, with its author and the address of its documentation.
void set_metadata(GstElementClass *klass, const ElementMetadata &metadata);

}  // namespace cudatensor
