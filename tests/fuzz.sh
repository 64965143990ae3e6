#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# fuzz.sh [--pipelines N] [--seconds N] [--seed N] | --files [SECONDS]
# Tests random pipelines of our elements (10,000 by default) with random operations, in a build with
# AddressSanitizer and UndefinedBehaviorSanitizer. A finding is printed with the operations and the
# number of the pipeline: "fuzz.sh --seed NUMBER --pipelines 1" repeats it.
# --files: tests files of models instead, with libFuzzer, for ten minutes by default. It keeps its
# corpus in build-fuzzed/files. To repeat a finding, pass its file, crash-…, to
# build-fuzzed/tests/modelconfig/fuzz-model-files.
set -euo pipefail
cd "$(dirname "$0")/.."
. pipelines/setup.sh

need_packages "${plugin_packages[@]}" libgtest-dev

# fuzz_files SECONDS
fuzz_files() {
  local dir=$PWD/build-fuzzed
  need_packages clang libclang-rt-14-dev
  [ -e "$dir/build.ninja" ] || CXX=clang++ meson setup "$dir" -Dgpu=disabled \
    -Dapplications=disabled -Dbuildtype=debugoptimized -Db_lundef=false -Db_sanitize=address,undefined
  ninja -C "$dir" tests/modelconfig/fuzz-model-files
  mkdir -p "$dir/files"
  cd "$dir"
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  exec tests/modelconfig/fuzz-model-files -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 \
    -max_len=8192 -print_final_stats=1 files
}
if [ "${1:-}" = --files ]; then fuzz_files "${2:-600}"; fi

[ -e build-sanitized/build.ninja ] || meson setup build-sanitized -Dgpu=disabled \
  -Dbuildtype=debugoptimized -Db_lundef=false -Db_sanitize=address,undefined
ninja -C build-sanitized gst/libgstcudatensor.so tests/fuzz/fuzz-pipelines \
  tests/elements/deepstream/libnvbufsurface.so

export GST_PLUGIN_PATH_1_0=$PWD/build-sanitized/gst GST_REGISTRY=$PWD/build-sanitized/fuzz.registry
export G_DEBUG=fatal-criticals GST_REGISTRY_FORK=no
export LD_LIBRARY_PATH=$PWD/build-sanitized/tests/elements/deepstream
# Fills the registry without leak detection, because plugins of the system leak when they are
# scanned in this process.
ASAN_OPTIONS=detect_leaks=0 build-sanitized/tests/fuzz/fuzz-pipelines --pipelines 1 --seed 1 \
  >/dev/null
export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1:allocator_may_return_null=1
ASAN_OPTIONS+=:fast_unwind_on_malloc=0
export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
[ $# -gt 0 ] || set -- --pipelines 10000
exec build-sanitized/tests/fuzz/fuzz-pipelines "$@"
