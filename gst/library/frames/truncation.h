// SPDX-License-Identifier: LGPL-2.1-or-later
// Detects truncated files, whose early end demuxers take for the end of the stream.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace cudatensor {

using FileHead = std::array<uint8_t, 16>;
/// Reads the bytes at an offset; bytes beyond the end of the file are 0. Returns false if they
/// cannot be read.
using ReadHead = std::function<bool(uint64_t offset, FileHead &head)>;

/// Returns how many bytes a file of MP4, Matroska, AVI, FLV, Ogg or MPEG-TS has at least according
/// to its headers; 0 if they do not say, or cannot be read. `length` is its actual length.
uint64_t stated_length(const ReadHead &read, uint64_t length);

/// Returns a text with both lengths if a local file is shorter than its headers state; no value
/// otherwise.
std::optional<std::string> find_truncation(const std::string &path);

}  // namespace cudatensor
