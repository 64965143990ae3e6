# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the build has a sanitizer, which makes everything slow and keeps freed memory."""
import os

_PRELOADED = os.environ.get('LD_PRELOAD', '')
ADDRESS = 'libasan' in _PRELOADED
SANITIZED = ADDRESS or 'libthreads-glib' in _PRELOADED
