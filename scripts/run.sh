#!/usr/bin/env bash
# Usage: run.sh [GPU_COUNT] [OPTION]...
#
# Builds the suite, measures on 1 to GPU_COUNT GPUs (default: all of this
# machine) and leaves one folder, results/<gpu>x<count>_<UTC time>/, with a TSV
# an executable, multi_gpu_barriers.tsv, environment.tsv, topology.txt and
# stderr.log. While it is being measured its name ends in .partial. On a machine
# without an NVIDIA GPU it builds and shows the recorded reference run.
#
# CUDA 13 has no multi_grid_sync. Where it builds the suite and there is also a
# CUDA 11.8 Toolkit (CUDA11_HOME, /usr/local/cuda-11.8 or the distribution's),
# that one builds too, in build-cuda11/, and its BenchmarkInterSM and TestRepeat
# measure multi_grid_sync into BenchmarkInterSM.cuda11.tsv and TestRepeat.cuda11.tsv.
#
#   --resume DIR     continue the interrupted run in DIR (a .partial folder)
#   --results DIR    put the folder in DIR instead of results/
#   --build-dir DIR  do not build, use the executables in DIR
#   --no-build       do not build, use those in build/, else in build-cuda11/;
#                    for multi_grid_sync that in build-cuda11/
#   --cuda11-build-dir DIR
#                    measure multi_grid_sync with the executables in DIR
#   -h, --help       show this text
#
# Missing Debian/Ubuntu packages are installed when this is run as root or with
# password-free sudo, and SYNC_NO_INSTALL is not set; otherwise they are named.
# SUITE_COMMIT names the commit where the sources came without .git.
#
# Exit codes: 0 complete; 1 a build, a measurement or writing failed, whatever
# the executable's exit code; 2 bad usage; 3 no usable CUDA device although a
# GPU is present; 129, 130 or 143 ended by SIGHUP, Ctrl-C or SIGTERM.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/lib.sh
source "$scripts/lib.sh"
# shellcheck source=scripts/signals.sh
source "$scripts/signals.sh"
# shellcheck source=scripts/toolchain.sh
source "$scripts/toolchain.sh"
# shellcheck source=scripts/environment.sh
source "$scripts/environment.sh"
# shellcheck source=scripts/multi_grid.sh
source "$scripts/multi_grid.sh"
# shellcheck source=scripts/measure.sh
source "$scripts/measure.sh"

gpu_count=
results=$PROJECT_ROOT/results
resume=
given_build_dir=
given_cuda11_dir=
build=1

parse_arguments() {
  local positional=0
  while (($#)); do
    case $1 in
      -h | --help) usage && exit 0 ;;
      --resume) need_value "$@" && resume=$(absolute "$2") && shift ;;
      --results) need_value "$@" && results=$(absolute "$2") && shift ;;
      --build-dir) need_value "$@" && given_build_dir=$(absolute "$2") && build=0 && shift ;;
      --cuda11-build-dir) need_value "$@" && given_cuda11_dir=$(absolute "$2") && shift ;;
      --no-build) build=0 ;;
      -[!0-9]*) die 2 "unknown option '$1' (try --help)" ;;
      *)
        check_count gpu_count "$1"
        positional=$((positional + 1))
        gpu_count=$1
        ;;
    esac
    shift
  done
  ((positional <= 1)) || die 2 "only one gpu_count can be given (try --help)"
}

prepare_executables() {
  local name hint=''
  if ((build)); then
    require_build_tools
    build_dir=$BUILD_DIR
    say "building with CUDA $NVCC_RELEASE in $build_dir"
    build_with "$PRESET" -DBUILD_TESTING=OFF >&2 || die 1 "the build failed, see above"
  elif [[ -n $given_build_dir ]]; then
    build_dir=$given_build_dir
  else
    build_dir=$(built_folder "${EXECUTABLES[0]}")
    build_dir=${build_dir:-$PROJECT_ROOT/build}
    hint=': run without --no-build'
  fi
  for name in "${EXECUTABLES[@]}"; do
    [[ -x $build_dir/$name ]] || die 1 "$build_dir/$name is missing$hint"
  done
}

# prepare_multi_grid: a build of the caller's has nothing to do with build-cuda11/.
prepare_multi_grid() {
  local second=$build
  if [[ -n $given_build_dir ]]; then second=''; fi
  find_multi_grid "$build_dir/BenchmarkInterSM" "$given_cuda11_dir" "$second"
}

# reference_run DIR: the recorded run on the most GPUs; its name has no time.
reference_run() {
  local path name best='' most=0
  for path in "$1"/*; do
    name=${path##*/}
    if [[ -d $path && $name =~ ^[a-z0-9-]+x([1-9][0-9]*)$ ]] && ((BASH_REMATCH[1] > most)); then
      most=${BASH_REMATCH[1]}
      best=$path
    fi
  done
  printf '%s\n' "$best"
}

