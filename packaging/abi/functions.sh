# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by packaging/abi.sh and its test: descriptions of the binary interface of a library, by libabigail.

# describe LIBRARY HEADERS: prints the description of a library with debug information. HEADERS is the folder
# with its public headers and no others: types that these do not define are not described.
describe() {
  abidw --headers-dir "$2" --drop-private-types --exported-interfaces-only --no-elf-needed \
    --no-corpus-path --no-comp-dir-path --no-show-locs --no-parameter-names --no-write-default-sizes "$1"
}

# compatible OLD NEW: whether programs for the library of the description OLD run with that of NEW. If not,
# prints abidiff's report. New functions and new values of enumerations are compatible. No suppression is used
# for other changes: libabigail 2.2 then also hides changes that are not.
compatible() { abidiff --no-added-syms "$1" "$2"; }
