#!/usr/bin/env bash
# Usage: sweep_gpus.sh EXE MAX [-o DIR] [-- ARG...]
#
# Runs EXE COUNT ARG... for COUNT = 1 to MAX and keeps the stdout of each as
# <EXE name>_x<COUNT>.tsv in a new folder. EXE is a path, the name of one of the
# suite's executables in build/, or a command on PATH. The first failure ends
# the sweep; what was measured until then is kept.
#
#   -o DIR  the folder (default results/<EXE name>_sweep_<UTC time>)
#   --help  show this text
#
# Exit codes: 0 complete; 1 the folder cannot be written; 2 bad usage, also a
# folder that exists; otherwise the exit code of the run that failed.
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$scripts/lib.sh"

executable=
max=
folder=
output=
extra=()

parse_arguments() {
  local -a positional=()
  while (($#)); do
    case $1 in
      --help) usage && exit 0 ;;
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
  local candidate
  for candidate in "$1" "$PROJECT_ROOT/build/$1" "$(command -v "$1" || true)"; do
    if [[ -n $candidate && -f $candidate && -x $candidate ]]; then
      absolute "$candidate"
      return
    fi
  done
  die 2 "$1 is not an executable"
}

make_folder() {
  folder=${folder:-$PROJECT_ROOT/results/${executable##*/}_sweep_$(utc_stamp)}
  [[ ! -e $folder ]] || die 2 "$folder exists already"
  make_parent "$(dirname "$folder")"
  mkdir "$folder" 2>/dev/null || die 1 "cannot create the folder $folder"
}

run_one() {
  local count=$1 status=0
  output=$folder/${executable##*/}_x$count.tsv
  say "$count of $max: ${executable##*/} $count ${extra[*]-}"
  "$executable" "$count" ${extra[@]+"${extra[@]}"} </dev/null >"$output.part" || status=$?
  if ((status == 0)); then
    mv "$output.part" "$output"
    return
  fi
  drop_cut_row "$output.part"
  can_write "$folder" || die 1 "cannot write to $folder: no permission, or the disk is full"
  die "$status" "${executable##*/} $count failed with exit code $status;" \
    "what was measured is in $folder"
}

# interrupted CODE: called when the executable, which got the signal too, has ended.
interrupted() {
  drop_cut_row "$output.part"
  die "$1" "interrupted; what was measured is in $folder"
}

parse_arguments "$@"
make_folder
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
for ((count = 1; count <= max; count++)); do run_one "$count"; done
printf 'Results: %s\n' "$folder"
