// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/caps/elementtype.h"

#include <iterator>

namespace cudatensor {
namespace {

struct TypeRow {
  const char *text;
  gsize bytes;
};

// In the order of ElementType.
constexpr TypeRow kTypes[] = {{"int32", 4}, {"uint32", 4}, {"int16", 2},   {"uint16", 2},
                              {"int8", 1},  {"uint8", 1},  {"float64", 8}, {"float32", 4},
                              {"int64", 8}, {"uint64", 8}, {"float16", 2}, {"bfloat16", 2}};

}  // namespace

const char *type_text(ElementType type) { return kTypes[static_cast<size_t>(type)].text; }

std::optional<ElementType> parse_element_type(const char *text) {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (g_strcmp0(kTypes[i].text, text) == 0) return static_cast<ElementType>(i);
  return std::nullopt;
}

gsize size_of(ElementType type) { return kTypes[static_cast<size_t>(type)].bytes; }

}  // namespace cudatensor
