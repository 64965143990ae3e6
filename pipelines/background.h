// SPDX-License-Identifier: LGPL-2.1-or-later
// State changes in separate threads, because they may block forever on what a source opens or
// reads: the writer of a named pipe, a device, a file server.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <future>

/// Runs the task in a separate thread, which is left behind if the task never ends.
std::future<void> in_background(std::function<void()> task);

/// Sets the state in a separate thread, which holds a reference to the element.
std::future<void> set_state_in_background(GstElement *element, GstState state);

/// Returns whether the task ends within `patience` microseconds.
bool ends_within(const std::future<void> &task, gint64 patience);

/// Ends the program without waiting for threads that are left behind.
[[noreturn]] void leave(int status);
