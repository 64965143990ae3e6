# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the build is one with a sanitizer, which makes all slow and keeps memory that was freed."""
import os

_PRELOADED = os.environ.get('LD_PRELOAD', '')
ADDRESS = 'libasan' in _PRELOADED
SANITIZED = ADDRESS or 'libthreads-glib' in _PRELOADED
