"""What the tests of scripts/ stand on: made-up programs and rows, and a project of their own.

The project is a copy of scripts/ in a temporary folder. PATH has no program but the links and
fakes made here; "building" copies fake executables, which print made-up rows. Every call of a
fake adds a line to a log: what is not in it was not started.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from made_up_rows import ENVIRONMENT, ROWS, ROWS_BEFORE13

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

SYSTEM_PROGRAMS = ("bash sh awk sed grep cat dirname readlink realpath mkdir rm mv ln cp sort head "
                   "tail find date env flock nproc sleep touch true").split()
FIRST = "# simulated\n"  # line of what was measured on no GPU

# Obeys the executables' contract. NAME.then beside it are commands after the last row,
# NAME.list is its list where it has one of its own.
EXECUTABLE = r'''#!/bin/sh
here=${0%/*} name=${0##*/}
case " $* " in
  *" --version "*) echo "name=$name version=0.2.0 commit=$(cat "$here/commit") toolkit=$(cat "$here/cuda")" ;;
  *" --list "*) cat "$here/$name.list" 2>/dev/null || cat "$here/list" ;;
  *" --machine-code "*) [ $name != ImplicitBarrier ] && cat "$here/machine_code" ;;
  *" --devices "*)
    cat "$here/devices" 2>/dev/null && exit
    echo "$name: error: no CUDA-capable device is detected" >&2
    exit 3 ;;
  *)
    echo "${here##*/}/$name $*" >>"$LOG"
    printf '%s: warning: of some kind\nof: another\n' "$name" >&2
    cat "$here/$name.rows" || exit 1
    if [ -e "$here/$name.then" ]; then . "$here/$name.then"; fi ;;
esac
'''
CMAKE = r'''#!/bin/sh
if [ "$1" = --version ]; then echo "cmake version 3.25.1"; exit; fi
echo "cmake $*" >>"$LOG"
[ "$1" = --build ] || exit 0
if [ -e "$FAKES/$3.then" ]; then . "$FAKES/$3.then"; fi
echo compiling
build=build-$3
cp -R "$FAKES/$3/." "${build%-release}"
'''
PYTHON = r'''#!/bin/sh
if [ "$1" != -m ]; then exec {python} -S "$@"; fi
[ "$*" != "-m pip --version" ] || exit 0
echo "pip ${{9##*/}}" >>"$LOG"
for target; do :; done
{pip}
'''
# For *.then: says which processes there are, and waits.
WAIT = 'sleep 900 & echo $! $$ >"$LOG.new"; mv "$LOG.new" "$LOG.pids"; wait\n'
WAIT_ALONE = 'printf half_a_ro; echo $$ >"$LOG.new"; mv "$LOG.new" "$LOG.pids"; exec sleep 900\n'


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def heed_signals():
    """In a process that is started: whoever runs the tests may ignore these."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def lives(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes() != b""  # empty: it has ended
    except OSError:
        return False


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="a_test Zone "))  # with traps
        self.addCleanup(shutil.rmtree, self.folder)
        self.project, self.results = self.folder / "project", self.folder / "results"
        self.system, self.tools = self.folder / "system", self.folder / "tools"
        self.release, self.before13, self.simulated = (
            self.folder / "fakes" / name for name in ("release", "before13", "simulated/simulated"))
        self.log = self.folder / "log"
        shutil.copytree(ROOT / "scripts", self.project / "scripts")
        self.tools.mkdir()
        for name in SYSTEM_PROGRAMS:
            (self.tools / name).symlink_to(shutil.which(name))
        for name in ("c++", "make"):
            self.tool(name, "#!/bin/sh\n")
        self.tool("cmake", CMAKE)
        self.python_with_pip("exit 1")
        self.write_fakes(self.release, "13.0", ROWS)
        self.write_fakes(self.before13, "11.8", ROWS_BEFORE13)
        self.write_fakes(self.simulated, "13.0", {  # of one GPU
            name: FIRST + re.sub(r"(?m)^\w+\t(float\t|1\t1\t)?2\t.*\n", "", text)
            for name, text in ROWS.items()}, FIRST, gpus=1)
        self.gpu = self.system / "dev/nvidia0"
        self.gpu.parent.mkdir(parents=True)
        self.gpu.touch()
        self.environment = {
            "PATH": str(self.tools), "SYNC_SYSTEM_ROOT": str(self.system), "SYNC_NO_INSTALL": "1",
            "LOG": str(self.log), "FAKES": str(self.folder / "fakes"), "TMPDIR": str(self.folder),
            "CUDACXX": str(self.nvcc("cuda", "13.0")), "LC_ALL": "C.UTF-8"}

    def write_fakes(self, folder, cuda, rows, first="", gpus=2):
        for name, text in rows.items():
            write_program(folder / name, EXECUTABLE)
            (folder / f"{name}.rows").write_text(text)
        (folder / "commit").write_text("0123456789ab")
        (folder / "cuda").write_text(cuda)
        self.write_methods(folder, "grid_sync grid 1", "peer_grid_sync gpus 1", "tile warp 1",
                           *["multi_grid gpus 1"] * (cuda == "11.8"))
        (folder / "devices").write_text(
            first + "gpu\tname\tcompute_capability\tsms\tpci_bus_id\n" + "".join(
                f"{number}\tNVIDIA H200\t9.0\t132\t0000:1{number}:00.0\n"
                for number in range(gpus)))

    def write_methods(self, folder, *methods):
        """What the executables list; of each its name, its scope and whether it is checked."""
        rows = ["instruction method scope checked", *(f"SHFL.* {method}" for method in methods)]
        (folder / "machine_code").write_text("".join(
            row.replace(" ", "\t") + "\n" for row in rows))
        groups = dict(method.split()[:2] for method in methods)  # each once
        (folder / "list").write_text("".join(
            f"{name}\ttext\t\t{group}\n" for name, group in groups.items()))

    def tool(self, name, text):
        (self.tools / name).unlink(missing_ok=True)  # a link to the system's
        write_program(self.tools / name, text)

    def python_with_pip(self, pip):
        """python3, whose pip does this ($target: the folder it shall fill)."""
        self.tool("python3", PYTHON.format(python=sys.executable, pip=pip))

    def nvcc(self, folder, version):
        """The path of a made-up nvcc in this folder of the system."""
        path = self.system / "usr/local" / folder / "bin/nvcc"
        write_program(path, f'#!/bin/sh\necho "Cuda compilation tools, release {version}, V1"\n')
        return path

    def command(self, script, *arguments):
        interpreter = "python3" if script.endswith(".py") else "bash"
        return [str(self.tools / interpreter), str(self.project / "scripts" / script),
                *map(str, arguments)]

    def execute(self, command, **options):
        options = {"stdout": subprocess.PIPE, **options}
        return subprocess.run(command, env=self.environment, cwd=self.folder, timeout=600,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
                              **options)

    def script(self, name, *arguments):
        return self.execute(self.command(name, *arguments))

    def run_sh(self, *arguments, code=0):
        done = self.script("run.sh", "--results", self.results, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def link_study(self):
        """What report.py needs beside scripts/."""
        (self.project / "results").mkdir()
        for name in ("results/ipdps20", "results/bounds.tsv", "results/stale.tsv"):
            (self.project / name).symlink_to(ROOT / name)

    def calls(self, start=""):
        """The logged calls that start so."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.startswith(start)]

    def only_folder(self):
        folder, = self.results.iterdir()
        return folder

    def write_run(self, folder, changes=(), only=False):
        """A results folder. changes: {file: text, bytes or None}; only: no other files"""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        files = {**({} if only else ROWS), "environment": ENVIRONMENT, **dict(changes)}
        for name, text in files.items():
            if text is not None:
                data = text if isinstance(text, bytes) else text.encode()
                (folder / f"{name}.tsv").write_bytes(data)
        return folder

    def assert_refused(self, done, code, *message):
        """One line on stderr that says this, nothing on stdout."""
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for part in message:
            self.assertIn(str(part), done.stderr)

    def interrupt(self, command, name):
        """Sends SIG`name` once a fake waits: stderr. All processes must end, and would wait for
        longer than this does."""
        pids, number = Path(f"{self.log}.pids"), getattr(signal, f"SIG{name}")
        process = subprocess.Popen(
            command, env=self.environment, cwd=self.folder, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True, preexec_fn=heed_signals)
        try:
            while not pids.exists():
                self.assertIsNone(process.poll(), "it ended before it was interrupted")
                time.sleep(0.01)
            # Ctrl-C goes to the whole group.
            (os.killpg if name == "INT" else os.kill)(process.pid, number)
            errors = process.communicate(timeout=600)[1]
            latest = time.monotonic() + 600
            while any(map(lives, pids.read_text().split())):
                self.assertLess(time.monotonic(), latest, "processes are left")
                time.sleep(0.01)
        finally:
            for pid in filter(lives, pids.read_text().split() if pids.exists() else ()):
                os.kill(int(pid), signal.SIGKILL)
            process.kill()
            process.wait()
            pids.unlink()
        self.assertEqual(process.returncode, 128 + number, errors)
        return errors
