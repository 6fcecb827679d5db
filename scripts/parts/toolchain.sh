# shellcheck shell=bash
# What a build needs: found, installed where that is allowed, or named; and the build.
# Sourced after lib.sh. SYNC_NO_INSTALL=1 forbids every installation.

readonly FETCHED=$PROJECT_ROOT/build/fetched # what fetch() brings
BUILD_TARGETS=(all)                          # of build()
readonly FETCHED_CUDA=nvidia/cu13/bin        # in its folders: the CUDA programs

# find_nvcc: the compiler's path, or nothing. The distribution's comes after the others:
# being on PATH it is nobody's choice, and it is usually the older one.
find_nvcc() {
  local nvcc root=${SYNC_SYSTEM_ROOT:-}
  [[ -z ${CUDAHOSTCXX:-} ]] || type -P "$CUDAHOSTCXX" >/dev/null ||
    die 2 "CUDAHOSTCXX is '$CUDAHOSTCXX', which is no program"
  if [[ -n ${CUDACXX:-} ]]; then
    nvcc=$(type -P "$CUDACXX") || die 2 "CUDACXX is '$CUDACXX', which is no program"
    realpath -s "$nvcc"
    return
  fi
  [[ -z ${CUDA_HOME:-} || -x $CUDA_HOME/bin/nvcc ]] ||
    die 2 "CUDA_HOME is '$CUDA_HOME', which has no bin/nvcc"
  while IFS= read -r nvcc; do
    if [[ -x $nvcc ]]; then
      realpath -s "$nvcc"
      return
    fi
  done < <(
    type -ap nvcc | grep -vx '\(/usr\)\?/bin/nvcc'
    printf '%s/bin/nvcc\n' "${CUDA_HOME:-$root/usr/local/cuda}" "$root"/usr/local/cuda "$root"/usr
    printf '%s\n' "$FETCHED/toolkit/$FETCHED_CUDA/nvcc"
  )
}

# find_older_nvcc: one before CUDA 13, which removed multi_grid_sync; or nothing.
find_older_nvcc() {
  local nvcc release root=${SYNC_SYSTEM_ROOT:-}
  for nvcc in ${CUDA_BEFORE13_HOME:+"$CUDA_BEFORE13_HOME/bin/nvcc"} \
    "$root"/usr/local/cuda-1[12].*/bin/nvcc "$root"/usr/bin/nvcc; do
    release=$([[ ! -x $nvcc ]] || release_of "$nvcc")
    if [[ $release == 11.* || $release == 12.* ]]; then
      printf '%s\n' "$nvcc"
      return
    fi
  done
}

# release_of NVCC: "13.0"; nothing when it does not run.
release_of() {
  "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p' || true
}

# host_compiler_of NVCC: c++, or the newest GCC that this nvcc takes, as its header says.
host_compiler_of() {
  local gcc newest
  gcc=$(c++ -dumpversion 2>/dev/null || true)
  gcc=${gcc%%.*}
  newest=$(sed -n 's/^#if __GNUC__ > \([0-9]*\)$/\1/p' "${1%/*}/../include/crt/host_config.h" 2>/dev/null || true)
  if [[ -z $newest && $(release_of "$1") == 11.* ]]; then newest=11; fi
  if [[ -n ${CUDAHOSTCXX:-} ]]; then
    printf '%s\n' "$CUDAHOSTCXX"
  elif ((${gcc:-12} > ${newest:-99})); then
    printf 'g++-%s\n' "$newest"
  else
    printf 'c++\n'
  fi
}

# has_cmake: one that knows the presets of CMakePresets.json.
has_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p' || true)
  [[ -n $version && $(printf '%s\n' 3.22 "$version" | sort -V | head -n 1) == 3.22 ]]
}

# has_gtest: GoogleTest, where the compiler looks or where the user has pointed CMake to.
has_gtest() {
  [[ -n ${GTest_DIR:-}${GTest_ROOT:-}${CMAKE_PREFIX_PATH:-} ]] ||
    c++ -x c++ -fsyntax-only - <<<'#include <gtest/gtest.h>' &>/dev/null
}

# has_disassembler FOLDER: the machine-code test needs both.
has_disassembler() {
  [[ -x $1/cuobjdump && -x $1/nvdisasm ]]
}

may_install() {
  [[ -z ${SYNC_NO_INSTALL:-} ]] && command -v apt-get >/dev/null &&
    { ((EUID == 0)) || sudo -n true 2>/dev/null; }
}

# install PACKAGE...: from the distribution, whose sources are left alone; another apt-get
# that runs is waited for. Without a network, what is in its cache installs all the same.
install() {
  local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  if ((EUID != 0)); then apt=(sudo -n "${apt[@]}"); fi
  say "installing packages of the distribution: $*"
  # apt-get waits for the lock of dpkg, but not for that of its lists.
  local tries=60 errors
  until errors=$(LC_ALL=C run "${apt[@]}" update 2>&1 >/dev/null); do
    if [[ $errors != *"Could not get lock"* ]] || ((--tries == 0)); then break; fi
    sleep 5
  done
  [[ -z $errors ]] || say "$errors"
  run "${apt[@]}" install -y --no-install-recommends "$@" >&2
}

