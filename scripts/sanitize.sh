#!/usr/bin/env bash
# Usage: sanitize.sh [--build-dir DIR] [EXE...]
#
# Runs compute-sanitizer's four tools over each EXE (default: all of the suite) at
# one sample, on one GPU and, those that take a GPU count, on two where there are
# two. racecheck is slow: it gets one method at a time, and of the grids that are
# swept the smallest and, where the barrier works in another way then, the largest
# (shared memory, which it watches, is a block's own). Prints a tab-separated table
# of findings (or time-out, or failed). Logs are kept unless all are zero.
#
#   --build-dir DIR   where the executables are (default build or build-cuda11)
#   -h, --help        show this text
#   SANITIZE_TIMEOUT  seconds that one run may take (default 300)
#
# Exit codes: 0 no findings; 1 findings, a time-out, a failed run, or something
# is missing; 2 bad usage; 3 no usable GPU; 129, 130, 143 ended by a signal.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/lib.sh
source "$scripts/lib.sh"
# shellcheck source=scripts/signals.sh
source "$scripts/signals.sh"

seconds=${SANITIZE_TIMEOUT:-300}
build=
executables=()
problems=0

parse_arguments() {
  local name names=()
  while (($#)); do
    case $1 in
      -h | --help) usage && exit 0 ;;
      --build-dir) need_value "$@" && build=$(absolute "$2") && shift ;;
      -*) die 2 "unknown option '$1' (try --help)" ;;
      *) names+=("$1") ;;
    esac
    shift
  done
  check_count SANITIZE_TIMEOUT "$seconds"
  ((${#names[@]})) || names=(ImplicitBarrier BenchmarkIntraSM BenchmarkInterSM TestRepeat)
  has_nvidia_gpu || die 3 "no NVIDIA GPU"
  for name in "${names[@]}"; do executables+=("$(path_of "$name")"); done
}

# path_of NAME: the executable in the build folder.
path_of() {
  local folder=${build:-$(built_folder "$1")}
  [[ -f $folder/$1 && -x $folder/$1 ]] ||
    die 1 "$1 is not built${build:+ in $build} (cmake --preset release, then cmake --build)"
  printf '%s\n' "$folder/$1"
}

# find_sanitizer: on PATH, or in the toolkit's usual places.
find_sanitizer() {
  local cuda=${CUDA_HOME:-/usr/local/cuda}
  command -v compute-sanitizer || command -v "$cuda/bin/compute-sanitizer" ||
    command -v "$cuda/compute-sanitizer/compute-sanitizer" ||
    die 1 "compute-sanitizer is missing: not on PATH, not in $cuda; the CUDA Toolkit has it"
}

# findings_in LOG [GPUS]: their number; empty when the tool has not summed up, or
# when the executable has measured no row, of so many GPUs.
findings_in() {
  awk -v row="^[a-z_]+\t${2:-[0-9]+}\t" '/Internal Sanitizer Error/ { broken = 1 }
    /(ERROR|RACECHECK) SUMMARY: [0-9]+/ && !/were not printed/ {
      sub(/.*SUMMARY: /, ""); sum += $1; seen = 1 }
    $0 ~ row { rows = 1 }
    END { if (seen && rows && !broken) print sum }' "$1"
}

# run_once TOOL LOG GPUS COMMAND...: sets `result` to a number, time-out or failed.
run_once() {
  local log=$2 gpus=$3 status=0
  say "$1: ${*:4}"
  run_program timeout -k 10 "$seconds" "$sanitizer" --tool "$1" "${@:4}" >"$log" 2>&1 || status=$?
  if ((signal_status)); then die "$signal_status" "interrupted; the logs are in $logs"; fi
  result=$(findings_in "$log" "$gpus")
  if [[ -z $result ]] || ((status != 0 && result == 0)); then result="failed($status)"; fi
  if ((status == 124 || status == 137)); then result=time-out; fi
  if [[ $result != 0 ]]; then problems=1 && say "  $result, see $log"; fi
}

# check_tool TOOL EXE [GPUS]: sets `cell`, the sum over the runs of this tool.
check_tool() {
  local tool=$1 exe=$2 gpus=${3:-} list method methods=('') grids=()
  cell=0
  if [[ $tool == racecheck ]]; then
    list=$("$exe" --list) || die 1 "$exe --list failed"
    mapfile -t methods < <(cut -f 1 <<<"$list")
    case ${exe##*/} in
      BenchmarkIntraSM) grids=(--blocks-per-sm 1) ;;
      BenchmarkInterSM) grids=(--blocks-per-sm "1,32") ;;
    esac
  fi
  for method in "${methods[@]}"; do
    case $gpus:$method in
      2:grid_sync | 2:traditional_launch | 2:cooperative_launch) continue ;; # of one GPU
    esac
    run_once "$tool" "$logs/${exe##*/}${gpus:+.x$gpus}.$tool${method:+.$method}.log" \
      "$gpus" "$exe" ${gpus:+"$gpus"} --samples 1 ${method:+--method "$method"} "${grids[@]}"
    if [[ $result == *[!0-9]* ]]; then cell=$result; fi
    if [[ $cell != *[!0-9]* ]]; then cell=$((cell + result)); fi
  done
}

# check EXE [GPUS]: one row of the table.
check() {
  local tool row=${1##*/}$'\t'${2:-1}
  for tool in memcheck racecheck synccheck initcheck; do
    check_tool "$tool" "$@"
    row+=$'\t'$cell
  done
  printf '%s\n' "$row"
}

parse_arguments "$@"
sanitizer=$(find_sanitizer)
devices=$("${executables[0]}" --devices) || die $(($? == 3 ? 3 : 1)) "no GPU can be listed, see above"
logs=$(mktemp -d)
watch_signals
printf 'executable\tGPUs\tmemcheck\tracecheck\tsynccheck\tinitcheck\n'
for exe in "${executables[@]}"; do
  if [[ $("$exe" --help) == *'[gpu_count]'* ]]; then
    check "$exe" 1
    if (($(wc -l <<<"$devices") > 2)); then check "$exe" 2; fi
  else
    check "$exe"
  fi
done
((problems == 0)) || die 1 "not clean; the logs are in $logs"
rm -r "$logs"
