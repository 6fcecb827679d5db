# shellcheck shell=bash
# What all scripts share: messages, argument checks, programs that a signal ends, is there
# a GPU. Sourced, never run. SYNC_SYSTEM_ROOT stands in for / in tests.

# It changes how bash, and all that it starts, reads options and much else.
unset POSIXLY_CORRECT
set +o posix

# shellcheck disable=SC2034  # for the scripts that source this
PROJECT_ROOT=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")

# The preset and the build of a toolkit before CUDA 13, as OLDER in suite.py.
# shellcheck disable=SC2034  # for run.sh
BEFORE_13=before13

say() {
  printf '%s\n' "$*" >&2
}

# die CODE MESSAGE: one line on stderr, then exit CODE.
die() {
  local message="${0##*/}: ${*:2}"
  message=${message//[[:cntrl:]]/?}
  say "${message:0:2000}" || true # where the terminal is gone, the code still tells
  exit "$1"
}

# usage: shows the comment block at the top of the script and ends it.
usage() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0" || exit 1
  exit 0
}

# check_count NAME TEXT: refuses everything but a plain number from 1 to 9999.
check_count() {
  [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] ||
    die 2 "$1 must be a whole number from 1 to 9999, not '$2' (try --help)"
}

# require_python: what all the Python scripts need.
require_python() {
  local version
  version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
    die 1 "python3 is missing, 3.9 or newer; on Debian or Ubuntu: sudo apt-get install python3"
  [[ $(printf '%s\n' 3.9 "$version" | sort -V | head -n 1) == 3.9 ]] ||
    die 1 "Python 3.9 or newer is needed, python3 is $version: put a newer one first on PATH"
}

# run COMMAND...: its exit status. A signal ends it, then this script, which says what KEPT
# says; bash alone would let the command finish first. Hence a job of its own, in its own process group, and a
# watcher, which ends that group when SIGKILL has ended this script.
run() {
  local status=0 watcher
  # Before it starts, for a signal may come as soon as it does.
  trap 'stop_job "${!:-}" 2' INT && trap 'stop_job "${!:-}" 15' TERM && trap 'stop_job "${!:-}" 1' HUP
  set -m
  coproc watch_job
  watcher=$COPROC_PID # which bash forgets when it ends
  "$@" </dev/null &
  set +m
  printf '%s\n' "$!" >&"${COPROC[1]}"
  wait $! || status=$?
  trap - INT TERM HUP
  printf 'it has ended\n' >&"${COPROC[1]}"
  wait "$watcher" || true
  return "$status"
}

stop_job() {
  trap '' INT TERM HUP
  if [[ $1 != "${COPROC_PID:-}" ]]; then # else there is only the watcher
    kill -TERM -- "-$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
  fi
  die $((128 + $2)) "interrupted${KEPT:+; $KEPT}"
}

# watch_job: reads the number of the job's group, then waits for a second line, or for the
# end of this script, which alone has the other end of the pipe.
watch_job() {
  local group tries
  trap '' INT TERM HUP
  # It may live longer than this script by some seconds, which nobody is to wait for: what is
  # left of the job has the lock of locked() open itself.
  exec 2>/dev/null
  [[ -z ${lock:-} ]] || exec {lock}>&-
  read -r group || return 0
  if read -r; then return 0; fi
  kill -TERM -- "-$group" || return 0
  for ((tries = 0; tries < 50; tries++)); do
    sleep 0.1
    kill -0 -- "-$group" || return 0
  done
  kill -KILL -- "-$group"
}

# locked FILE COMMAND...: its exit status. Scripts that name the same FILE do it in turn.
locked() {
  local lock status=0
  mkdir -p "${1%/*}" && exec {lock}>>"$1" || return 1
  flock -n "$lock" || status=$?
  if ((status == 1)); then # other codes: the file system has no locks
    say "waiting for another script that works in ${1%/*}"
    run flock "$lock"
  fi
  status=0
  "${@:2}" || status=$?
  flock -u "$lock" || true # a server that the command has started may still have it open
  exec {lock}>&-
  return "$status"
}

# has_nvidia_gpu: the hardware, whether or not a driver works: a broken driver must not
# look like a machine without GPU.
has_nvidia_gpu() {
  local root=${SYNC_SYSTEM_ROOT:-} device
  for device in "$root"/sys/bus/pci/devices/*; do
    if [[ $(cat "$device/vendor" 2>/dev/null) == 0x10de &&
      $(cat "$device/class" 2>/dev/null) == 0x03* ]]; then return 0; fi
  done
  # Containers show device nodes but not always the PCI bus. WSL has /dev/dxg for a GPU of
  # any maker; its NVIDIA driver brings a libcuda.
  compgen -G "$root/dev/nvidia[0-9]*" >/dev/null ||
    compgen -G "$root/proc/driver/nvidia/gpus/*" >/dev/null ||
    { [[ -e $root/dev/dxg ]] && compgen -G "$root/usr/lib/wsl/lib/libcuda.so*" >/dev/null; }
}
