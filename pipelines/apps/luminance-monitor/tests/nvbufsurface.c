// SPDX-License-Identifier: LGPL-2.1-or-later
// Stands in for DeepStream's libnvbufsurface, by which the plugin sees that DeepStream is installed.
// The tests of gst-cudatensor look for this name, which the library of DeepStream does not have.
const int is_stand_in = 1;