# fetch NAME: the Python packages of wheels/NAME.txt, which has versions and hashes, into
# build/fetched/NAME, if they are not there as that file says.
fetch() {
  ! is_fetched "$1" || return 0
  [[ -z ${SYNC_NO_INSTALL:-} ]] || return 1
  locked "$FETCHED/$1.lock" fetch_now "$1"
}

is_fetched() {
  [[ $(cat "$FETCHED/$1/list.txt" 2>/dev/null) == "$(<"$PROJECT_ROOT/scripts/wheels/$1.txt")" ]]
}

fetch_now() {
  local list=$PROJECT_ROOT/scripts/wheels/$1.txt target=$FETCHED/$1
  ! is_fetched "$1" || return 0 # by the script that was waited for
  say "fetching $(sed -n '1s/^# //p' "$list"), with pip, into $target"
  rm -rf "$target.partial"
  PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
    run python3 -m pip install --no-deps --only-binary :all: --require-hashes \
    -r "$list" --target "$target.partial" >&2 || return 1
  if [[ $1 == toolkit ]]; then ln -s lib "$target.partial/nvidia/cu13/lib64" || return 1; fi
  cp "$list" "$target.partial/list.txt" && rm -rf "$target" && mv "$target.partial" "$target"
}

# require_gpu_for_fetched: before a compiler is fetched whose code cannot run here.
require_gpu_for_fetched() {
  local cuda oldest
  cuda=$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p' || true)
  [[ -z $cuda ]] || ((${cuda%%.*} >= 13)) ||
    die 3 "the driver here is for CUDA $cuda: install a CUDA Toolkit of that version and set" \
      "CUDACXX to its nvcc, or update the driver to 580 or newer"
  oldest=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -V | head -n 1 || true)
  [[ ! $oldest =~ ^[0-9]+\.[0-9]$ ]] || ((${oldest/./} >= 75)) ||
    die 3 "a GPU here has compute capability $oldest, which CUDA 13 dropped: install a CUDA" \
      "Toolkit from 11.8 to 12.9 and set CUDACXX to its nvcc"
}

# missing_packages [tests|all]: what only the distribution can give, a line each; with `all` also
# what pictures need.
missing_packages() {
  local compiler=c++
  if [[ -n $NVCC ]]; then compiler=$(host_compiler_of "$NVCC"); fi
  command -v c++ >/dev/null || echo g++
  [[ $compiler == c++ ]] || command -v "$compiler" >/dev/null || printf '%s\n' "$compiler"
  command -v make >/dev/null || command -v ninja >/dev/null || echo make
  command -v python3 >/dev/null || echo python3
  if [[ -n ${SYNC_NO_INSTALL:-} ]]; then
    command -v cmake >/dev/null || echo cmake
  elif [[ -z $NVCC ]] || ! has_cmake; then
    python3 -m pip --version >/dev/null 2>&1 || echo python3-pip
  fi
  [[ -z ${1:-} ]] || has_gtest || echo libgtest-dev
  [[ ${1:-} != all ]] || python3 -c 'import matplotlib' 2>/dev/null || echo python3-matplotlib
}

