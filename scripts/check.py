#!/usr/bin/env python3
"""Is this node normal?

  check.py DIR    judges a results folder
  check.py        measures the rows that tell most, in about 20 s, and judges them. If that is not
                  normal, or with --keep, rows and verdict (verdict.txt) stay in a folder

Rows are compared with recorded runs of the same kind of GPU. docs/normal.md says what is
normal. stdout: a line for each fault, then the verdict:
  normal   exit code 0: all is as on the recorded machines
  look     exit code 1: something differs, or is missing
  broken   exit code 2: much slower, or something does not work
  unknown  exit code 4: nothing is wrong, but of this GPU, toolkit or program nothing is recorded
Exit code 3: bad usage, a folder that cannot be read, or nothing could be measured.
"""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from parts import command_line, environment, suite, tsv
import measure
from parts.command_line import Stop, say
from reporting import normal
from reporting.verdict import EXIT_CODES, Fault, Verdict, keep, told

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 8  # faults of the node, and of each GPU
SECONDS = 300  # the most that a program may take
# (program, methods, more arguments)
IN_SM = ("BenchmarkIntraSM", "blocksync,cluster_sync,threadfence,global_add", ())
MEMORY = ("Reduction", "read_limit", ("--samples", "20", "--type", "float"))
OF_EACH_GPU = (
    IN_SM, ("BenchmarkInterSM", "grid_sync", ("--samples", "20", "--blocks-per-sm", "1,4")),
    MEMORY)
OF_NODE = (
    ("ImplicitBarrier", "traditional_launch", ("--processes", "3")), IN_SM,
    ("BenchmarkInterSM", "grid_sync,peer_grid_sync", ("--samples", "20")), MEMORY)


@contextlib.contextmanager
def only_gpu(number):
    """Programs see one of the GPUs that are visible here; None: all of them."""
    name, before = "CUDA_VISIBLE_DEVICES", os.environ.get("CUDA_VISIBLE_DEVICES")
    if number is not None:
        os.environ[name] = before.split(",")[number] if before else str(number)
    try:
        yield
    finally:
        if number is not None:
            os.environ.pop(name)
            os.environ.update({name: before} if before is not None else {})


def where(program, gpu):
    """For people; gpu: that sees it alone, or ""."""
    return f"{program} on {gpu}" if gpu else program


def run_of(build, devices, steps, folder, simulated, gpu, progress):
    """The run of these steps, and a Fault of each that failed."""
    folder.mkdir(parents=True)
    measure.write_environment(folder, environment.rows(devices, build / "ImplicitBarrier"),
                              simulated)
    measure.write_about(folder, "stderr.log", "", simulated)
    faults = []
    for program, methods, more in steps:
        _, words = measure.step(build, suite.BY_NAME[program], len(devices), methods.split(","))
        with progress.of(where(program, gpu)):
            failure = measure.run_program(program, [*words, *more], folder, SECONDS,
                                          lambda line: None,  # what it lacks: see lacking()
                                          progress.meanwhile)
        if failure:
            (folder / f"{program}.tsv").unlink()
            faults.append(Fault("broken", f"{failure.text}: {failure.said or 'it says nothing'}"))
    complete = any((folder / f"{program}.tsv").exists() for program, *_ in steps)
    return tsv.Run(folder, simulated) if complete else None, faults


def lacking(run, steps):
    """A Fault of each method that could not be measured."""
    for program, methods, _ in steps:
        found = {row["method"] for section in run.files.get(program, ()) for row in section.rows}
        for method in methods.split(",") if program in run.files else ():
            if method not in found:
                yield Fault("look", f"{method} was not measured ({program})")


def progress_of(parts, simulated):
    """Of (which GPU, its number, devices, steps)."""
    return measure.Progress({
        where(program, what): suite.usual_seconds(program, len(gpus), ("--method",), simulated)
        for what, _, gpus, steps in parts for program, *_ in steps})


