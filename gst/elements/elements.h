// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE(cudanv12toyuv444);
GST_ELEMENT_REGISTER_DECLARE(cudaletterbox);
GST_ELEMENT_REGISTER_DECLARE(cudanormalize);
GST_ELEMENT_REGISTER_DECLARE(cudahistogram);
GST_ELEMENT_REGISTER_DECLARE(cudapixelshuffle);
GST_ELEMENT_REGISTER_DECLARE(cudatensormux);
GST_ELEMENT_REGISTER_DECLARE(cudarestore);
GST_ELEMENT_REGISTER_DECLARE(cudainference);

G_END_DECLS
