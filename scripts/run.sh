#!/usr/bin/env bash
# The main job: measures everything on this machine.
# Usage: run.sh [GPU_COUNT] [OPTION]...
#
# Builds the suite, measures on 1 to GPU_COUNT GPUs (default: all of this machine), leaves
# the rows in a new folder results/<gpu>x<count>_<UTC time>/, shows the main numbers and writes a
# report into its folder report/. A run that is interrupted keeps what it has measured in a folder
# whose name ends in .partial. Without an NVIDIA GPU it says so, shows the recorded runs, writes
# their report into build/report/, and builds. A report that cannot be written changes neither
# rows nor exit code.
#
# CUDA 13 has no multi_grid_sync, and what is left of a warp barrier is the compiler's choice.
# Where there is an older CUDA Toolkit too (CUDA_BEFORE13_HOME, /usr/local/cuda-11.* or -12.*, or
# the distribution's), that one builds in build-before13/ and measures multi_grid_sync, all methods
# of BenchmarkIntraSM and TestRepeat and, of Reduction, the sums of one warp and by the
# multi-GPU barrier, in files that end in .before13.tsv.
#
#   --quick        measure the main barriers alone, in about a minute
#   --method NAME[,NAME...]
#                  measure these methods alone
#   --label TEXT   a name for this machine, in the folder's name and in environment.tsv
#   --require-gpu  exit code 3 at once on a machine without an NVIDIA GPU
#   --results DIR  put the folder in DIR instead of results/ or build/
#   --no-build     use the executables in build/ and, if they are there, build-before13/
#   --simulated    show how a run goes, on GPU_COUNT simulated GPUs (default: 1). Its rows and its
#                  report, of made-up costs, are in build/simulated_<gpu>x<count>_<UTC time>/
#   -h, --help     show this text
#
# What is missing is installed: packages of the distribution as root or with password-free
# sudo, the CUDA compiler without either, in build/. SYNC_NO_INSTALL=1 forbids it.
# SUITE_COMMIT names the commit where the sources came without .git.
#
# An executable that does not end in two hours is stopped, and the run with it: measure.py has
# an option for another limit.
#
# Exit codes: 0 complete; 1 a build, a measurement or writing failed, or something is missing;
# 2 bad usage; 3 no usable CUDA device although a GPU is present, or --require-gpu; 129, 130, 143
# ended by SIGHUP, SIGINT, SIGTERM.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/parts/lib.sh
source "$scripts/parts/lib.sh"
# shellcheck source=scripts/parts/toolchain.sh
source "$scripts/parts/toolchain.sh"

gpus=()
results=
no_build=
simulated=()
options=()
require_gpu=
methods= # "quick" or names; empty: all

