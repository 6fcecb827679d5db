#!/usr/bin/env bash
# Usage: fresh_debian.sh SUITE (bookworm, trixie, ...)
#
# Runs the README's two commands on a minimal Debian that has nothing but git, in a clone of
# this repository: on Debian 12 the first as root, who gets what is missing, elsewhere the second as
# an ordinary user, who is told in one line what to install; there warnings are errors, and tests that
# are short elsewhere take all their cases, but for two that .ci/run runs under sanitizers. With the
# distribution's toolkit it runs the tests, or builds all programs. Needs root and debootstrap.
#
# Exit codes: 0 all as the README says; 1 something is not; 77 no such Debian can be made here.
set -euo pipefail
project=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
suite=$1
work=$(mktemp -d)
log=$work/base.log
mounted=()
# shellcheck disable=SC2329  # called by the trap
cleanup() {
  local folder
  for folder in "${mounted[@]}"; do umount -l "$folder"; done
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

make_base() {
  debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$work/base" >"$log" 2>&1 &&
    cp /etc/resolv.conf "$work/base/etc/" &&
    cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs/" && chroot "$work/base" useradd -m user
}

# copy_of_base NAME: a machine of its own, with a clone in user's home.
copy_of_base() {
  local root=$work/$1
  cp -a "$work/base" "$root"
  mount -t proc proc "$root/proc" || exit 77
  mounted+=("$root/proc")
  mount --bind /dev "$root/dev" || exit 77
  mounted+=("$root/dev")
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" || exit 77 # these two go with dev
  mount --bind /dev/pts "$root/dev/pts" || exit 77
  git clone -q --no-hardlinks "$project" "$root/home/user/suite"
  chroot "$root" chown -R "$2" /home/user/suite
}

# on MACHINE USER COMMAND: in the clone, with a clean environment; output into $log.
on() {
  local -a variables
  log=$work/$1.log
  mapfile -t variables < <(env | grep -iE '^(PIP_(INDEX_URL|DEFAULT_TIMEOUT)|https?_proxy|no_proxy)=' || true)
  chroot --userspec="$2" "$work/$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/user \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt "${variables[@]}" bash -c "cd ~/suite && $3" >"$log" 2>&1 </dev/null
}

fail() {
  { grep -E 'FAIL|error *:|fatal *:|warning *:' "$log" | tail -n 40 || true; tail -n 40 "$log"; } | sed "s/^/$suite: /"
  exit 1
}

# expect CODE MACHINE USER COMMAND: fails with the end of the output where the exit code differs.
expect() {
  local status=0 start=$SECONDS
  on "${@:2}" || status=$?
  printf '%s, %s: %s: exit code %s, %s s, %s MB fetched\n' "$suite" "$3" "$4" "$status" $((SECONDS - start)) \
    "$(awk '/^Fetched / { sum += $2 * ($3 == "kB" ? 0.001 : 1) }
            /Downloading .*\(/ { sub(/.*\(/, ""); sum += $1 * ($2 ~ /^kB/ ? 0.001 : 1) }
            END { printf "%.0f", sum }' "$log")"
  ((status == $1)) || fail
}

# shows TEXT: it is in the output of the last command.
shows() {
  grep -q -- "$1" "$log" || { printf '%s: not in the output: %s\n' "$suite" "$1" && fail; }
}

# first_command MACHINE USER
first_command() {
  expect 0 "$1" "$2" scripts/run.sh
  shows 'Report of the recorded runs: .*/build/report/report.html'
  shows 'Report: .*/build/simulated_.*/report/report.html'
  shows 'nothing of this machine was measured'
  unchanged "$1" "$2"
}

# second_command MACHINE USER SETTINGS
second_command() {
  expect 0 "$1" "$2" "$3scripts/test.sh"
  shows ' 0 failed'
  unchanged "$1" "$2"
}

# unchanged MACHINE USER: no file of the checkout has changed, and none is new.
unchanged() {
  # shellcheck disable=SC2016  # for the shell there
  expect 0 "$1" "$2" 'changes=$(git status --porcelain) && echo "$changes" && test -z "$changes"'
}

# toolkit_of_debian MACHINE PACKAGE...
toolkit_of_debian() {
  sed -i 's/ main$/ main contrib non-free/' "$work/$1/etc/apt/sources.list"
  expect 0 "$1" root "apt-get update -q && apt-get install -q -y --no-install-recommends nvidia-cuda-toolkit ${*:2}"
}

# nccl_of_system MACHINE: where a distribution's package of NCCL lies. Debian has none.
nccl_of_system() {
  expect 0 "$1" root 'python3 -m pip install --no-deps --require-hashes -r .ci/nccl.txt --target /opt'
  expect 0 "$1" root 'cd /opt/nvidia/nccl && mv include/* /usr/include && mv lib/libnccl.so.2 /usr/lib'
}

make_base || { tail -n 3 "$log" && exit 77; }

# Toolkits are long to fetch, so that goes beside the rest. ($! is also that of <(...).)
if [[ $suite == bookworm ]]; then
  copy_of_base first root
  # CUDA 11.8, the oldest that is supported, and Debian's matplotlib
  copy_of_base second root
  toolkit_of_debian second g++-11 python3-matplotlib &
  beside=$!
  first_command first root
  diff -r "$work"/{base,first}/etc/apt # package sources are as they were
  wait "$beside"
  # without the tests that no toolkit changes
  second_command second root "CUDAARCHS=90 CTEST_ARGUMENTS='-E ^(scripts_|PeerGridModel|barrier_threads)' "
  expect 0 second root 'python3 tests/scripts/report_pictures_test.py'
else
  copy_of_base user user
  copy_of_base older root
  { # CUDA 12.4, which still has code for sm_70: what it compiles
    toolkit_of_debian older
    expect 0 older root 'CUDAARCHS=70 scripts/run.sh --build'
    expect 0 older root 'python3 tests/machine_code/machine_code_test.py build/ImplicitBarrier build/Reduction'
  } &
  beside=$!
  expect 1 user user scripts/test.sh
  packages=$(sed -n 's/.*sudo apt-get install //p' "$log")
  expect 0 user root "apt-get update -q && apt-get install -q -y --no-install-recommends $packages"
  nccl_of_system user
  settings="CUDAARCHS=90 THOROUGH=1 CXXFLAGS=-Werror CUDAFLAGS='-Werror=all-warnings -Xcompiler=-Werror' "
  second_command user user "$settings CTEST_ARGUMENTS='-E ^(call_faults|simulated_pitfalls)$' "
  expect 0 user user 'grep "NCCL: /usr/lib/libnccl" build/build.log'
  wait "$beside"
fi
