#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# abi.sh
# Tests packaging/abi/functions.sh with changes to a small library: harmful ones are reported, additions and
# changes of private types are not. The last line is "N passed, N failed, N skipped".
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/setup.sh
. packaging/abi/functions.sh
. tests/packaging/checks.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/thing.h" <<'END'
typedef enum { COLOR_RED, COLOR_GREEN } Color;
typedef struct { int width; Color color; void *_gst_reserved[4]; } Thing;
typedef struct _Opaque Opaque;
void thing_of(Opaque *opaque, Thing *thing);
int count(int first);
END
cat >"$dir/thing.c" <<'END'
#include "thing.h"
struct _Opaque { int width; };
void thing_of(Opaque *opaque, Thing *thing) { thing->width = opaque->width; }
int count(int first) { return first; }
END

# make NAME [SED_SCRIPT]: writes the description NAME.abi of the library, changed by the script
make() {
  mkdir -p "$dir/$1/headers"
  sed "${2:-}" "$dir/thing.h" >"$dir/$1/headers/thing.h"
  sed "${2:-}" "$dir/thing.c" >"$dir/$1/thing.c"
  gcc -g -shared -fPIC -Wl,-soname,libthing.so.0 -I"$dir/$1/headers" -o "$dir/$1/libthing.so" "$dir/$1/thing.c"
  describe "$dir/$1/libthing.so" "$dir/$1/headers" >"$dir/$1.abi"
}

# passes NAME SED_SCRIPT TEXT: whether the change passes, with this text in the new description
passes() { make "$1" "$2" && grep "$3" "$dir/$1.abi" && compatible "$dir/first.abi" "$dir/$1.abi"; }

# reports NAME SED_SCRIPT TEXT: whether the change is reported with this text
reports() {
  make "$1" "$2"
  fails compatible "$dir/first.abi" "$dir/$1.abi" >"$dir/report" && grep "$3" "$dir/report"
}

changes() {
  need_packages gcc abigail-tools
  make first
  check 'no change' passes same '' "name='count'"
  check 'a new function' passes function 's/^int count\(.*\)/& int more\1/' "name='more'"
  check 'a new value of an enumeration' passes value 's/COLOR_GREEN/&, COLOR_BLUE/' COLOR_BLUE
  check 'a private structure' passes private 's/_Opaque { int width;/& int height;/' _Opaque
  check 'a removed function' reports removed '/^int count/d' '1 Removed function'
  check 'another parameter' reports parameter 's/int first/double first/' "parameter 1 of type 'int' changed"
  check 'a field before others' reports field 's/Color color;/int height; &/' "data member insertion"
  check 'a removed field' reports gone 's/Color color;//' "data member deletion"
  check 'a field of another type' reports type 's/int width; Color/long width; Color/' \
    "type of 'int width' changed"
  check 'a larger structure' reports size 's/_gst_reserved\[4\]/&, *more/' 'type size changed'
  check 'another value of an enumeration' reports moved 's/COLOR_GREEN/COLOR_BLUE, &/' 'enumerator change'
  check "the library's description is read" compatible packaging/abi/*.abi packaging/abi/*.abi
}

counted changes
