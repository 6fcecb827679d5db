# shellcheck shell=bash
# Programs that run for long while this script still obeys signals. Sourced
# after lib.sh.

signal_status=0 # 128 + its number, once a signal has arrived
signals=0
program=

# watch_signals: from here a signal is noted and passed on to the program that
# runs, which ends with whole rows; then the script looks at signal_status.
watch_signals() {
  trap 'note_signal 130 INT' INT
  trap 'note_signal 143 TERM' TERM
  # The executables know no HUP: it would end them in mid-row.
  trap 'note_signal 129 TERM' HUP
}

note_signal() {
  signal_status=$1
  signals=$((signals + 1))
  pass_on "$2"
}

pass_on() {
  [[ -z $program ]] || kill -s "$1" -- "-$program" 2>/dev/null || true
}

# wait_for PID: its exit status. A signal ends bash's wait, not the program.
wait_for() {
  local seen status
  while :; do
    seen=$signals
    status=0
    wait "$1" || status=$?
    if ((signals == seen)); then return "$status"; fi
  done
}

# run_program COMMAND...: its exit status. It runs in the background, because
# bash obeys no signal while a foreground program runs, and in a process group
# of its own, because bash lets other background programs ignore Ctrl-C, and
# because two of the same signal would kill an executable at once.
run_program() {
  local status=0
  set -m
  "$@" </dev/null &
  program=$!
  set +m
  # One that came before `program` was set has reached nobody.
  if ((signal_status)); then pass_on TERM; fi
  wait_for "$program" || status=$?
  program=
  return "$status"
}
