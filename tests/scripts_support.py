"""What the script tests stand on: fake executables, a made-up machine, assertions.

The scripts see the machine through SYNC_SYSTEM_ROOT (is there a GPU?) and a
made-up build folder; nothing here needs a GPU, a compiler or the network.
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("ImplicitBarrier", "BenchmarkIntraSM", "BenchmarkInterSM", "TestRepeat")

# Obeys the executables' contract. What it shall pretend is said by files beside
# it: gpus, gpu_names, commit, cuda (the toolkit that built it); what it shall do
# wrong too: NAME.fail (exit code), NAME.wait (sleeps between rows until it is
# interrupted), NAME.big (rows to print). Every measuring call adds a line to
# NAME.calls. As in the real ones a second SIGTERM kills at once.
FAKE = r'''#!/usr/bin/env python3
import os, signal, sys, time
name = os.path.basename(sys.argv[0])
here = os.path.dirname(os.path.abspath(sys.argv[0]))
control = lambda kind: os.path.join(here, name + "." + kind)
setting = lambda key: open(os.path.join(here, key)).read()
GPUS = int(setting("gpus"))
MULTI_GRID = setting("cuda") < "13"
PROVENANCE = "# gpu 0: NVIDIA H200, 132 SMs, compute capability 9.0, SM clock seen 1980 MHz\n"
SECTIONS = {
    "ImplicitBarrier": (
        "# null kernel\nmethod\tGPUCount\trep\tblk\tthrd\tm(clk)\tm(ttl)\n"
        "traditional_launch\t1\t1\t132\t1024\t20\t5000\n"
        "# sleep kernel\nmethod\tGPUCount\trep\tblk\tthrd\tidea(wkld)\tm(wkld)\ts(wkld)"
        "\tm(ovh)\ts(ovh)\tn\n"
        "traditional_launch\t1\t8\t132\t1024\t5000\t5000\t1\t1081.25\t3.5\t3\n"
        "cooperative_launch\t1\t8\t132\t1024\t5000\t5000\t1\t1063\tnan\t3\n"
        + "".join("multi_cooperative_launch\t%d\t8\t1\t32\t9\t9\t1\t%d\t2\t3\n" % (g, 1200 + g)
                  for g in range(1, GPUS + 1))
        + "single_omp_traditional_launch\t1\t8\t1\t32\t9\t9\t1\tnan\tnan\t3\n"),
    "BenchmarkIntraSM": (
        "# block latency\nmethod\tGPUcount\trep\tblk\tthrd\tm(ave_cycle)\ts(ave_cycle)\n"
        "blocksync\t1\t128\t1\t32\t22.125\t0.5\nblocksync\t1\t128\t1\t1024\t64\t1\n"
        "# warp latency\nmethod\tGPUcount\trep\tblk\tthrd\tm(ave_cycle)\ts(ave_cycle)\ttile\n"
        "tile_sync\t1\t128\t1\t32\t7\t1\t32\n"),
    "BenchmarkInterSM": (
        "# grid latency: how it was sampled\nmethod\tGPUcount\tbasicrep\tmoredrep\tblk\tthrd"
        "\tm(basic_ttl)\ts(basic_ttl)\tm(more_ttl)\ts(more_ttl)\tm(avginstru)\ts(avginstr)\n"
        "grid_sync\t1\t1\t9\t132\t32\t1\t1\t1\t1\t1075.5\t0.25\n"
        "grid_sync\t1\t1\t9\t264\t1024\t1\t1\t1\t1\t1420\t0.75\n"
        "# multi-GPU latency: how it was sampled\nmethod\tGPUcount\tbasicrep\tmoredrep\tblk\tthrd"
        "\tm(basic_ttl)\ts(basic_ttl)\tm(more_ttl)\ts(more_ttl)\tm(avginstru)\ts(avginstr)\n"
        + "".join("%s\t%d\t1\t9\t%s\t1\t1\t1\t1\t%d\t0.5\n" % (method, g, shape, value + g)
                  for method, value in (("multi_grid_sync", 7000), ("peer_grid_sync", 3000))
                  for g in range(1, GPUS + 1) for shape in ("132\t32", "264\t1024")
                  if MULTI_GRID or method != "multi_grid_sync")),
    "TestRepeat": (
        "# repeats\nmethod\trep\tblk\tthrd\ttile\tm(cycle)\ts(cycle)\n"
        "blocksync\t1\t1\t32\t32\t30\t1\n"),
}

def rows():
    wanted = sys.argv[sys.argv.index("--method") + 1] if "--method" in sys.argv else ""
    for line in (PROVENANCE + SECTIONS[name]).splitlines(keepends=True):
        if not wanted or line.startswith(("#", "method", wanted)):
            yield line
    if os.path.exists(control("big")):
        yield from ["traditional_launch\t1" + "\t7" * 100 + "\n"] * int(open(control("big")).read())

def main():
    if "--version" in sys.argv:
        return print("%s 0.1.0 (commit %s, CUDA %s)" % (name, setting("commit"), setting("cuda")))
    if "--list" in sys.argv:
        return print("grid_sync\tof a GPU\n" + "multi_grid_sync\tof GPUs" * MULTI_GRID)
    if "--devices" in sys.argv:
        if GPUS == 0:
            print(name + ": error: no CUDA-capable device is detected", file=sys.stderr)
            sys.exit(3)
        print("gpu\tname\tcompute_capability\tsms\tpci_bus_id")
        for g in range(GPUS):
            print("%d\t%s\t9.0\t132\t0000:%02x:00.0" % (
                g, setting("gpu_names").split(",")[g % 2], g + 16))
        return
    open(control("calls"), "a").write(" ".join(sys.argv[1:]) + "\n")
    print(name + ": on stderr", file=sys.stderr)
    for row in rows():
        sys.stdout.write(row)
        sys.stdout.flush()
        while os.path.exists(control("wait")) and row.startswith("method"):
            time.sleep(0.05)
    if os.path.exists(control("fail")):
        print(name + ": error: a kernel failed", file=sys.stderr)
        sys.stdout.write("half a ro")
        sys.exit(int(open(control("fail")).read()))

def terminated(number, frame):
    signal.signal(number, signal.SIG_DFL)
    time.sleep(0.2)
    sys.exit(print(name + ": interrupted", file=sys.stderr) or 128 + number)

signal.signal(signal.SIGTERM, terminated)
try:
    main()
except KeyboardInterrupt:
    sys.exit(print(name + ": interrupted", file=sys.stderr) or 130)
except OSError as error:
    print(name + ": error: cannot write:", error.strerror, file=sys.stderr)
    os._exit(1)
'''

UNAME = "#!/bin/sh\necho Linux 6.18.44-1-site7+build\n"

NVIDIA_SMI = r'''#!/bin/sh
case "$*" in
  "topo -m") printf '\033[4m\tGPU0\tGPU1\033[0m\nGPU0\t X \tNV18\n' ;;
  *driver_version*) echo 580.95.05; echo 580.95.05 ;;
  "-i 0000:10:00.0,0000:11:00.0 "*clocks.sm*) echo '1980 MHz'; echo '345 MHz' ;;
  "-i 0000:10:00.0 "*clocks.sm*) echo '1980 MHz' ;;
  *mig.mode.current*) echo 'Field "mig.mode.current" is not a valid field to query.'; exit 2 ;;
  *--query-gpu*) echo Enabled ;;
  *) echo '| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05   CUDA Version: 13.0 |' ;;
esac
'''


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="scripts test "))  # a space, on purpose
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.results = self.folder / "results"
        self.build = self.folder / "build"
        self.system = self.folder / "system"
        (self.system / "dev").mkdir(parents=True)
        (self.system / "dev/nvidia0").touch()
        self.build.mkdir()
        self.write_fakes(self.build)
        self.environment = dict(os.environ, SYNC_SYSTEM_ROOT=str(self.system), SYNC_NO_INSTALL="1")

    def write_fakes(self, folder, cuda="13.0", commit="0123456789ab"):
        for key, text in (("gpus", "2"), ("gpu_names", "NVIDIA H200,NVIDIA H200"),
                          ("commit", commit), ("cuda", cuda)):
            (folder / key).write_text(text)
        for name in NAMES:
            write_program(folder / name, FAKE)

    def set(self, **controls):
        """set(gpus=1) or, of one executable, set(BenchmarkInterSM_fail=1)"""
        for name, text in controls.items():
            if name.startswith(NAMES):
                name = name.replace("_", ".")
            (self.build / name).write_text(str(text))

    def use_tools(self, **programs):
        """Programs that are found before those of the system; apt_get: apt-get."""
        tools = self.folder / "tools"
        if not tools.exists():
            tools.mkdir()
            self.environment["PATH"] = "%s:%s" % (tools, self.environment["PATH"])
        for name, text in programs.items():
            write_program(tools / name.replace("_", "-"), text)

    def command(self, script, *arguments, root=ROOT):
        return ["bash", str(root / "scripts" / script), *map(str, arguments)]

    def execute(self, command, **options):
        return subprocess.run(command, env=self.environment, cwd=self.folder, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, **options)

    def run_sh(self, *arguments):
        return self.execute(self.command("run.sh", *arguments, "--build-dir", self.build,
                                         "--results", self.results))

    def calls(self, name, build=None):
        path = (build or self.build) / (name + ".calls")
        return path.read_text().splitlines() if path.exists() else []

    def only_folder(self):
        folders = list(self.results.iterdir())
        self.assertEqual(len(folders), 1, folders)
        return folders[0]

    def assert_refused(self, done, code, message):
        """One line on stderr, nothing on stdout."""
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(message, done.stderr)

    def assert_whole_rows(self, path):
        text = path.read_text()
        self.assertTrue(text == "" or text.endswith("\n"), text)
        fields = 0
        for line in filter(lambda line: not line.startswith("#"), text.splitlines()):
            fields = line.count("\t") if line.startswith("method") else fields
            self.assertEqual(line.count("\t"), fields, line)