# require_tools [tests]: all that a build needs, with `tests` also what those need. Leaves
# NVCC set.
require_tools() {
  local missing toolkit=
  # Characters that make, CMake or nvcc take for syntax.
  [[ $PROJECT_ROOT != *[\'\"\#\$\;\,:\?\\\`\|\<\>]* ]] ||
    die 1 "the build tools cannot work in $PROJECT_ROOT: the path has a character like ' or #"
  NVCC=$(find_nvcc)
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]})) && ! { may_install && install "${missing[@]}"; }; then
    [[ -n $NVCC || -z ${SYNC_NO_INSTALL:-} ]] || toolkit=' and a CUDA Toolkit (11.8 or newer)'
    mapfile -t missing < <(missing_packages all)
    die 1 "packages$toolkit are missing; on Debian or Ubuntu, with libgtest-dev for tests and" \
      "python3-matplotlib for pictures: sudo apt-get install ${missing[*]}"
  fi
  if ! has_cmake; then
    fetch cmake || die 1 "CMake 3.22 or newer is missing and could not be fetched"
    PATH=$FETCHED/cmake/cmake/data/bin:$PATH
  fi
  if [[ -z $NVCC || $NVCC == "$FETCHED"/* ]]; then
    require_gpu_for_fetched
    fetch toolkit || die 1 "there is no CUDA Toolkit (11.8 or newer) here, and its compiler could not" \
      "be fetched: put nvcc on PATH (module load cuda) or set CUDACXX"
    NVCC=$(find_nvcc)
  fi
  [[ -n $(release_of "$NVCC") ]] || die 1 "$NVCC does not run"
}

# build NVCC PRESET FOLDER [CMAKE OPTION...]: BUILD_TARGETS in the preset's FOLDER
# of the project. SUITE_COMMIT names the commit where the sources came without .git.
build() {
  locked "$PROJECT_ROOT/$3/lock" build_now "$@"
}

# What a build of all programs from nothing takes, measured: CPU seconds and MB for each
# compute capability, and the seconds of its longest chain of sources, however many CPUs.
readonly BUILD_CPU_SECONDS=215 BUILD_MB=112 CHAIN_SECONDS=26
# The same of the programs on simulated GPUs, which have no machine code.
readonly SIMULATED_CPU_SECONDS=200 SIMULATED_MB=81

# build_takes PRESET: seconds, MB and of what, from nothing.
build_takes() {
  local kinds=() cpus seconds=$BUILD_CPU_SECONDS mb=$BUILD_MB what
  cpus=$(nproc 2>/dev/null || echo 2)
  if [[ $1 == simulated ]]; then
    kinds=(simulated) seconds=$SIMULATED_CPU_SECONDS mb=$SIMULATED_MB what='simulated GPUs'
  else
    mapfile -t kinds < <(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
      sed -n 's/^\([0-9]*\)\.\([0-9]\)$/\1\2/p' | sort -u)
    if [[ -n ${CUDAARCHS:-} ]]; then IFS=';' read -ra kinds <<<"$CUDAARCHS"; fi
    ((${#kinds[@]})) || kinds=(80 90) # as CMakeLists.txt
    what="compute capability ${kinds[*]}"
  fi
  seconds=$((seconds / cpus))
  printf '%d %d %s\n' $(((seconds > CHAIN_SECONDS ? seconds : CHAIN_SECONDS) * ${#kinds[@]})) \
    $((mb * ${#kinds[@]})) "$what"
}

# counted LOG OF COMMAND...: its exit status. Its output goes into LOG; a terminal shows in one line
# how far it is, and OF how much time.
counted() {
  local start=$SECONDS status=0 step
  "${@:3}" >>"$1" 2>&1 &
  while [[ -t 2 ]] && kill -0 $! 2>/dev/null; do
    step=$(sed -n 's/^\[ *\([0-9/]*%\{0,1\}\)\].*/\1/p' "$1" | sort -n | tail -n 1)
    printf '\r\e[Kbuilding: %s after %d s%s' "${step:-started}" $((SECONDS - start)) "$2" >&2
    sleep 0.5
  done
  wait $! || status=$?
  if [[ -t 2 ]]; then printf '\r\e[K' >&2; fi
  return "$status"
}

build_now() {
  local nvcc=$1 preset=$2 folder=$PROJECT_ROOT/$3 start=$SECONDS compilers generator log seconds mb what of options
  log=$folder/build.log
  options=("-DSUITE_COMMIT=${SUITE_COMMIT:-}" "${@:4}")
  generator='Unix Makefiles'
  if command -v ninja >/dev/null; then generator=Ninja; fi # one list of all programs' sources
  compilers="$nvcc $(release_of "$nvcc") $(host_compiler_of "$nvcc") $generator${CXXFLAGS:+ $CXXFLAGS}${CUDAFLAGS:+ $CUDAFLAGS}"
  # CMake keeps what a folder was started with, whatever it is told later.
  if [[ $(cat "$folder/compilers.txt" 2>/dev/null) != "$compilers" ]]; then
    rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles"
    mkdir -p "$folder" && printf '%s\n' "$compilers" >"$folder/compilers.txt" || return 1
  fi
  read -r seconds mb what < <(build_takes "$preset")
  say "building with CUDA $(release_of "$nvcc") for $what in $folder; from nothing that takes" \
    "about $seconds s and $mb MB"
  [[ -e $folder/CMakeCache.txt ]] || of=" of about $seconds s"
  # Simulated GPUs run no machine code; older compilers do not link without.
  if [[ $preset$(release_of "$nvcc") == simulated1[12].* ]]; then
    options+=(-DCMAKE_CUDA_ARCHITECTURES=90)
  elif [[ $preset == simulated ]]; then
    options+=("-DCMAKE_CUDA_FLAGS_RELEASE=-O1 -DNDEBUG -Ofc=max") # optimizes less
  fi
  (
    cd "$PROJECT_ROOT" || exit 1
    CUDACXX=$nvcc CUDAHOSTCXX=$(host_compiler_of "$nvcc") PATH=${nvcc%/*}:$PATH
    export CUDACXX CUDAHOSTCXX PATH
    : >"$log"
    counted "$log" '' cmake --preset "$preset" -G "$generator" "${options[@]}" &&
      counted "$log" "${of:-}" cmake --build --preset "$preset" --target "${BUILD_TARGETS[@]}" \
        --parallel "$(nproc 2>/dev/null || echo 2)"
  ) || { grep -E 'error *:|fatal *:|Error' "$log" | head -n 10 >&2; say "see $log" && return 1; }
  say "built in $((SECONDS - start)) s"
}
