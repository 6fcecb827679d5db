# shellcheck shell=bash
# CUDA's own multi-GPU barrier, multi_grid_sync, is in no toolkit from 13 on: an
# executable that a CUDA 11.8 Toolkit built measures it beside the others.
# Sourced after lib.sh, toolchain.sh and environment.sh.

readonly CUDA11_BUILD_DIR=$PROJECT_ROOT/build-cuda11

# has_multi_grid EXECUTABLE
has_multi_grid() {
  "$1" --list 2>/dev/null | awk -F '\t' '$1 == "multi_grid_sync" { found = 1 } END { exit !found }'
}

# wants_multi_grid EXECUTABLE: it was built by a toolkit that has no multi_grid_sync.
wants_multi_grid() {
  [[ $(toolkit_of "$1") =~ ^[0-9]+ ]] && ((BASH_REMATCH[0] >= 13))
}

# build_cuda11: fails where there is no such toolkit; with a warning where there
# is one that does not build the suite, so that this ends no run.
build_cuda11() {
  local home log=$CUDA11_BUILD_DIR/build.log
  home=$(find_cuda11)
  [[ -n $home ]] || return 1
  mkdir -p "$CUDA11_BUILD_DIR"
  say "building with CUDA 11.8 in $CUDA11_BUILD_DIR"
  # In a shell of its own: what it exports is not for other builds.
  if ! (ready_cuda11 "$home" && build_with cuda11 -DBUILD_TESTING=OFF) >"$log" 2>&1; then
    say "warning: the build with the CUDA 11.8 Toolkit in $home failed (see $log):" \
      "multi_grid_sync is not measured"
    return 1
  fi
}

# check_cuda11_commit GIVEN MAIN_EXECUTABLE CUDA11_EXECUTABLE: fails when they
# are of different versions, whose rows do not belong together.
check_cuda11_commit() {
  local here there
  here=$(suite_commit "$2")
  there=$(suite_commit "$3")
  [[ $here != "$there" ]] || return 0
  if [[ -n $1 ]]; then die 2 "$3 is of commit $there, the other executables are of $here"; fi
  say "warning: $3 is of commit $there, not of $here: multi_grid_sync is not measured"
  return 1
}

# shellcheck disable=SC2034  # CUDA11_EXECUTABLE is for the scripts that source this
# find_multi_grid MAIN_EXECUTABLE GIVEN_DIR BUILD(1, 0 or empty: neither built
# nor looked for): leaves the second BenchmarkInterSM, beside which TestRepeat is, in
# CUDA11_EXECUTABLE, or nothing.
find_multi_grid() {
  local folder=$2
  CUDA11_EXECUTABLE=
  if [[ -z $folder ]]; then
    if [[ -z $3 ]] || ! wants_multi_grid "$1"; then return 0; fi
    if (($3)) && ! build_cuda11; then return 0; fi
    folder=$CUDA11_BUILD_DIR
  fi
  if [[ -x $folder/BenchmarkInterSM && -x $folder/TestRepeat ]] &&
    has_multi_grid "$folder/BenchmarkInterSM" &&
    check_cuda11_commit "$2" "$1" "$folder/BenchmarkInterSM"; then
    CUDA11_EXECUTABLE=$folder/BenchmarkInterSM
  fi
}
