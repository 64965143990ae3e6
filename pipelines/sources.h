// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions that applications share for the sources that users name: camera devices, files and
// URIs.
#pragma once

#include <gst/gst.h>

#include <stdexcept>
#include <string>

/// An error that ends the application with its text.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the URI of a camera device, a file or a URI. Throws Failure if it names a file that
/// cannot be read.
std::string uri_of(const std::string &source);

/// Returns the URI without user name, password and query; for a file, its path.
std::string shown(const std::string &uri);

/// Returns which decoder, demuxer or source GStreamer lacks, with its Debian package, if the
/// message says so and the video needs it; otherwise empty.
std::string missing_plugin(GstMessage *message);

/// Returns whether another attempt would end with the same error, because the file is wrong or
/// software is missing. Other errors of a camera may pass.
bool is_permanent(const std::string &uri, const GError *error);

/// Returns `text` with shown(uri) in place of the URI.
std::string without_password(const std::string &text, const std::string &uri);

/// Returns the text of the error, without a password of the URI; returns `missing` if the error is
/// a missing plugin.
std::string cause_of(const GError *error, const std::string &missing, const std::string &uri);
