# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154  # app and clone are set by setup.sh, results by run.sh
# Sourced by run.sh: report.md, which names the commit at which the long stages have passed, and has the
# checksum of its tested files. The checksum also serves where a history does not have that commit.

report=$app/tests/report.md

reported_commit() { sed -En 's/^Commit: ([0-9a-f]{40})$/\1/p' "$report" 2>/dev/null; }

# tested_files: what the long stages depend on, for Git. Documents are tested by the plain stage.
tested_files() {
  printf '%s\n' "$app" ':(exclude,glob)**/*.md' ":(exclude)$app/docs/pictures"
  [ ! -d "$clone/gst/library" ] || printf '%s\n' ":(glob)$clone/gst/library/gstcudatensor*.h"
}

# differs_from_commit: whether tested files are not those of HEAD, or are not known to Git
differs_from_commit() {
  local files
  mapfile -t files < <(tested_files)
  ! git -C "$app" diff --quiet HEAD -- "${files[@]}" 2>/dev/null ||
    [ -n "$(git -C "$app" ls-files --others --exclude-standard -- "${files[@]}")" ]
}

# checksum: of the tested files, as Git has them
checksum() {
  local files
  mapfile -t files < <(tested_files)
  git -C "$app" ls-files --stage --full-name -- "${files[@]}" | sha256sum | cut -d ' ' -f 1
}

# Without a report there is nothing to compare with.
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
