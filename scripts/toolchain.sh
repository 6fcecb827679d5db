# shellcheck shell=bash
# What a build needs: packages, a CUDA Toolkit, the CMake preset that fits it.
# Sourced after lib.sh. SYNC_NO_INSTALL=1 forbids every installation.

may_install() {
  if [[ -n ${SYNC_NO_INSTALL:-} ]] || ! command -v apt-get >/dev/null; then return 1; fi
  ((EUID == 0)) || sudo -n true 2>/dev/null
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi
}

# apt_install PACKAGE...: quiet; fails with one line that says why. The package
# lists are refreshed only when they are needed, so that what is already in
# apt's cache installs offline.
apt_install() {
  local log reason
  local -a install=(env DEBIAN_FRONTEND=noninteractive
    apt-get install -y -q --no-install-recommends "$@")
  say "installing: $*"
  log=$(mktemp)
  if as_root "${install[@]}" </dev/null >"$log" 2>&1 ||
    { as_root apt-get update -q </dev/null >"$log" 2>&1 &&
      as_root "${install[@]}" </dev/null >"$log" 2>&1; }; then
    rm -f "$log"
    return 0
  fi
  reason=$(grep -m 1 '^E: ' "$log" || tail -n 1 "$log")
  rm -f "$log"
  say "apt-get could not install $* (is this machine offline?): ${reason:-no reason given}"
  return 1
}

