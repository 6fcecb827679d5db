#!/usr/bin/env bash
# Usage: test.sh [-h | --help]
#
# Installs what the tests need where that is allowed, builds the suite and runs
# all tests. Tests that need a GPU are skipped where there is none, and counted.
#
# Exit codes: 0 all tests passed, or were skipped for want of a GPU; 1 something
# is missing or does not build, or a GPU test was skipped although a GPU is
# present; otherwise that of CTest.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/lib.sh
source "$scripts/lib.sh"
# shellcheck source=scripts/toolchain.sh
source "$scripts/toolchain.sh"

# count_skipped CTEST_LOG: how many of the GPU tests CTest has skipped.
count_skipped() {
  local gpu_tests
  gpu_tests=$(ctest --test-dir "$BUILD_DIR" -N -L '^gpu$' | sed -n 's/^ *Test *#[0-9]*: //p')
  sed -n 's/^.*Test *#[0-9]*: \([^ ]*\) \.*\*\*\*Skipped.*/\1/p' "$1" |
    grep -cxF -f <(printf '%s\n' "${gpu_tests:-none}") || true
}

main() {
  local log status=0 skipped
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage
    return
  fi
  (($# == 0)) || die 2 "takes no arguments (try --help)"
  require_build_tools
  require_test_tools
  build_with "$PRESET" -DBUILD_TESTING=ON || die 1 "the build failed, see above"
  log=$(mktemp)
  # shellcheck disable=SC2064  # the name is known now
  trap "rm -f '$log'" EXIT
  ctest --test-dir "$BUILD_DIR" --output-on-failure 2>&1 </dev/null | tee "$log" || status=$?
  skipped=$(count_skipped "$log")
  if has_nvidia_gpu; then
    printf 'GPU tests skipped although a GPU is present: %s\n' "$skipped"
    if ((status == 0 && skipped > 0)); then
      die 1 "GPU tests were skipped although an NVIDIA GPU is present (is its driver working?)"
    fi
  else
    printf 'GPU tests skipped because there is no NVIDIA GPU: %s\n' "$skipped"
  fi
  return "$status"
}

main "$@"
