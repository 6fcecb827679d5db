# shellcheck shell=bash
# One results folder: made, continued, filled, closed. Sourced after lib.sh,
# signals.sh and environment.sh; `folder` is the folder, `resume_command` what
# continues it.

readonly EXECUTABLES=(ImplicitBarrier BenchmarkIntraSM BenchmarkInterSM TestRepeat)
folder=
resume_command=

# folder_name GPU_NAME GPU_COUNT: "NVIDIA H200" 8 -> h200x8_20250102T030405Z
folder_name() {
  local gpu
  gpu=$(tr '[:upper:]' '[:lower:]' <<<"$1" |
    sed -E 's/^nvidia +//; s/[^a-z0-9]+/-/g; s/^-+//; s/-+$//')
  printf '%sx%s_%s\n' "${gpu:-gpu}" "$2" "$(utc_stamp)"
}

# new_folder PARENT DEVICES GPU_COUNT EXECUTABLE [CUDA11_EXECUTABLE]
new_folder() {
  local parent=$1 name text map
  shift
  name=$(folder_name "$(device_column "$1" name | first_line)" "$2")
  [[ ! -e $parent/$name ]] || die 2 "$parent/$name exists already"
  [[ ! -e $parent/$name.partial ]] || die 2 "$parent/$name.partial exists already"
  # Asked before the folder is made: a Ctrl-C meanwhile leaves nothing behind.
  text=$(environment_rows "$@")
  map=$(topology)
  watch_signals
  folder=$parent/$name.partial
  # Ctrl-C reaches mkdir too, and must not look like a folder that cannot be made.
  (trap '' INT TERM HUP && mkdir "$folder" 2>/dev/null) || die 1 "cannot create the folder $folder"
  if ! { printf '%s\n' "$text" >"$folder/environment.tsv" &&
    printf '%s\n' "$map" >"$folder/topology.txt"; } 2>/dev/null; then
    rm -rf "$folder"
    die 1 "cannot write to $parent: no permission, or the disk is full"
  fi
}

# is_complete DIR
is_complete() {
  local name
  for name in environment "${EXECUTABLES[@]}"; do
    [[ -e $1/$name.tsv ]] || return 1
  done
}

# check_resumable DIR: everything that can be refused before a build.
check_resumable() {
  [[ -d $1 ]] || die 2 "cannot resume $1: there is no such folder"
  if [[ $1 != *.partial ]]; then
    if is_complete "$1"; then die 2 "cannot resume $1: it is already complete"; fi
    die 2 "cannot resume $1: it is not the folder of an interrupted run (those end in .partial)"
  fi
  [[ -r $1/environment.tsv ]] ||
    die 2 "cannot resume $1: it has no environment.tsv, so it is not an interrupted run"
  can_write "$1" || die 1 "cannot write to $1: no permission, or the disk is full"
}

# resume_folder DIR DEVICES GPU_COUNT EXECUTABLE [CUDA11_EXECUTABLE]: rows of one
# folder come from one setup.
resume_folder() {
  local key here there now toolkit
  folder=$1
  shift
  now=$(environment_rows "$@")
  for key in gpu gpu_count driver cuda_toolkit cuda_toolkit_multi_grid suite_commit; do
    there=$(environment_value "$folder/environment.tsv" "$key")
    here=$(environment_value /dev/stdin "$key" <<<"$now")
    # The first try may not have had the second toolkit.
    [[ $here == "$there" || ($key == cuda_toolkit_multi_grid && -z $there) ]] ||
      die 2 "cannot resume $folder: its $key is '$there', here it is '${here:-none}'"
    if [[ $here != "$there" ]]; then toolkit=$here; fi
  done
  watch_signals
  {
    if [[ -n ${toolkit:-} ]]; then printf 'cuda_toolkit_multi_grid\t%s\n' "$toolkit"; fi
    printf 'resumed_utc\t%s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  } >>"$folder/environment.tsv"
}

# keep_interrupted NAME: rows of an earlier try stay, under another name: all
# rows of NAME.tsv come from one process.
keep_interrupted() {
  local part=$folder/$1.tsv.part number=1
  [[ -e $part ]] || return 0
  if [[ ! -s $part ]]; then
    rm -f "$part"
    return 0
  fi
  while [[ -e $folder/$1.interrupted-$number.tsv ]]; do number=$((number + 1)); done
  drop_cut_row "$part"
  mv "$part" "$folder/$1.interrupted-$number.tsv"
}

# measure NAME EXECUTABLE ARGS...: rows into NAME.tsv, unless they are there.
measure() {
  local name=$1 output=$folder/$1.tsv log tee status=0 tee_status=0
  shift
  if [[ -e $output ]]; then
    say "$name: measured already, kept"
    return 0
  fi
  stop_if_interrupted
  keep_interrupted "$name"
  say "$name: measuring"
  # tee ignores what ends the others: the last words still pass through it.
  exec {log}> >(trap '' INT TERM HUP && exec tee -a "$folder/stderr.log" >&2)
  tee=$!
  run_program "$@" >"$output.part" 2>&"$log" || status=$?
  exec {log}>&-
  wait_for "$tee" || tee_status=$?
  if ((status || tee_status)); then
    drop_cut_row "$output.part"
    measurement_failed "$name" "$status" "$tee_status"
  fi
  mv "$output.part" "$output" || die 1 "cannot rename $output.part"
  stop_if_interrupted
}

# measurement_failed NAME EXECUTABLE_STATUS TEE_STATUS
measurement_failed() {
  local code=1
  stop_if_interrupted
  case $2 in
    129 | 130 | 143) signal_status=$2 && stop_if_interrupted ;;
  esac
  can_write "$folder" ||
    die 1 "cannot write to $folder: no permission, or the disk is full;" \
      "when that is mended, continue with: $resume_command"
  if (($2 == 0)); then
    die 1 "cannot write $folder/stderr.log (tee: $3); continue with: $resume_command"
  fi
  # The GPU can be lost in mid-run. What else an executable's codes mean is in
  # its message; as this script's they would mean something else.
  if (($2 == 3)); then code=3; fi
  die "$code" "$1 failed with exit code $2; continue with: $resume_command"
}

stop_if_interrupted() {
  ((signal_status)) || return 0
  die "$signal_status" "interrupted; continue with: $resume_command"
}

# write_multi_gpu_barriers: Figure 9 of the study from the rows of this folder.
write_multi_gpu_barriers() {
  "$BASH" "$PROJECT_ROOT/scripts/multi_gpu_barriers.sh" "$folder" >"$folder/multi_gpu_barriers.tsv" ||
    die 1 "cannot write $folder/multi_gpu_barriers.tsv; continue with: $resume_command"
}

# close_folder: the final name says that everything is there.
close_folder() {
  local final=${folder%.partial}
  [[ ! -e $final ]] || die 2 "$final exists already; the complete run stays in $folder"
  mv -T "$folder" "$final" || die 1 "cannot rename $folder to $final"
  trap - INT TERM HUP
  folder=$final
}