def measured_verdicts(options, recorded, folder):
    """(what, Verdict or None, further faults) of the node and of each GPU of several."""
    devices = measure.find_devices(options.build / "ImplicitBarrier", options.gpus,
                                   options.simulated)
    parts = [("", None, devices, OF_NODE)]
    if len(devices) > 1:
        parts += [(f"GPU {number}", number, [device], OF_EACH_GPU)
                  for number, device in enumerate(devices)]
    runs = []
    progress = progress_of(parts, options.simulated)
    for what, number, gpus, steps in parts:
        with only_gpu(number):
            run, faults = run_of(options.build, gpus, steps, folder / (what or "node"),
                                 options.simulated, what, progress)
        runs.append((run, [*faults, *(lacking(run, steps) if run else ())]))
    of_gpus = [run for (what, *_), (run, _) in zip(parts, runs) if what and run]
    for (what, number, gpus, steps), (run, faults) in zip(parts, runs):
        verdict = run and Verdict(run, recorded, partial=True)
        methods = verdict.to_measure_again() if verdict else {}
        if methods:
            again = [(program, ",".join(methods[program]), more) for program, _, more in steps
                     if program in methods]
            unfinished = run.path / f"{tsv.AGAIN}.partial"
            with only_gpu(number):
                run.again, failed = run_of(
                    options.build, gpus, again, unfinished, options.simulated, what,
                    progress_of([(what, number, gpus, again)], options.simulated))
            if run.again:
                unfinished.rename(run.path / tsv.AGAIN)
            faults.extend(failed)
            verdict = Verdict(run, recorded, partial=True)
        others = [other for other in of_gpus if other is not run]
        if verdict and not verdict.runs and what and len(others) > 1:
            faults.extend(fault for fault in Verdict(run, others, partial=True).faults
                          if any(row.verdict == "slower" for row in fault.rows))
        yield what, verdict, faults


def show(found, folder=None):
    """Prints the verdict, says where the measured rows are if that is not normal: exit code."""
    lines, level = told(found, SHOWN)
    if folder and level != "normal":
        say(f"what was measured is in {folder}")
    print("\n".join(lines))
    return EXIT_CODES[level]


def parse_arguments():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="a results folder")
    parser.add_argument("--against", action="append", type=Path, metavar="DIR",
                        help="a run to compare with, instead of the recorded ones; can be repeated")
    parser.add_argument("--gpus", type=command_line.count, metavar="N",
                        help="GPUs to measure (default: all; simulated: 1)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="DIR",
                        help="the folder of the executables (default: build)")
    parser.add_argument("--keep", type=command_line.folder_of_runs, metavar="DIR",
                        help="keep the measured rows in this new folder")
    parser.add_simulated()
    options = parser.parse_args()
    if options.folder and (options.gpus or options.keep):
        parser.error("--gpus and --keep are for measuring, not for a folder")
    return options


def work():
    options = parse_arguments()
    recorded = ([tsv.Run(path, options.simulated) for path in options.against]
                if options.against else normal.recorded_runs(ROOT / "results"))
    if options.folder:
        run = tsv.Run(options.folder, options.simulated)
        for doubt in run.doubts():
            say(f"warning: {doubt}")
        return show([("", Verdict(run, recorded), [])])
    if not (options.build / "ImplicitBarrier").exists():
        raise Stop(3, f"there are no executables in {options.build}; scripts/run.sh builds them")
    if options.simulated:
        measure.pretend(options.gpus)
    if options.keep:
        options.keep.mkdir(parents=True)
    folder, code = options.keep or Path(tempfile.mkdtemp(prefix="check_")), 0
    try:
        found = list(measured_verdicts(options, recorded, folder))
        keep(folder, found, options.simulated)
        code = show(found, folder)
    finally:
        if not options.keep and not code:
            shutil.rmtree(folder)
    return code


if __name__ == "__main__":
    command_line.main(work, "check.py", failed=3)