show_reference() {
  local reference references=${SYNC_REFERENCE_DIR:-$PROJECT_ROOT/results}
  if [[ -n $gpu_count ]]; then say "gpu_count $gpu_count is ignored: there is no NVIDIA GPU"; fi
  printf 'This machine has no NVIDIA GPU: nothing was measured here.\n'
  reference=$(reference_run "$references")
  if [[ -z $reference ]]; then
    printf 'There is no recorded reference run in %s.\n' "$references"
    return
  fi
  printf 'Recorded reference run, not of this machine: %s\n\n' "$reference"
  "$BASH" "$scripts/summary.sh" "$reference"
}

# read_devices: the --devices table into `devices`.
read_devices() {
  local status=0 log
  log=$(mktemp)
  devices=$("$build_dir/ImplicitBarrier" --devices 2>"$log") || status=$?
  if ((status)); then
    devices=$(first_line <"$log")
    rm -f "$log"
    if ((status == 3)); then die 3 "an NVIDIA GPU is present but cannot be used: $devices"; fi
    die 1 "ImplicitBarrier --devices failed with exit code $status: $devices"
  fi
  rm -f "$log"
}

check_gpu_count() {
  local present
  present=$(device_column "$devices" gpu | wc -l)
  ((present > 0)) || die 3 "an NVIDIA GPU is present but no CUDA device is visible"
  gpu_count=${gpu_count:-$present}
  ((gpu_count <= present)) ||
    die 2 "requested $gpu_count GPUs but only $present were found"
}

open_folder() {
  local options=''
  local -a setup=("$devices" "$gpu_count" "$build_dir/ImplicitBarrier" "$CUDA11_EXECUTABLE")
  if [[ -n $resume ]]; then
    resume_folder "$resume" "${setup[@]}"
  else
    new_folder "$results" "${setup[@]}"
  fi
  if ((!build)); then options=$(printf ' --build-dir %q' "$build_dir"); fi
  if [[ -n $CUDA11_EXECUTABLE && ($build == 0 || -n $given_cuda11_dir) ]]; then
    options+=$(printf ' --cuda11-build-dir %q' "${CUDA11_EXECUTABLE%/*}")
  fi
  resume_command=$(printf 'bash %q --resume %q%s' "$scripts/run.sh" "$folder" "$options")
}

measure_all() {
  measure ImplicitBarrier "$build_dir/ImplicitBarrier" "$gpu_count" --stats
  measure BenchmarkIntraSM "$build_dir/BenchmarkIntraSM" --stats
  measure BenchmarkInterSM "$build_dir/BenchmarkInterSM" "$gpu_count" --stats
  measure TestRepeat "$build_dir/TestRepeat" --stats
  if [[ -n $CUDA11_EXECUTABLE ]]; then
    measure BenchmarkInterSM.cuda11 "$CUDA11_EXECUTABLE" "$gpu_count" --stats \
      --method multi_grid_sync
    measure TestRepeat.cuda11 "${CUDA11_EXECUTABLE%/*}/TestRepeat" --stats \
      --method multi_grid_sync
  fi
}

main() {
  local name
  # Until watch_signals: while nothing has been measured there is nothing to save.
  trap 'die 130 "interrupted before measuring began"' INT
  trap 'die 143 "terminated before measuring began"' TERM
  trap 'die 129 "hung up before measuring began"' HUP
  parse_arguments "$@"
  if [[ -n $given_cuda11_dir ]]; then
    for name in BenchmarkInterSM TestRepeat; do
      [[ -x $given_cuda11_dir/$name ]] || die 1 "$given_cuda11_dir/$name is missing"
    done
  fi
  if [[ -n $resume ]]; then
    check_resumable "$resume"
    gpu_count=${gpu_count:-$(environment_value "$resume/environment.tsv" gpu_count)}
    check_count "gpu_count in $resume/environment.tsv" "$gpu_count"
    has_nvidia_gpu || die 3 "cannot resume $resume: this machine has no NVIDIA GPU"
  elif has_nvidia_gpu; then
    make_parent "$results"
  fi
  prepare_executables
  if ! has_nvidia_gpu; then
    show_reference
    return
  fi
  read_devices
  check_gpu_count
  prepare_multi_grid
  open_folder
  measure_all
  write_multi_gpu_barriers
  close_folder
  printf '\n'
  "$BASH" "$scripts/summary.sh" "$folder"
  printf '\nResults: %s\n' "$folder"
}

main "$@"
