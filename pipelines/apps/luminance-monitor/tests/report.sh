# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154  # app and clone are set by setup.sh, results by run.sh
# Sourced by run.sh: reads and writes report.md, which names the commit at which the long stages passed, and
# has the checksum of the tested files. The checksum is used because a clone may not have that commit.

report=$app/tests/report.md

reported_commit() { sed -En 's/^Commit: ([0-9a-f]{40})$/\1/p' "$report" 2>/dev/null; }

# tested_files: prints the files on which the long stages depend, as Git's pathspecs. The plain stage
# tests the documents.
tested_files() {
  printf '%s\n' "$app" ':(exclude,glob)**/*.md' ":(exclude)$app/docs/pictures"
  [ ! -d "$clone/gst/library" ] || printf '%s\n' ":(glob)$clone/gst/library/gstcudatensor*.h"
}

# differs_from_commit: whether tested files differ from HEAD, or are unknown to Git
differs_from_commit() {
  local files
  mapfile -t files < <(tested_files)
  ! git -C "$app" diff --quiet HEAD -- "${files[@]}" 2>/dev/null ||
    [ -n "$(git -C "$app" ls-files --others --exclude-standard -- "${files[@]}")" ]
}

# checksum: prints the checksum of the tested files in Git's index
checksum() {
  local files
  mapfile -t files < <(tested_files)
  git -C "$app" ls-files --stage --full-name -- "${files[@]}" | sha256sum | cut -d ' ' -f 1
}

# differs_from_report: whether tested files differ from the report's. Fails without a report.
differs_from_report() {
  [ -e "$report" ] || return 1
  differs_from_commit || [ "$(checksum)" != "$(sed -n 's/^Files: //p' "$report" 2>/dev/null)" ]
}

row() {
  local p f s seconds
  read -r p f s seconds <<<"${results[$1]}"
  printf '| %s | %s | %d | %d | %d | %d |\n' "$1" "$2" "$p" "$f" "$s" "$seconds"
}

write_report() {
  if [ -z "${results[sanitized]:-}" ] || [ -z "${results[newer]:-}" ] || differs_from_commit; then
    echo 'No report: a stage was skipped, or the files are not those of a commit.'
    return
  fi
  cat >"$report" <<END
# The tests of luminance-monitor, in all stages

Written by \`run.sh --all\`. \`run.sh\` runs the last two stages again where the monitor, or the headers
of gst-cudatensor, differ from this commit.

Commit: $(git -C "$app" rev-parse HEAD)

Files: $(checksum)

Date: $(date +%F), on $(nproc) cores of $(uname -m)

| stage | system | passed | failed | skipped | seconds |
|---|---|---|---|---|---|
$(row plain "$(. /etc/os-release && echo "$PRETTY_NAME")")
$(row sanitized 'the same, with AddressSanitizer and UBSan')
$(row newer 'Debian 13')
END
}
