// SPDX-License-Identifier: LGPL-2.1-or-later
// The keys of Transformers' files, by their purpose.
#pragma once

#include <string>
#include <string_view>

namespace cudatensor::modelconfig {

/// Whether `word` is one of `words`, which are separated by spaces.
bool has_word(std::string_view words, const std::string &word);

/// Whether the reader of these files knows what the key means.
bool is_read(const std::string &key);

/// Whether the key changes nothing in the tensor of a picture, whatever the class.
bool is_bookkeeping(const std::string &key);

/// Whether some class of Transformers reads the key and may make another tensor because of it.
bool is_key_of_some_class(const std::string &key);

}  // namespace cudatensor::modelconfig
