// SPDX-License-Identifier: LGPL-2.1-or-later
// A stand-in for libnvbufsurface, whose presence tells the plugin that DeepStream is installed.
// `is_stand_in` tells tests that it makes no surfaces.
extern "C" const int is_stand_in = 1;
