#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# sanitized.sh [--is-reported]
# Builds luminance-monitor with AddressSanitizer and UBSan in build-sanitized/, runs its tests and, if
# they pass, writes the commit and the numbers to sanitized-report.md.
# --is-reported: whether the report names a commit that has the same sources of the monitor and the
# same headers of the library. tests/run.sh then builds no monitor with sanitizers.
set -euo pipefail
case ${1:-} in '' | --is-reported) ;; *) echo "usage: $0 [--is-reported]" >&2; exit 2 ;; esac
cd "$(dirname "$0")/../../../.."
app=pipelines/apps/luminance-monitor
report=$app/tests/sanitized-report.md
sources=("$app" gst/library/gstcudatensor*.h ':!*.md')

is_reported() {
  local commit
  commit=$(sed -En 's/^\| ([0-9a-f]{40}) \|.*/\1/p' "$report" 2>/dev/null)
  [ -n "$commit" ] && git diff --quiet "$commit" -- "${sources[@]}" 2>/dev/null
}

write_report() {
  cat >"$report" <<END
# Tests of luminance-monitor with sanitizers

Written by \`$app/tests/sanitized.sh\`. \`tests/run.sh\` runs these tests again where the sources of the monitor, or the headers of the library, differ from this commit.

| commit | date | passed | skipped | seconds |
|---|---|---|---|---|
| $(git rev-parse HEAD) | $(date +%F) | $1 | $3 | $SECONDS |
END
}

if [ "${1:-}" = --is-reported ]; then
  is_reported
  exit
fi
. pipelines/setup.sh
. "$app/setup.sh"
. tests/sanitizers.sh
need_packages "${plugin_packages[@]}" "${monitor_packages[@]}" libgtest-dev
if ! git diff --quiet HEAD -- "${sources[@]}"; then
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
[ "$failed" -gt 0 ] || write_report "$passed" "$failed" "$skipped"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
