// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/metadata.h"

#include "config.h"
#include "kernels/device.h"

namespace cudatensor {

void set_metadata(GstElementClass *klass, const ElementMetadata &metadata) {
  const std::string kind = metadata.klass + std::string(cuda_is_built() ? "/Hardware" : "");
  gst_element_class_set_metadata(klass, metadata.long_name, kind.c_str(), metadata.description,
                                 "The gst-cudatensor developers");
  const std::string page = "file://" DOC_DIR "/elements.md#" + std::string(metadata.name);
  gst_element_class_add_metadata(klass, GST_ELEMENT_METADATA_DOC_URI, page.c_str());
}

}  // namespace cudatensor
