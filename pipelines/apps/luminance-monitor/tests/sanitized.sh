#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# sanitized.sh
# Builds luminance-monitor with AddressSanitizer and UBSan in build-sanitized/, runs its tests and, if
# they pass, writes the commit and the numbers to sanitized-report.md.
set -euo pipefail
cd "$(dirname "$0")/../../../.."
app=pipelines/apps/luminance-monitor
report=$app/tests/sanitized-report.md

write_report() {
  cat >"$report" <<END
# Tests of luminance-monitor with sanitizers

Written by \`$app/tests/sanitized.sh\`.

| commit | date | passed | skipped | seconds |
|---|---|---|---|---|
| $(git rev-parse HEAD) | $(date +%F) | $1 | $2 | $SECONDS |
END
}

. pipelines/setup.sh
. "$app/setup.sh"
. tests/sanitizers.sh
need_packages "${plugin_packages[@]}" "${monitor_packages[@]}" libgtest-dev
if ! git diff --quiet HEAD -- "$app" gst kernels; then
  echo "Commit the changes first: the report names a commit." >&2
  exit 1
fi
build=$root/build-sanitized
"${sanitizers_env[@]}" tests/stage.sh build "$build" "${sanitizers_options[@]}" -Dmonitor=enabled
rm -f "$build"/meson-logs/testlog*
"${sanitizers_env[@]}" tests/stage.sh wait "$build" || true
mapfile -t count < <(python3 tests/count.py "$build/meson-logs")
read -r passed failed skipped <<<"${count[0]}"
printf '%s\n' "${count[@]:1}"
[ "$failed" -gt 0 ] || write_report "$passed" "$skipped"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
