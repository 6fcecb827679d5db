# shellcheck shell=bash
# One results folder: made, continued, filled, closed. Sourced after lib.sh and
# environment.sh; `folder` is the folder, `resume_command` what continues it.

folder=
resume_command=
signal_status=0

# folder_name GPU_NAME GPU_COUNT: "NVIDIA H200" 8 -> h200x8_20250102T030405Z
folder_name() {
  local gpu
  gpu=$(tr '[:upper:]' '[:lower:]' <<<"$1" |
    sed -E 's/^nvidia +//; s/[^a-z0-9]+/-/g; s/^-+//; s/-+$//')
  printf '%sx%s_%s\n' "${gpu:-gpu}" "$2" "$(utc_stamp)"
}

# new_folder PARENT DEVICES GPU_COUNT EXECUTABLE
new_folder() {
  local name text map
  name=$(folder_name "$(device_column "$2" name | first_line)" "$3")
  [[ ! -e $1/$name ]] || die 2 "$1/$name exists already"
  [[ ! -e $1/$name.partial ]] || die 2 "$1/$name.partial exists already"
  # Asked before the folder is made: a Ctrl-C meanwhile leaves nothing behind.
  text=$(environment_rows "$2" "$3" "$4")
  map=$(topology)
  mkdir "$1/$name.partial" 2>/dev/null || die 1 "cannot create the folder $1/$name.partial"
  folder=$1/$name.partial
  if ! { printf '%s\n' "$text" >"$folder/environment.tsv" &&
    printf '%s\n' "$map" >"$folder/topology.txt"; } 2>/dev/null; then
    rm -rf "$folder"
    die 1 "cannot write to $1: no permission, or the disk is full"
  fi
}

# check_resumable DIR: everything that can be refused before a build.
check_resumable() {
  [[ -d $1 ]] || die 2 "cannot resume $1: there is no such folder"
  [[ $1 == *.partial ]] ||
    die 2 "cannot resume $1: it is already complete (its name has no .partial)"
  [[ -r $1/environment.tsv ]] ||
    die 2 "cannot resume $1: it has no environment.tsv, so it is not an interrupted run"
  can_write "$1" || die 1 "cannot write to $1: no permission, or the disk is full"
}

# check_same_setup DIR DEVICES GPU_COUNT EXECUTABLE: rows of one folder come
# from one kind of GPU, one GPU count and one version of the suite.
check_same_setup() {
  local key here there
  for key in gpu gpu_count suite_commit; do
    there=$(environment_value "$1/environment.tsv" "$key")
    case $key in
      gpu) here=$(device_column "$2" name | first_line) ;;
      gpu_count) here=$3 ;;
      suite_commit) here=$(suite_commit "$4") ;;
    esac
    [[ $here == "$there" ]] ||
      die 2 "cannot resume $1: its $key is '$there', here it is '$here'"
  done
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
  local name=$1 output=$folder/$1.tsv
  local -a statuses
  shift
  if [[ -e $output ]]; then
    say "$name: measured already, kept"
    return 0
  fi
  stop_if_interrupted
  keep_interrupted "$name"
  say "$name: measuring"
  # tee ignores the Ctrl-C that reaches the whole group: the executable's last
  # words still have to pass through it.
  if "$@" 2>&1 >"$output.part" </dev/null | tee -i -a "$folder/stderr.log" >&2; then
    mv "$output.part" "$output" || die 1 "cannot rename $output.part"
  else
    statuses=("${PIPESTATUS[@]}")
    drop_cut_row "$output.part"
    measurement_failed "$name" "${statuses[@]}"
  fi
  stop_if_interrupted
}

# measurement_failed NAME EXECUTABLE_STATUS TEE_STATUS
measurement_failed() {
  stop_if_interrupted
  case $2 in
    130 | 143) signal_status=$2 && stop_if_interrupted ;;
  esac
  can_write "$folder" ||
    die 1 "cannot write to $folder: no permission, or the disk is full;" \
      "when that is mended, continue with: $resume_command"
  if (($2 == 0)); then
    die 1 "cannot write $folder/stderr.log (tee: $3); continue with: $resume_command"
  fi
  die "$2" "$1 failed with exit code $2; continue with: $resume_command"
}

# From here a signal is noted, and acted on when the executable, which got it too, has
# ended and its rows are whole.
watch_signals() {
  trap 'signal_status=130' INT
  trap 'signal_status=143' TERM
  trap 'signal_status=129' HUP
}

stop_if_interrupted() {
  ((signal_status)) || return 0
  die "$signal_status" "interrupted; continue with: $resume_command"
}

# close_folder: the final name says that everything is there.
close_folder() {
  local final=${folder%.partial}
  [[ ! -e $final ]] || die 2 "$final exists already; the complete run stays in $folder"
  mv -T "$folder" "$final" || die 1 "cannot rename $folder to $final"
  trap - INT TERM HUP
  folder=$final
}
