// SPDX-License-Identifier: LGPL-2.1-or-later
// Changes of state that may wait without end for what a source opens or reads: the writer of a named
// pipe, a device, a file server. They run in threads of their own.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <future>

/// Runs the task in a thread of its own. If it never ends, the thread is left behind.
std::future<void> in_background(std::function<void()> task);

/// Sets the state in a thread of its own, which keeps the element.
std::future<void> set_state_in_background(GstElement *element, GstState state);

/// Whether the task ends within this time, in microseconds.
bool ends_within(const std::future<void> &task, gint64 patience);

/// Ends the program without a wait for threads that are left behind.
[[noreturn]] void leave(int status);
