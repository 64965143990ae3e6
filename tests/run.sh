#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh [--fast]
# Installs what the tests need, then builds and tests the plugin in several ways, each in a folder
# of its own, build-STAGE/. --fast: only the build for the CPU.
# Ends with "N passed, N failed, N skipped".
set -euo pipefail
case ${1:-} in '' | --fast) ;; *) echo "usage: $0 [--fast]" >&2; exit 2 ;; esac
cd "$(dirname "$0")/.."
. pipelines/setup.sh

passed=0 failed=0 skipped=0

# stage NAME [MESON_OPTION...]
stage() {
  local name=$1 dir=$root/build-$1 start=$SECONDS p f s
  shift
  printf '\n== %s: %s\n' "$name" "$*"
  if build_plugin "$dir" "$@"; then
    rm -f "$dir"/meson-logs/testlog*
    meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 3 || true
    read -r p f s < <(python3 tests/count.py "$dir/meson-logs")
  else
    echo "$name does not build" >&2
    p=0 f=1 s=0
  fi
  printf '%s, %d s: %d passed, %d failed, %d skipped\n' "$name" $((SECONDS - start)) "$p" "$f" "$s"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

need_packages "${plugin_packages[@]}" libgtest-dev python3 python3-gi gir1.2-gst-plugins-base-1.0

stage cpu -Dgpu=disabled

if [ "${1:-}" != --fast ]; then
  if need_nvcc; then
    stage cuda -Dgpu=enabled
  else
    echo "cuda: skipped, there is no nvcc" >&2
    skipped=$((skipped + 1))
  fi

  # The plugin scanner is a program without the sanitizers' run-time library, so nobody forks it.
  export GST_REGISTRY_FORK=no CK_TIMEOUT_MULTIPLIER=3
  # An allocation that is too large fails as it does elsewhere.
  export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1:allocator_may_return_null=1
  export LSAN_OPTIONS=suppressions=$root/tests/lsan.supp:print_suppressions=0
  export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
  stage sanitized -Dgpu=disabled -Dbuildtype=debugoptimized -Db_lundef=false \
    -Db_sanitize=address,undefined
fi

printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
