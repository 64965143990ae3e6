#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# imports.sh [--destructors] LIBRARY...
# Checks that our libraries do not import certain symbols. With --destructors, also checks that
# static variables have no destructors, because threads of a pipeline may still run when the process
# exits.
set -euo pipefail
status=0 destructors=false
if [ "${1:-}" = --destructors ]; then destructors=true && shift; fi

# refuse SYMBOL LIBRARY WHY
refuse() {
  # Not with a pipe: if grep exits first, nm fails.
  if grep -qw "$1" <<<"$(nm -D --undefined-only "$2")"; then
    echo "$2 imports $1: $3" >&2
    status=1
  fi
}

for library; do
  refuse GST_CAT_DEFAULT "$library" 'it logs to category "default", see gst/util/log.h'
  ! "$destructors" ||
    refuse __cxa_atexit "$library" 'static variables have destructors, see kernels/immortal.h'
done
exit "$status"
