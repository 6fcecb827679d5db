#!/usr/bin/env bash
# Usage: multi_gpu_barriers.sh DIR
#
# The multi-GPU barriers of a results folder side by side (Figure 9 of the
# study), as tab-separated values: a row for each GPU count, mean nanoseconds.
#   multi_cooperative_launch, single_omp_traditional_launch
#       one more launch that is also a barrier, by kernel fusion (m(ovh))
#   multi_grid_sync, peer_grid_sync at BxT
#       one barrier of B blocks per SM of T threads (m(avginstru)): 1x32 is the
#       fastest case, 32x64 the slowest, 1x1024 a general one
# What was not measured is nan. run.sh writes this to multi_gpu_barriers.tsv.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/lib.sh
source "$scripts/lib.sh"

case ${1:-} in
  -h | --help) usage && exit 0 ;;
  '') die 2 "a results folder is needed (try --help)" ;;
esac
folder=$1
files=()
for name in ImplicitBarrier BenchmarkInterSM BenchmarkInterSM.cuda11; do
  if [[ -r $folder/$name.tsv ]]; then files+=("$folder/$name.tsv"); fi
done
((${#files[@]})) || die 2 "$folder is not a results folder"

awk -F '\t' -v OFS='\t' '
  # SMs of the GPU: blocks per SM are not in the rows.
  /^# gpu 0:/ && match($0, /[0-9]+ SMs/) { sms = substr($0, RSTART, RLENGTH) + 0 }
  /^#/ { title = $0; sub(/^# */, "", title); sub(/:.*/, "", title); next }
  $1 == "method" {
    split("", at)
    for (i = 1; i <= NF; i++) at[$i] = i
    section = title
    next
  }
  section == "sleep kernel" { keep($1, $at["GPUCount"], $at["m(ovh)"]) }
  section == "multi-GPU latency" {
    keep($1 " " ($at["blk"] / sms) "x" $at["thrd"], $at["GPUcount"],
         $at["m(avginstru)"])
  }
  function keep(name, gpus, value) {
    found[name, gpus] = value
    if (gpus + 0 > most) most = gpus + 0
  }
  END {
    count = split("multi_cooperative_launch,single_omp_traditional_launch," \
                  "multi_grid_sync 1x32,multi_grid_sync 32x64," \
                  "multi_grid_sync 1x1024,peer_grid_sync 1x32," \
                  "peer_grid_sync 32x64,peer_grid_sync 1x1024", names, ",")
    line = "GPUCount"
    for (i = 1; i <= count; i++) line = line OFS names[i]
    print line
    for (gpus = 1; gpus <= most; gpus++) {
      line = gpus
      for (i = 1; i <= count; i++) {
        value = (names[i], gpus) in found ? found[names[i], gpus] : "nan"
        line = line OFS value
      }
      print line
    }
  }' "${files[@]}"
