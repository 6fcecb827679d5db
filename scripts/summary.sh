#!/usr/bin/env bash
# Usage: summary.sh DIR
#
# Prints the main figures of a results folder, mean ± standard deviation: launch
# overheads, block barrier, grid barrier, multi-GPU barrier where one was
# measured. A figure that the folder does not have is shown as "not measured".
#
# Exit codes: 0 printed; 2 bad usage, also a folder without results.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/lib.sh
source "$scripts/lib.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  usage
  exit 0
fi
(($# == 1)) || die 2 "needs one results folder (try --help)"
[[ -d $1 ]] || die 2 "$1 is not a folder"

# A file that is not there is empty: all its figures are then not measured.
file() {
  if [[ -r $1 ]]; then printf './%s\n' "$1"; else printf '/dev/null\n'; fi
}

cd "$1"
[[ -r environment.tsv || -r ImplicitBarrier.tsv || -r BenchmarkIntraSM.tsv ||
  -r BenchmarkInterSM.tsv || -r BenchmarkInterSM.cuda11.tsv ]] ||
  die 2 "$1 is not a results folder"
LC_ALL=C awk -F '\t' -f "$scripts/summary.awk" \
  kind=environment "$(file environment.tsv)" \
  kind=implicit "$(file ImplicitBarrier.tsv)" \
  kind=intra "$(file BenchmarkIntraSM.tsv)" \
  kind=inter "$(file BenchmarkInterSM.tsv)" "$(file BenchmarkInterSM.cuda11.tsv)"
