#!/usr/bin/env bash
# Usage: sweep_gpus.sh EXE MAX [-o DIR] [-- ARG...]
#
# Runs EXE COUNT ARG... for COUNT = 1 to MAX and keeps the stdout of each as
# <EXE name>_x<COUNT>.tsv in a new folder. EXE is any executable that takes a
# GPU count as its first argument: a path, the name of one of the suite's in
# build/ or build-cuda11/, or a command on PATH. The first failure ends the
# sweep; what was measured until then is kept.
#
#   -o DIR      the folder (default results/<EXE name>_sweep_<UTC time>, with
#               -2, -3, ... where that is taken)
#   -h, --help  show this text
#
# Exit codes: 0 complete; 1 the folder cannot be written; 2 bad usage, also a
# folder that exists; 129, 130 or 143 ended by SIGHUP, Ctrl-C or SIGTERM;
# otherwise the exit code of the run that failed.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/lib.sh
source "$scripts/lib.sh"
# shellcheck source=scripts/signals.sh
source "$scripts/signals.sh"

executable=
max=
folder=
output=
extra=()

parse_arguments() {
  local -a positional=()
  while (($#)); do
    case $1 in
      -h | --help) usage && exit 0 ;;
      -o) need_value "$@" && folder=$(absolute "$2") && shift ;;
      --)
        shift
        extra=("$@")
        break
        ;;
      -[!0-9]*) die 2 "unknown option '$1' (try --help)" ;;
      *) positional+=("$1") ;;
    esac
    shift
  done
  ((${#positional[@]} == 2)) || die 2 "needs an executable and a number of GPUs (try --help)"
  check_count MAX "${positional[1]}"
  max=${positional[1]}
  executable=$(find_executable "${positional[0]}")
}

find_executable() {
  local candidate built
  built=$(built_folder "$1")
  for candidate in "$1" "${built:+$built/$1}" "$(command -v "$1" || true)"; do
    if [[ -n $candidate && -f $candidate && -x $candidate ]]; then
      # A link keeps its name: some programs look at theirs.
      if [[ $candidate != /* ]]; then candidate=$PWD/$candidate; fi
      printf '%s\n' "$candidate"
      return
    fi
  done
  die 2 "$1 is not an executable"
}

make_folder() {
  local base name number=1
  if [[ -n $folder && -e $folder ]]; then die 2 "$folder exists already"; fi
  base=${folder:-$PROJECT_ROOT/results/${executable##*/}_sweep_$(utc_stamp)}
  make_parent "$(dirname "$base")"
  name=$base
  # Two sweeps of one second do not share a folder.
  while ! mkdir "$name" 2>/dev/null; do
    [[ -z $folder && -e $name ]] || die 1 "cannot create the folder $name"
    number=$((number + 1))
    name=$base-$number
  done
  folder=$name
}

run_one() {
  local count=$1 status=0
  output=$folder/${executable##*/}_x$count.tsv
  say "$count of $max: ${executable##*/} $count${extra[*]+ ${extra[*]}}"
  run_program "$executable" "$count" ${extra[@]+"${extra[@]}"} >"$output.part" || status=$?
  if ((status == 0)); then mv "$output.part" "$output"; fi
  if ((signal_status)); then stop "$signal_status" interrupted; fi
  if ((status == 0)); then return; fi
  can_write "$folder" ||
    stop 1 "cannot write to $folder: no permission, or the disk is full"
  stop "$status" "${executable##*/} $count failed with exit code $status"
}

# stop CODE MESSAGE: ends the sweep; only what has rows is kept.
stop() {
  drop_cut_row "$output.part"
  [[ -s $output.part ]] || rm -f "$output.part"
  if rmdir "$folder" 2>/dev/null; then die "$1" "$2"; fi
  die "$1" "$2; what was measured is in $folder"
}

parse_arguments "$@"
make_folder
watch_signals
for ((count = 1; count <= max; count++)); do run_one "$count"; done
printf 'Results: %s\n' "$folder"
