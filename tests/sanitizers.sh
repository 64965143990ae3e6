# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2034  # used by scripts that source this file
# Sourced by scripts that build and test with AddressSanitizer and UBSan, after pipelines/setup.sh.

# The plugin scanner lacks the sanitizers' run-time library, so it is not started. A too large
# allocation fails as in other builds. The kernels run a tenth of their random cases; each run has
# others.
sanitizers_env=(env GST_REGISTRY_FORK=no CK_TIMEOUT_MULTIPLIER=3 CUDATENSOR_TEST_CASES=10
  ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1:allocator_may_return_null=1
  LSAN_OPTIONS="suppressions=$root/tests/lsan.supp:print_suppressions=0"
  UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1)

sanitizers_options=(-Dgpu=disabled -Doptimization=1 -Ddebug=true -Dcpp_args=-g1 -Db_lundef=false
  -Db_sanitize=address,undefined)
