#!/usr/bin/env bash
# Usage: fresh_debian.sh SUITE WHAT
#
# Makes a minimal Debian (bookworm, trixie, ...) that has nothing but git, with a clone of this
# repository. Passes on CUDAARCHS, CXXFLAGS, CUDAFLAGS, GPU_TESTS, THOROUGH and CTEST_ARGUMENTS.
# Needs root and debootstrap. WHAT:
#   run      README's first command, as root, who gets what is missing
#   test     README's second command, as an ordinary user, who is told in one line what to install;
#            NCCL is where distributions have it, and MPI is there; then .ci/checked
#   toolkit  README's second command with the toolkit of the distribution
#   build    that toolkit compiles all programs, with the machine code that is expected
#
# Exit codes: 0 all as the README says; 1 something is not; 77 no such Debian can be made here.
set -euo pipefail
project=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
suite=$1 what=$2
work=$(mktemp -d)
root=$work/debian
log=$work/log
mounted=()
# shellcheck disable=SC2329  # called by the trap
cleanup() {
  local folder
  for folder in "${mounted[@]}"; do umount -l "$folder"; done
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

make_machine() {
  debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$root" >"$log" 2>&1 &&
    cp /etc/resolv.conf "$root/etc/" && cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" &&
    mount -t proc proc "$root/proc" && mounted+=("$root/proc") &&
    mount -t sysfs -o ro sysfs "$root/sys" && mounted+=("$root/sys") && # mpirun reads it
    mount --bind /dev "$root/dev" && mounted+=("$root/dev") &&
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" && # these two go with dev
    mount --bind /dev/pts "$root/dev/pts" && chroot "$root" useradd -m user &&
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fast" # no wait for the disk
}

# on USER COMMAND: in the clone, with a clean environment; output into $log.
on() {
  local -a variables
  mapfile -t variables < <(env |
    grep -iE '^(PIP_(INDEX_URL|DEFAULT_TIMEOUT)|https?_proxy|no_proxy|C(UDA|XX)FLAGS|CUDAARCHS|GPU_TESTS|THOROUGH|CTEST_ARGUMENTS)=' || true)
  chroot --userspec="$1" "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/user \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt "${variables[@]}" bash -c "cd ~/suite && $2" >"$log" 2>&1 </dev/null
}

fail() {
  { grep -E 'FAIL|error *:|fatal *:|warning *:' "$log" | tail -n 40 || true; tail -n 40 "$log"; } | sed "s/^/$suite: /"
  exit 1
}

# expect CODE USER COMMAND: fails with the end of the output where the exit code differs.
expect() {
  local status=0 start=$SECONDS
  on "${@:2}" || status=$?
  printf '%s, %s: %s: exit code %s, %s s, %s MB fetched\n' "$suite" "$2" "$3" "$status" $((SECONDS - start)) \
    "$(awk '/^Fetched / { sum += $2 * ($3 == "kB" ? 0.001 : 1) }
            /Downloading .*\(/ { sub(/.*\(/, ""); sum += $1 * ($2 ~ /^kB/ ? 0.001 : 1) }
            END { printf "%.0f", sum }' "$log")"
  ((status == $1)) || fail
}

# shows TEXT: it is in the output of the last command.
shows() {
  grep -q -- "$1" "$log" || { printf '%s: not in the output: %s\n' "$suite" "$1" && fail; }
}

# unchanged USER: no file of the checkout has changed, and none is new.
unchanged() {
  # shellcheck disable=SC2016  # for the shell there
  expect 0 "$1" 'changes=$(git status --porcelain) && echo "$changes" && test -z "$changes"'
}

get() {
  expect 0 root "apt-get update -q && apt-get install -q -y --no-install-recommends $*"
}

toolkit_of_debian() {
  sed -i 's/ main$/ main contrib non-free/' "$root/etc/apt/sources.list"
  get nvidia-cuda-toolkit "$@"
}

make_machine || { tail -n 3 "$log" && exit 77; }
git clone -q --no-hardlinks "$project" "$root/home/user/suite"
if [[ $what == test ]]; then chroot "$root" chown -R user /home/user/suite; fi
case $what in
  run)
    cp -a "$root/etc/apt" "$work/apt"
    expect 0 root scripts/run.sh
    shows 'Report of a recorded run: .*/build/report/report.html'
    shows 'Report: .*/build/simulated_.*/report/report.html'
    shows 'nothing of this machine was measured'
    unchanged root
    diff -r "$work/apt" "$root/etc/apt" # package sources are as they were
    ;;
  test)
    expect 1 user scripts/test.sh
    packages=$(sed -n 's/.*sudo apt-get install //p' "$log")
    get "$packages" libopenmpi-dev openmpi-bin
    # Debian has no package of NCCL.
    expect 0 root 'python3 -m pip install --no-deps --require-hashes -r .ci/nccl.txt --target /opt'
    expect 0 root 'cd /opt/nvidia/nccl && mv include/* /usr/include && mv lib/libnccl.so.2 /usr/lib'
    expect 0 user scripts/test.sh
    shows ' 0 failed'
    unchanged user
    expect 0 user 'grep "NCCL: /usr/lib/libnccl" build/build.log'
    get gcovr
    expect 0 user .ci/checked
    ;;
  toolkit)
    toolkit_of_debian g++-11 python3-matplotlib
    expect 0 root scripts/test.sh
    shows ' 0 failed'
    unchanged root
    expect 0 root 'python3 tests/scripts/report_pictures_test.py'
    ;;
  build)
    toolkit_of_debian
    expect 0 root 'scripts/run.sh --build'
    expect 0 root 'python3 tests/machine_code/machine_code_test.py build/ImplicitBarrier build/Reduction'
    ;;
  *)
    printf 'fresh_debian.sh: what is %s?\n' "$what" >&2
    exit 2
    ;;
esac
