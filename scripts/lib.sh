# shellcheck shell=bash
# What every script shares: messages, argument checks, is there a GPU.
# Sourced, never run. SYNC_SYSTEM_ROOT stands in for / in tests.

# shellcheck disable=SC2034  # for the scripts that source this
PROJECT_ROOT=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
SCRIPT_NAME=${0##*/}

say() {
  printf '%s\n' "$*" >&2
}

# die CODE MESSAGE: one line on stderr, then exit CODE.
die() {
  local code=$1
  shift
  # Where the terminal is gone, the code still tells.
  printf '%s: %s\n' "$SCRIPT_NAME" "$*" >&2 || true
  exit "$code"
}

# usage: the comment block at the top of the calling script, so that the text
# is written once.
usage() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
}

# need_value OPTION [VALUE]...: a usage error when the option has no value.
need_value() {
  [[ -n ${2:-} ]] || die 2 "$1 needs a value (try --help)"
}

# check_count NAME TEXT: refuses everything but a plain positive number. Four
# digits are more GPUs than any node has and cannot overflow anything.
check_count() {
  [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] ||
    die 2 "$1 must be a whole number from 1 to 9999, not '$2'"
}

utc_stamp() {
  date -u +%Y%m%dT%H%M%SZ
}

# has_nvidia_gpu: the hardware, whether or not a driver works. nvidia-smi is
# not asked, because a broken driver must not look like a machine without GPU.
has_nvidia_gpu() {
  local root=${SYNC_SYSTEM_ROOT:-} entry vendor class
  for entry in "$root"/sys/bus/pci/devices/*; do
    [[ -r $entry/vendor && -r $entry/class ]] || continue
    vendor=$(<"$entry/vendor")
    class=$(<"$entry/class")
    if [[ $vendor == 0x10de && $class == 0x03* ]]; then return 0; fi
  done
  # Containers show the device nodes but not always the PCI bus.
  for entry in "$root"/proc/driver/nvidia/gpus/* "$root"/dev/nvidia[0-9]*; do
    if [[ -e $entry ]]; then return 0; fi
  done
  # WSL has /dev/dxg for a GPU of any maker; its NVIDIA driver brings a libcuda.
  for entry in "$root"/usr/lib/wsl/lib/libcuda.so*; do
    if [[ -e $entry && -e $root/dev/dxg ]]; then return 0; fi
  done
  return 1
}

# built_folder EXECUTABLE: the build folder that has it, empty when none does.
built_folder() {
  local folder
  for folder in "$PROJECT_ROOT/build" "$PROJECT_ROOT/build-cuda11"; do
    if [[ -f $folder/$1 && -x $folder/$1 ]]; then
      printf '%s\n' "$folder"
      return
    fi
  done
}

# can_write DIR: tries a small file, so that a full disk is noticed too.
can_write() {
  local probe=$1/.write_test.$$ status=0
  { printf '%4096s' '' >"$probe"; } 2>/dev/null || status=1
  rm -f "$probe" 2>/dev/null || true
  return "$status"
}

# make_parent DIR: DIR exists afterwards and can be written.
make_parent() {
  mkdir -p "$1" 2>/dev/null || die 1 "cannot create the folder $1"
  can_write "$1" || die 1 "cannot write to $1: no permission, or the disk is full"
}

# absolute PATH: PATH seen from the root folder, without links, "..", or a
# trailing slash; it need not exist.
absolute() {
  readlink -m -- "$1"
}

# drop_cut_row FILE: a process that was killed, or that met a full disk, can
# leave half a row. Truncating needs no free space, rewriting would.
drop_cut_row() {
  [[ -s $1 && -n $(tail -c 1 "$1") ]] || return 0
  truncate -s "-$(tail -n 1 "$1" | wc -c)" "$1"
}
