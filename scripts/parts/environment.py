"""What a results folder says about the machine, as rows of key and value.

Only what explains a number is kept: no host, user or path names, no serial numbers.
"""

import os
import platform
import re
import subprocess
from datetime import datetime, timezone

from parts import programs, tsv

SECONDS_OF = "seconds_"  # key of how long an output took, before its name
SECONDS = 300  # the most that a program may take that says something of the machine


def output_of(*command):
    """Standard output of a program, empty where it does not run or fails."""
    try:
        done = programs.run(command, SECONDS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            env=dict(os.environ, LC_ALL="C"))
    except OSError:
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


def version_of(executable):
    """(commit, CUDA release), by its --version."""
    said = tsv.pairs_of(output_of(executable, "--version"))
    return said.get("commit", "unknown"), said.get("toolkit", "unknown")


def methods_of(executable):
    """The names that its --list has, in that order."""
    return list(groups_of(executable))


def groups_of(executable):
    """{name: the group that its --list has}"""
    lines = [line.split("\t") for line in output_of(executable, "--list").splitlines()]
    return {cells[0]: cells[3] for cells in lines}


def described(executable):
    """The rows of its --machine-code: what its methods are, which is the same of every
    architecture, but for their instructions."""
    text, command = output_of(executable, "--machine-code", "90"), f"{executable} --machine-code"
    if not text:
        raise tsv.TsvError(f"{command} says nothing")
    return tsv.read_table(text.encode(), command)


def distinct(values):
    """"a" where all are the same, "a; b" where they differ."""
    return "; ".join(dict.fromkeys(values))


def smi(bus_ids, field):
    """A field of nvidia-smi. Each is asked for by itself: an older driver that does not
    know one would refuse them all."""
    return distinct(output_of("nvidia-smi", "-i", ",".join(bus_ids), f"--query-gpu={field}",
                              "--format=csv,noheader").splitlines())


def first(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else ""


def os_name():
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            return first(r'^PRETTY_NAME="?([^"\n]*)', file.read())
    except OSError:
        return ""


def rows(devices, executable, older_executable=None):
    """(key, value) pairs. `devices`: the rows of --devices of the GPUs that are measured."""
    bus_ids = [gpu["pci_bus_id"] for gpu in devices]
    cores = {line for line in output_of("lscpu", "-p=Core,Socket").splitlines()
             if not line.startswith("#")}
    commit, toolkit = version_of(executable)
    pairs = [("gpu", distinct(gpu["name"] for gpu in devices)),
             ("gpu_count", str(len(devices))),
             ("compute_capability", distinct(gpu["compute_capability"] for gpu in devices)),
             ("sms", distinct(gpu["sms"] for gpu in devices)),
             ("driver", smi(bus_ids, "driver_version")),
             ("driver_cuda", first(r"CUDA Version: *([0-9.]+)", output_of("nvidia-smi"))),
             ("cuda_toolkit", toolkit)]
    if older_executable:
        pairs.append(("cuda_toolkit_before13", version_of(older_executable)[1]))
    pairs += [(key, smi(bus_ids, field)) for key, field in (
        ("sm_clock_at_start", "clocks.sm"), ("sm_clock_max", "clocks.max.sm"),
        ("sm_clock_application", "clocks.applications.graphics"), ("ecc", "ecc.mode.current"),
        ("mig", "mig.mode.current"), ("persistence_mode", "persistence_mode"))]
    pairs += [("cpu", first(r"^Model name: *(.*)", output_of("lscpu"))),
              ("cpu_cores", str(len(cores) or "")),
              ("os", os_name()),
              # What follows the version number names a distribution or a site.
              ("kernel", f"{platform.system()} {first(r'^([0-9.]*[0-9])', platform.release())}"),
              ("suite_commit", commit),
              ("date_utc", datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))]
    return [(key, re.sub(r"\s+", " ", value) or "unknown") for key, value in pairs]


def topology():
    """How the GPUs are linked, as nvidia-smi draws it."""
    table = output_of("nvidia-smi", "topo", "-m")
    # It underlines its header even in a file.
    return re.sub(r"\x1b\[[0-9;]*m", "", table) or "not available: nvidia-smi topo -m failed\n"
