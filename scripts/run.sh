#!/usr/bin/env bash
# The main job: measures everything on this machine.
# Usage: run.sh [GPU_COUNT] [OPTION]...
#
# Builds the suite, measures on 1 to GPU_COUNT GPUs (default: all of this machine), leaves
# the rows in a new folder results/<gpu>x<count>_<UTC time>/, shows the main numbers and writes a
# report into its folder report/. A run that is interrupted keeps what it has measured in a folder
# whose name ends in .partial. A report that cannot be written changes neither rows nor exit code.
#
# Without an NVIDIA GPU it shows the recorded runs, writes a report of one into build/report/, and
# then does as --simulated --quick. In a batch job (SLURM_JOB_ID, PBS_JOBID) it ends instead.
#
# CUDA 13 has no multi_grid_sync, and what is left of a warp barrier is the compiler's choice.
# Where there is an older CUDA Toolkit too (CUDA_BEFORE13_HOME, /usr/local/cuda-11.* or -12.*, or
# the distribution's), that one builds in build-before13/ and measures multi_grid_sync, all methods
# of BenchmarkIntraSM and TestRepeat and, of Reduction, the sums of one warp and by the
# multi-GPU barrier, in files that end in .before13.tsv.
#
#   --quick        measure the main barriers alone, in about half a minute
#   --method NAME[,NAME...]
#                  measure these methods alone
#   --all          measure all that the programs have (their option --all); on several GPUs Stencil
#                  and Libraries also with a process for each, where mpirun is there
#   --label TEXT   a name for this machine, in the folder's name and in environment.tsv
#   --require-gpu  exit code 3 at once on a machine without an NVIDIA GPU
#   --results DIR  put the folder in DIR instead of results/ or build/
#   --build        build everything, with or without a GPU, and measure nothing
#   --no-build     use the executables in build/ and, if they are there, build-before13/
#   --simulated    show how a run goes, on GPU_COUNT simulated GPUs (default: 1), which are built in
#                  build-simulated/. Its rows and its report, of made-up costs, are in
#                  build/simulated_<gpu>x<count>_<UTC time>/
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
# 2 bad usage; 3 no usable CUDA device although a GPU is present, or no GPU and --require-gpu or a
# batch job; 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/parts/lib.sh
source "$scripts/parts/lib.sh"
# shellcheck source=scripts/parts/toolchain.sh
source "$scripts/parts/toolchain.sh"

gpus=()
results=
build=1
measure=1
simulated=()
options=()
require_gpu=
chosen=  # the option that says which methods
methods= # "quick" or names; empty: others

while (($#)); do
  case $1 in
    -h | --help) usage ;;
    --build) measure= ;;
    --no-build) build= ;;
    --simulated) simulated=(--simulated) ;;
    --require-gpu) require_gpu=1 ;;
    --quick | --all | --method)
      [[ -z $chosen ]] || die 2 "only one --quick, --all or --method can be given (try --help)"
      options+=("$1")
      chosen=$1
      if [[ $1 == --quick ]]; then
        methods=quick
      elif [[ $1 == --method ]]; then
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
if [[ -n $results ]]; then # before a build of minutes
  [[ $results != *[[:cntrl:]]* ]] || die 2 "--results has a character that cannot be shown"
  above=$results
  until [[ -e $above ]]; do above=$(dirname -- "$above"); done
  [[ -d $above && -w $above ]] || die 1 "--results: $above is not a folder that can be written"
fi
[[ -n $build || -n $measure ]] || die 2 "--build and --no-build leave nothing to do (try --help)"

