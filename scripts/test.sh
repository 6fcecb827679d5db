#!/usr/bin/env bash
# Builds and runs all tests.
# Usage: test.sh [-h | --help]
#
# Gets what the tests need where that is allowed, builds the suite and runs all tests. The
# last lines say what failed, with its output and the command that runs it again, and what
# was skipped and why. CTEST_ARGUMENTS can hold more arguments of ctest, such as '-R report'.
# Tests that need a GPU are built where one is found, and with GPU_TESTS=ON anywhere.
#
# Exit codes: 0 all tests passed or were skipped for want of a library or a tool; 1 a
# test failed, something is missing or does not build, or a GPU test was skipped although a
# GPU is present; 2 bad usage; 3 the GPU or its driver is too old for the compiler
# that would be fetched; 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/parts/lib.sh
source "$scripts/parts/lib.sh"
# shellcheck source=scripts/parts/toolchain.sh
source "$scripts/parts/toolchain.sh"

case ${1:-} in
  -h | --help) usage ;;
esac
(($# == 0)) || die 2 "takes no arguments (try --help)"
require_tools tests
require_python
if ! has_disassembler "${NVCC%/*}"; then
  fetch disassembler || say "warning: no cuobjdump and nvdisasm beside nvcc, and none could be fetched"
fi
cd "$PROJECT_ROOT"
expected=() options=(-DBUILD_TESTING=ON)
if has_nvidia_gpu; then expected=(--gpu) options+=(-DGPU_TESTS=ON); fi
if [[ -n ${GPU_TESTS:-} ]]; then options+=("-DGPU_TESTS=$GPU_TESTS"); fi
run build "$NVCC" release build "${options[@]}" || die 1 "the build failed, see above"
rm -f build/tests.xml
# shellcheck disable=SC2031  # build() changes its own copy alone
export PATH=${NVCC%/*}:$PATH
read -ra arguments <<<"${CTEST_ARGUMENTS:-}"
run ctest --test-dir build --parallel "$(nproc)" --output-on-failure --output-junit tests.xml "${arguments[@]}" || true # its report tells
exec python3 "$scripts/parts/test_outcomes.py" build/tests.xml "${expected[@]}"
