# shellcheck shell=bash
# What all scripts share: messages, argument checks, programs that a signal ends, is there
# a GPU. Sourced, never run. SYNC_SYSTEM_ROOT stands in for / in tests.

# shellcheck disable=SC2034  # for the scripts that source this
PROJECT_ROOT=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

say() {
  printf '%s\n' "$*" >&2
}

# die CODE MESSAGE: one line on stderr, then exit CODE.
die() {
  say "${0##*/}: ${*:2}" || true # where the terminal is gone, the code still tells
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

# run COMMAND...: its exit status. A signal ends it, then this script; bash alone would
# let the command finish first. Hence a job of its own, in its own process group.
run() {
  local status=0
  # Before it starts, for a signal may come as soon as it does.
  trap 'stop_job "${!:-}" 2' INT && trap 'stop_job "${!:-}" 15' TERM && trap 'stop_job "${!:-}" 1' HUP
  set -m
  "$@" </dev/null &
  set +m
  wait $! || status=$?
  trap - INT TERM HUP
  return "$status"
}

stop_job() {
  trap '' INT TERM HUP
  kill -TERM -- "-$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
  die $((128 + $2)) interrupted
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
