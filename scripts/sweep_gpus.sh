#!/usr/bin/env bash
# Runs one executable on 1, 2, 3, ... GPUs.
# Usage: sweep_gpus.sh EXE MAX [-o DIR] [-- ARG...]
#
# Runs EXE COUNT ARG... for COUNT = 1 to MAX and keeps the standard output of each as
# <EXE name>_x<COUNT>.tsv in a new folder. EXE takes a GPU count as its first argument: a
# path, the name of one in build/, or a command on PATH. The first failure ends the sweep;
# what was measured until then is kept.
#
#   -o DIR      the folder (default results/<EXE name>_sweep_<UTC time>)
#   -h, --help  show this text
#
# Exit codes: 0 complete; 1 the folder cannot be made; 2 bad usage, also a folder that
# exists; 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM; else that of the run that failed.
set -euo pipefail
# shellcheck source=scripts/parts/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/parts/lib.sh"

positional=()
folder=
while (($#)); do
  case $1 in
    -h | --help) usage ;;
    -o)
      [[ -n ${2:-} ]] || die 2 "-o needs a folder (try --help)"
      folder=$2
      shift
      ;;
    --)
      shift
      break
      ;;
    -[!0-9]*) die 2 "unknown option '$1' (try --help)" ;;
    *) positional+=("$1") ;;
  esac
  shift
done
((${#positional[@]} == 2)) || die 2 "needs an executable and a number of GPUs (try --help)"
check_count MAX "${positional[1]}"
executable=$(PATH=$PROJECT_ROOT/build:$PATH type -P "${positional[0]}") ||
  die 2 "${positional[0]} is not an executable"
name=${executable##*/}
folder=${folder:-$PROJECT_ROOT/results/${name}_sweep_$(date -u +%Y%m%dT%H%M%SZ)}
[[ ! -e $folder ]] || die 2 "$folder exists already"
mkdir -p "$folder" || die 1 "cannot make the folder $folder"
for ((count = 1; count <= positional[1]; count++)); do
  say "$count of ${positional[1]}: $name $count${*:+ $*}"
  status=0
  run "$executable" "$count" "$@" >"$folder/${name}_x$count.tsv" || status=$?
  ((status == 0)) || die "$status" "$name $count failed with exit code $status; what was measured is in $folder"
done
printf 'Results: %s\n' "$folder"
