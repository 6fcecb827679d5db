#!/usr/bin/env bash
# Runs one program of the suite on 1, 2, 3, ... GPUs.
# Usage: sweep_gpus.sh EXE MAX [-o DIR] [--simulated] [-- ARG...]
#
# Runs EXE COUNT --stats ARG... for COUNT = 1 to MAX. DIR gets a results folder for each COUNT,
# which report.py, compare.py, check.py and summary.py read. EXE is one of the programs that take
# a GPU count: a path, or the name of one in build/. The first failure ends the sweep; what was
# measured until then is kept.
#
#   -o DIR       where the folders are made (default results/<EXE name>_sweep_<UTC time>)
#   --simulated  EXE is on simulated GPUs: a path, or the name of one in build-simulated/simulated/
#   -h, --help   show this text
#
# Exit codes: those of run.sh; 2 also where DIR exists.
set -euo pipefail
# shellcheck source=scripts/parts/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/parts/lib.sh"

positional=()
folder=
simulated=()
while (($#)); do
  case $1 in
    -h | --help) usage ;;
    -o)
      [[ -n ${2:-} ]] || die 2 "-o needs a folder (try --help)"
      folder=$2
      shift
      ;;
    --simulated) simulated=(--simulated) ;;
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
executable=$(PATH=$PROJECT_ROOT/build${simulated:+-simulated/simulated} type -P "${positional[0]}") ||
  die 2 "${positional[0]} is not an executable"
executable=$(realpath -s "$executable")
name=${executable##*/}
folder=${folder:-$PROJECT_ROOT/results/${name}_sweep_$(date -u +%Y%m%dT%H%M%SZ)}
[[ ! -e $folder ]] || die 2 "$folder exists already"
require_python
measure=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/measure.py
for ((count = 1; count <= positional[1]; count++)); do
  say "$name on $count of ${positional[1]} GPUs"
  run python3 "$measure" --program "$name" --gpus "$count" --results "$folder" "${simulated[@]}" \
    "${executable%/*}" -- "$@"
done
