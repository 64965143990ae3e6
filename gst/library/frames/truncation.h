// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that end early. Demuxers take that for their end.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace cudatensor {

using FileHead = std::array<uint8_t, 16>;
/// Reads the bytes at an offset; those behind the end of the file are 0. False: it cannot.
using ReadHead = std::function<bool(uint64_t offset, FileHead &head)>;

/// How long a file of MP4, Matroska, AVI, FLV, Ogg or MPEG-TS is at least, according to its headers; 0
/// if they do not tell, or cannot be read. `length` is the length that it has.
uint64_t stated_length(const ReadHead &read, uint64_t length);

/// Says where a local file should end if it is shorter than its headers tell.
std::optional<std::string> find_truncation(const std::string &path);

}  // namespace cudatensor