# require_packages PACKAGE...: installs them where that is allowed, or names
# them and ends the script.
require_packages() {
  (($#)) || return 0
  if may_install && apt_install "$@"; then return 0; fi
  die 1 "missing packages: $*; on Debian or Ubuntu: sudo apt-get install $*"
}

# missing_tools COMMAND:PACKAGE...: the packages of the commands that are not there.
missing_tools() {
  local pair
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || printf '%s\n' "${pair#*:}"
  done
}

require_build_tools() {
  local -a missing
  mapfile -t missing < <(missing_tools cmake:cmake c++:g++ make:make)
  if grep -q '"Ninja"' "$PROJECT_ROOT/CMakePresets.json" 2>/dev/null; then
    mapfile -t -O "${#missing[@]}" missing < <(missing_tools ninja:ninja-build)
  fi
  require_packages "${missing[@]}"
  require_toolkit
}

require_test_tools() {
  local -a missing
  mapfile -t missing < <(missing_tools python3:python3 shellcheck:shellcheck)
  # A GoogleTest that the user points CMake to counts as there.
  if [[ -z ${GTest_DIR:-}${GTest_ROOT:-}${CMAKE_PREFIX_PATH:-} &&
    ! -e /usr/include/gtest/gtest.h && ! -e /usr/local/include/gtest/gtest.h ]]; then
    missing+=(libgtest-dev)
  fi
  require_packages "${missing[@]}"
}

# nvcc_release NVCC: "13.0"; empty when it does not run.
nvcc_release() {
  "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p' || true
}

# find_nvcc: the nvcc to use, empty when there is none. A distribution's
# /usr/bin/nvcc comes last: being on PATH it is nobody's choice, and it is
# usually the older one.
find_nvcc() {
  local found candidate
  found=$(command -v nvcc || true)
  for candidate in "${CUDACXX:-}" "${found/#\/usr\/bin\/nvcc/}" \
    "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc "$found"; do
    if [[ -n $candidate && -x $candidate ]]; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
}

# shellcheck disable=SC2034  # set for the scripts that source this
# require_toolkit: leaves NVCC, NVCC_RELEASE, PRESET and BUILD_DIR set.
require_toolkit() {
  NVCC=$(find_nvcc)
  if [[ -z $NVCC ]]; then
    install_debian_toolkit ||
      die 1 "nvcc not found: install the CUDA Toolkit (11.8 to 13) and put nvcc on PATH or set" \
        "CUDA_HOME; it is usually in /usr/local/cuda/bin or a module (module load cuda)"
    NVCC=$(find_nvcc)
  fi
  NVCC_RELEASE=$(nvcc_release "$NVCC")
  [[ -n $NVCC_RELEASE ]] || die 1 "$NVCC does not run"
  if [[ $NVCC_RELEASE == 11.* ]]; then
    use_cuda11 "$(dirname "$(dirname "$NVCC")")"
    PRESET=cuda11 BUILD_DIR=$PROJECT_ROOT/build-cuda11
  else
    # CMake by itself would prefer an nvcc beside the C++ compiler; nvcc finds
    # its own tools through PATH.
    export CUDACXX=$NVCC PATH="${NVCC%/*}:$PATH"
    PRESET=release BUILD_DIR=$PROJECT_ROOT/build
  fi
}

# install_debian_toolkit: CUDA from the distribution and the newest host
# compiler that CUDA 11.8 accepts. Not where a GPU is: apt's toolkit can bring a
# libcuda that clashes with the installed driver.
install_debian_toolkit() {
  if has_nvidia_gpu || ! may_install; then return 1; fi
  enable_non_free
  apt_install nvidia-cuda-toolkit g++-11
}

# enable_non_free: Debian keeps CUDA in a component that is off by default.
enable_non_free() {
  local file
  if ! grep -q '^ID=debian' /etc/os-release 2>/dev/null ||
    LC_ALL=C apt-cache policy nvidia-cuda-toolkit 2>/dev/null | grep -q 'Candidate: [0-9]'; then
    return 0
  fi
  file=/etc/apt/sources.list.d/debian.sources
  if [[ -e $file ]]; then
    say "enabling Debian's non-free component in $file"
    as_root sed -i -E '/^Components:/{/ non-free( |$)/!s/$/ non-free/}' "$file"
  elif [[ -e /etc/apt/sources.list ]]; then
    say "enabling Debian's non-free component in /etc/apt/sources.list"
    as_root sed -i -E '/^deb.* main/{/ non-free( |$)/!s/ main/ main non-free/}' \
      /etc/apt/sources.list
  fi
}

# use_cuda11 HOME: what the cuda11 preset reads from the environment.
use_cuda11() {
  export CUDA11_HOME=$1
  if [[ -z ${CUDA11_HOST_COMPILER:-} ]]; then
    CUDA11_HOST_COMPILER=g++-11
    # Older systems have no g++-11, and need none.
    if ! command -v g++-11 >/dev/null && command -v g++ >/dev/null &&
      (($(g++ -dumpversion | cut -d. -f1) < 11)); then
      CUDA11_HOST_COMPILER=g++
    fi
  fi
  export CUDA11_HOST_COMPILER
  # Debian's headers are in /usr/include, where another toolkit's links in
  # /usr/local/include would hide them. CPATH comes before both.
  if [[ $1 == /usr && -e /usr/local/include/cuda_runtime.h ]]; then
    export CPATH=$PROJECT_ROOT/build-cuda11/debian_headers${CPATH:+:$CPATH}
    mkdir -p "${CPATH%%:*}"
    dpkg -L nvidia-cuda-dev | grep -E '^/usr/include/[^/]+$' |
      xargs ln -sfn -t "${CPATH%%:*}"
  fi
}

# cuda11_works: compiles an empty kernel, so that a toolkit that does not fit
# this system is not taken for a mistake in the code. After use_cuda11.
cuda11_works() {
  local folder status=0
  folder=$(mktemp -d)
  printf '__global__ void kernel() {}\nint main() { kernel<<<1, 1>>>(); }\n' >"$folder/test.cu"
  PATH=$CUDA11_HOME/bin:$PATH nvcc -ccbin "$CUDA11_HOST_COMPILER" -o "$folder/test" \
    "$folder/test.cu" >/dev/null 2>&1 || status=$?
  rm -rf "$folder"
  return "$status"
}

# ready_cuda11 HOME: CUDA 11.8 can compile here, else one line says why not.
ready_cuda11() {
  use_cuda11 "$1"
  if ! command -v "$CUDA11_HOST_COMPILER" >/dev/null && may_install; then
    apt_install "$CUDA11_HOST_COMPILER" || true
  fi
  if ! cuda11_works; then
    say "the CUDA 11.8 Toolkit in $1 does not work here with $CUDA11_HOST_COMPILER"
    return 1
  fi
}

# find_cuda11: the home of a CUDA 11.8 Toolkit, empty when there is none.
find_cuda11() {
  local home
  for home in "${CUDA11_HOME:-}" /usr/local/cuda-11.8 /usr/local/cuda /usr; do
    if [[ -n $home && -x $home/bin/nvcc && $(nvcc_release "$home/bin/nvcc") == 11.8 ]]; then
      printf '%s\n' "$home"
      return 0
    fi
  done
}

# drop_other_toolkit FOLDER NVCC: CMake keeps the compiler that a folder was
# started with, whatever it is told later, so such a folder is started afresh.
drop_other_toolkit() {
  local cached version
  [[ -e $1/CMakeCache.txt ]] || return 0
  cached=$(sed -n 's/^CMAKE_CUDA_COMPILER:[^=]*=//p' "$1/CMakeCache.txt")
  # The same path leads to another toolkit once a link such as
  # /usr/local/cuda has been changed.
  version=$(sed -n 's/^set(CMAKE_CUDA_COMPILER_VERSION "\(.*\)")/\1/p' \
    "$1"/CMakeFiles/*/CMakeCUDACompiler.cmake 2>/dev/null | tail -n 1) || true
  if [[ $(readlink -m "$cached") == "$(readlink -m "$2")" &&
    (-z $version || $version == "$(nvcc_release "$2")".*) ]]; then
    return 0
  fi
  say "$1 was built with another CUDA Toolkit: starting it afresh"
  rm -f "$1/CMakeCache.txt"
  find "$1" -name CMakeFiles -prune -exec rm -rf {} +
}

# build_with PRESET [CMAKE OPTION...]: everything, in the preset's folder. The
# commit can be given where the sources came without .git.
build_with() {
  local preset=$1 jobs
  shift
  if [[ $preset == cuda11 ]]; then
    drop_other_toolkit "$PROJECT_ROOT/build-cuda11" "$CUDA11_HOME/bin/nvcc"
  else
    drop_other_toolkit "$PROJECT_ROOT/build" "$NVCC"
  fi
  jobs=$(nproc 2>/dev/null || echo 2)
  (
    cd "$PROJECT_ROOT" &&
      cmake --preset "$preset" -DSUITE_COMMIT="${SUITE_COMMIT:-}" "$@" &&
      cmake --build --preset "$preset" --parallel "$jobs"
  )
}