while (($#)); do
  case $1 in
    -h | --help) usage ;;
    --no-build) no_build=1 ;;
    --simulated) simulated=(--simulated) ;;
    --require-gpu) require_gpu=1 ;;
    --quick | --method)
      [[ -z $methods ]] || die 2 "only one --quick or --method can be given (try --help)"
      options+=("$1")
      methods=quick
      if [[ $1 == --method ]]; then
        methods=${2:-}
        [[ -n $methods ]] || die 2 "--method needs a value (try --help)"
        options+=("$methods")
        shift
      fi
      ;;
    --label)
      [[ -n ${2:-} ]] || die 2 "--label needs a value (try --help)"
      options+=("$1" "$2")
      shift
      ;;
    --results)
      [[ -n ${2:-} ]] || die 2 "--results needs a folder (try --help)"
      results=$2
      shift
      ;;
    -[!0-9]*) die 2 "unknown option '$1' (try --help)" ;;
    *)
      check_count GPU_COUNT "$1"
      ((${#gpus[@]} == 0)) || die 2 "only one GPU_COUNT can be given (try --help)"
      gpus=(--gpus "$1")
      ;;
  esac
  shift
done

recorded=()
for reference in "$PROJECT_ROOT"/results/*x[0-9]*/; do
  [[ -d $reference && ${reference##*x} != *_*Z* ]] || continue # a run of the user's own
  recorded+=("$reference")
done
no_gpu=
if ((${#simulated[@]} == 0)) && ! has_nvidia_gpu; then no_gpu=1; fi
[[ -z $no_gpu || -z $require_gpu ]] || die 3 "this machine has no NVIDIA GPU"
older= # nvcc
# What a build of all programs takes for one compute capability: measured once.
readonly BUILD_CPU_SECONDS=180 BUILD_MB=112
announce_build() {
  local kinds cpus
  mapfile -t kinds < <(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    sed -n 's/^\([0-9]*\)\.\([0-9]\)$/\1\2/p' | sort -u)
  if [[ -n ${CUDAARCHS:-} ]]; then IFS=';' read -ra kinds <<<"$CUDAARCHS"; fi
  ((${#kinds[@]})) || kinds=(80 90) # as CMakeLists.txt
  cpus=$(nproc 2>/dev/null || echo 2)
  printf 'Builds what is not yet built of all programs, for compute capability %s, in build/.\n' \
    "${kinds[*]}"
  printf 'All programs take about %d s on %d CPUs, and %d MB.\n' \
    $((BUILD_CPU_SECONDS * ${#kinds[@]} / cpus)) "$cpus" $((BUILD_MB * ${#kinds[@]}))
}
report= # of the recorded runs
show_recorded() {
  printf '\nRecorded on other machines:\n\n'
  run python3 "$scripts/summary.py" --short "${recorded[@]}"
  report=$PROJECT_ROOT/build/report
  printf '\nTheir report, in less than a minute: %s\n\n' "$report/report.html"
  run python3 "$scripts/report.py" "${recorded[@]}" --out "$report" >/dev/null || {
    say "warning: there is no report of the recorded runs, see above"
    report=none
  }
}
# Before anything is fetched, unless Python itself is.
has_python() { (require_python) 2>/dev/null; }
if [[ -n $no_gpu ]]; then
  printf 'This machine has no NVIDIA GPU: nothing was measured here.\n'
  if ((${#recorded[@]})) && has_python; then show_recorded; fi
  [[ -n $no_build ]] || announce_build
fi
# shellcheck disable=SC2119  # none of them are for it
[[ -n $no_build ]] || require_tools
require_python
if [[ -n $no_gpu && -z $report && ${#recorded[@]} -gt 0 ]]; then show_recorded; fi
if [[ -z $no_build ]]; then
  if ((${#simulated[@]})); then
    # shellcheck disable=SC2034  # for build()
    BUILD_TARGETS=(simulated)
  elif [[ -z $no_gpu && $(release_of "$NVCC") != 1[12].* ]]; then
    older=$(find_older_nvcc)
  fi
  if [[ -z $no_gpu && ${#simulated[@]} -eq 0 ]]; then announce_build >&2; fi
  run build "$NVCC" release build -DBUILD_TESTING=OFF >&2 || die 1 "the build failed, see above"
fi
if ((${#simulated[@]})); then
  exec python3 "$scripts/measure.py" "$PROJECT_ROOT/build/simulated" --simulated \
    --results "${results:-$PROJECT_ROOT/build}" "${gpus[@]}" "${options[@]}"
fi
if [[ -n $no_gpu ]]; then
  printf '\n'
  [[ ${report:-none} == none ]] || printf 'Report of the recorded runs: %s\n' "$report/report.html"
  [[ -n $no_build ]] || printf 'Built: build/, for a machine with a GPU.\n'
  printf 'Not done: %snothing was measured, as this machine has no NVIDIA GPU.\n' \
    "${no_build:+nothing was built (--no-build), }"
  exit 0
fi
[[ -x $PROJECT_ROOT/build/Pitfalls ]] ||
  die 1 "there is no Pitfalls in build/ (run without --no-build)"
# For what CUDA 13 lacks.
if [[ -n $older && $methods == quick ]]; then
  older=
elif [[ -n $older && -n $methods ]]; then
  lacking=$(python3 "$scripts/parts/lacking_methods.py" "$PROJECT_ROOT/build" "$methods") || exit
  [[ -n $lacking ]] || older=
fi
if [[ -n $older ]]; then
  log=$PROJECT_ROOT/build/older_toolkit.log
  build_older() {
    build "$older" "$BEFORE_13" "build-$BEFORE_13" -DBUILD_TESTING=OFF >"$log" 2>&1
  }
  if ! run build_older; then
    say "warning: the build with $older failed (see $log): multi_grid_sync and that toolkit's" \
      "warp barriers are not measured"
  fi
fi
exec python3 "$scripts/measure.py" "$PROJECT_ROOT/build" --older "$PROJECT_ROOT/build-$BEFORE_13" \
  --results "${results:-$PROJECT_ROOT/results}" "${gpus[@]}" "${options[@]}"
