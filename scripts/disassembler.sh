#!/usr/bin/env bash
# Usage: disassembler.sh EXECUTABLE
#
# Prints the folder of a cuobjdump and an nvdisasm that can read all machine
# code of EXECUTABLE: those on PATH, of CUDA_HOME, of /usr/local/cuda, of the
# distribution; else NVIDIA's pip packages, which are kept in disassembler/ beside
# EXECUTABLE (SYNC_NO_INSTALL=1 forbids that). A toolkit reads what is no newer
# than itself, and CUDA 13 nothing of GPUs before sm_75.
#
# Exit codes: 0 found; 1 none can be had here; 2 EXECUTABLE has no machine code,
# or bad usage.
set -euo pipefail
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/lib.sh
source "$scripts/lib.sh"

# Those of CUDA 13 read sm_75 and later; a later major version may read less.
readonly PACKAGES=('nvidia-cuda-cuobjdump==13.*' 'nvidia-cuda-nvdisasm==13.*')

# has_tools FOLDER
has_tools() {
  [[ -x $1/cuobjdump && -x $1/nvdisasm ]]
}

# can_read FOLDER EXECUTABLE: tries all of it, in $work; nothing else shows
# whether an architecture is too new or too old. Ends the script where there is
# nothing to read.
can_read() {
  local code found=0
  rm -rf "$work/code"
  mkdir "$work/code"
  if ! (cd "$work/code" && "$1/cuobjdump" -xelf all "$2") >"$work/log" 2>&1; then
    if grep -q 'does not contain device code' "$work/log"; then die 2 "$2 has no GPU code"; fi
    return 1
  fi
  for code in "$work"/code/*.cubin; do
    [[ -e $code ]] || continue
    found=1
    "$1/nvdisasm" -c "$code" >/dev/null 2>&1 || return 1
  done
  ((found)) || die 2 "$2 has no GPU machine code"
}

# candidates: folders with both tools, the preferred first.
candidates() {
  local folder
  {
    command -v cuobjdump nvdisasm || true
    printf '%s/x\n' "${CUDA_HOME:+$CUDA_HOME/bin}" /usr/local/cuda/bin /usr/bin
  } | while IFS= read -r folder; do
    folder=${folder%/*}
    if [[ -n $folder ]] && has_tools "$folder"; then printf '%s\n' "$folder"; fi
  done | awk '!seen[$0]++'
}

# install FOLDER: both packages; nothing is left behind when that fails.
install() {
  local package wheel
  say "installing: ${PACKAGES[*]}"
  mkdir "$work/wheels" "$work/tools" || return 1
  for package in "${PACKAGES[@]}"; do
    python3 -m pip download -q --no-deps --disable-pip-version-check --retries 1 \
      --timeout 20 -d "$work/wheels" "$package" >"$work/log" 2>&1 </dev/null || return 1
  done
  for wheel in "$work"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$work/tools" || return 1
  done
  # The archive does not keep permissions, and cuobjdump looks for nvdisasm
  # beside itself.
  find "$work/tools" -type f \( -name cuobjdump -o -name nvdisasm \) \
    -exec mkdir -p "$work/bin" \; -exec chmod +x {} + -exec mv -t "$work/bin" {} +
  has_tools "$work/bin" || return 1
  # Another process may have been faster.
  mv -T "$work/bin" "$1" 2>/dev/null || has_tools "$1"
}

main() {
  local executable private folder reason
  case ${1:-} in
    -h | --help) usage && exit 0 ;;
  esac
  (($# == 1)) || die 2 "one executable is needed (try --help)"
  [[ -f $1 && -r $1 ]] || die 2 "cannot read $1"
  executable=$(absolute "$1")
  private=${executable%/*}/disassembler
  # Beside the executable, so that what is installed can be moved there at once.
  work=$(mktemp -d "${executable%/*}/disassembler.XXXXXX" 2>/dev/null || mktemp -d)
  trap 'rm -rf "$work"' EXIT
  while IFS= read -r folder; do
    if can_read "$folder" "$executable"; then
      printf '%s\n' "$folder"
      return
    fi
  done < <(candidates)
  if has_tools "$private"; then
    reason="and $private cannot read it"
  elif [[ -n ${SYNC_NO_INSTALL:-} ]]; then
    reason="and SYNC_NO_INSTALL forbids installing NVIDIA's pip packages"
  elif install "$private"; then
    reason="and NVIDIA's pip packages cannot read it"
  else
    reason="and pip could not install NVIDIA's packages: $(tail -n 1 "$work/log" 2>/dev/null)"
  fi
  if has_tools "$private" && can_read "$private" "$executable"; then
    printf '%s\n' "$private"
    return
  fi
  die 1 "no disassembler for $1: no cuobjdump and nvdisasm here read it, $reason"
}

main "$@"