recorded=()
for reference in "$PROJECT_ROOT"/results/*x[0-9]*/; do
  [[ -d $reference && ${reference##*x} != *_*Z* ]] || continue # a run of the user's own
  recorded+=("$reference")
done
report=$PROJECT_ROOT/build/report # of these
# is_current: whether it need not be drawn again.
is_current() {
  [[ -e $report/report.html && -z $(find "${recorded[@]}" "$scripts" -newer "$report/report.html" \
    \( -name '*.py' -o -name '*.tsv' -o -name 'page.*' -o -name '*.mplstyle' \) -print -quit) ]] &&
    { compgen -G "$report/figures/*/*.png" >/dev/null || ! python3 -c 'import matplotlib' 2>/dev/null; }
}
show_recorded() {
  printf 'Recorded on other machines:\n\n'
  run python3 "$scripts/summary.py" --short "${recorded[@]}"
  if is_current || run python3 "$scripts/report.py" "${recorded[@]: -1}" --out "$report" >/dev/null; then
    printf '\nReport of a recorded run: %s\n\n' "$report/report.html"
  else
    say "warning: there is no report of a recorded run, see above"
  fi
  recorded=()
}
if ((${#simulated[@]})) || [[ -z $measure ]] || has_nvidia_gpu; then
  recorded=()
else
  [[ -z $require_gpu ]] || die 3 "this machine has no NVIDIA GPU"
  [[ -z ${SLURM_JOB_ID:-}${PBS_JOBID:-} ]] ||
    die 3 "this machine has no NVIDIA GPU, and a batch job simulates one only with --simulated"
  printf 'This machine has no NVIDIA GPU: what follows is recorded or simulated.\n\n'
  simulated=(--simulated)
  [[ -n $chosen ]] || options+=(--quick)
fi
# Before anything is fetched, unless Python itself is.
if ((${#recorded[@]})) && (require_python) 2>/dev/null; then show_recorded; fi
# shellcheck disable=SC2119  # none of them are for it
[[ -z $build ]] || require_tools
require_python
if ((${#recorded[@]})); then show_recorded; fi

preset=release
folder=build
executables=build
if ((${#simulated[@]})); then
  preset=simulated
  folder="build-simulated"
  executables=$folder/simulated
  # shellcheck disable=SC2034  # for build()
  mapfile -t BUILD_TARGETS < <(
    sed -n 's/^ *Program("\(\w*\)".*/simulated_\1/p' "$scripts/parts/suite.py")
fi
older= # nvcc
if [[ -n $build ]]; then
  if [[ $preset == release && $(release_of "$NVCC") != 1[12].* ]]; then older=$(find_older_nvcc); fi
  KEPT="what was built is in $folder/" run build "$NVCC" "$preset" "$folder" -DBUILD_TESTING=OFF || die 1 "the build failed, see above"
fi
[[ -x $PROJECT_ROOT/$executables/Pitfalls ]] || die 1 "there is no Pitfalls in $executables/:" \
  "'scripts/run.sh --build${simulated[*]:+ --simulated}' builds it"
# For what CUDA 13 lacks.
if [[ -n $older && $methods == quick ]]; then
  older=
elif [[ -n $older && -n $methods ]]; then
  lacking=$(python3 "$scripts/parts/lacking_methods.py" "$PROJECT_ROOT/build" "$methods") || exit
  [[ -n $lacking ]] || older=
fi
if [[ -n $older ]] && ! KEPT="what was built is in build/ and build-$BEFORE_13/" \
  run build "$older" "$BEFORE_13" "build-$BEFORE_13" -DBUILD_TESTING=OFF; then
  say "warning: the build with $older failed: multi_grid_sync and that toolkit's warp barriers are" \
    "not measured"
fi
if [[ -z $measure ]]; then
  printf 'Built: %s/\n' "$executables"
elif ((${#simulated[@]})); then
  exec python3 "$scripts/measure.py" "$PROJECT_ROOT/$executables" --simulated \
    --results "${results:-$PROJECT_ROOT/build}" "${gpus[@]}" "${options[@]}"
else
  exec python3 "$scripts/measure.py" "$PROJECT_ROOT/build" --older "$PROJECT_ROOT/build-$BEFORE_13" \
    --results "${results:-$PROJECT_ROOT/results}" "${gpus[@]}" "${options[@]}"
fi
