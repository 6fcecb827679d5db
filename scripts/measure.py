#!/usr/bin/env python3
"""Runs the built executables and collects their rows in one folder; run.sh and sweep_gpus.sh
call it.

The folder's name ends in .partial until everything is in it. A run that is interrupted or
fails keeps it, with the rows that were measured until then. Exit codes: those of run.sh.
"""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

from parts import command_line, checksums, environment, programs, suite, tsv
from parts.command_line import Stop, say
from parts.lacking_methods import lacking
from reporting import headline, normal, verdict
from reporting.run_warnings import joined

RESULTS = Path(__file__).resolve().parent.parent / "results"
# --quick: the rows that tell most, of each kind of barrier; half the processes, three numbers of blocks.
QUICK_WORDS = {"ImplicitBarrier": ["--processes", "5"], "BenchmarkInterSM": ["--blocks-per-sm", "1,8,32"]}
QUICK = ("traditional_launch", "blocksync", "tile_sync", "cluster_sync", "grid_sync",
         "peer_grid_sync", "read_limit")
MPI_SECONDS = 60  # in which mpirun starts processes, or nothing is measured with it
HOURS = 2  # the most that an executable may take; all together they take minutes

# Of a program. text: how; said: its last line.
Failure = namedtuple("Failure", "code text said")


def find_devices(executable, gpu_count, simulated):
    """The rows of --devices of the GPUs to measure, all where gpu_count is None."""
    done = programs.run([executable, "--devices"], environment.SECONDS,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise Stop(3 if done.returncode == 3 else 1, "the NVIDIA GPU cannot be used: "
                   + done.stderr.decode(errors="replace").strip())
    if tsv.is_simulated(done.stdout) != simulated:
        raise Stop(2, f"{executable} is {'not ' * simulated}of simulated GPUs: --simulated says so")
    found = tsv.read_table(done.stdout, f"{executable} --devices")
    if gpu_count and gpu_count > len(found):
        raise Stop(2, f"requested {gpu_count} GPUs but only {len(found)} "
                   + ("was found" if len(found) == 1 else "were found"))
    return found[:gpu_count]


def usable_older(folder, build, names):
    """The folder, if these programs are there and of the commit of `build`."""
    if not names:
        return None
    ours = environment.version_of(build / "ImplicitBarrier")[0]
    theirs = environment.distinct(
        environment.version_of(folder / name)[0] if folder and (folder / name).exists() else "none"
        for name in names)
    if theirs in (ours, "none"):
        return folder if theirs == ours else None
    say(f"warning: {folder} is of commit {theirs}, not of {ours}: multi_grid_sync and that "
        "toolkit's warp barriers are not measured")
    return None


def pretend(gpus):
    """What programs on simulated GPUs are told; words of the user's own come last and win. Arrays
    are small: their sums are computed on the host."""
    os.environ["STAND_IN"] = " ".join((f"gpus={gpus or 1} memory_mib=64",
                                       os.environ.get("STAND_IN", "")))


def make_folder(results, devices, before="", label=""):
    gpu = re.sub("[^a-z0-9]+", "-", devices[0]["name"].lower().replace("nvidia ", "")).strip("-")
    try:
        results.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise Stop(1, f"{results} is not a folder") from None
    while True:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        folder = results / f"{before}{gpu}x{len(devices)}_{label and label + '_'}{stamp}.partial"
        try:
            folder.mkdir()
            if not folder.with_suffix("").exists():
                return folder
            folder.rmdir()  # one that began in this second has ended
        except FileExistsError:
            pass
        time.sleep(0.1)  # another run began in this second


def step(folder, program, gpus, methods, suffix=""):
    """(name of the output, command); methods: None: all."""
    words = [folder / program.name, *[gpus] * program.takes_gpu_count,
             *["--stats"] * program.has_means]
    words += ["--method", ",".join(methods)] if methods is not None else []
    return program.name + suffix, list(map(str, words))


def of_processes(build, gpus):
    """The steps with a process for each GPU, where mpirun can start them."""
    if gpus == 1 or not shutil.which("mpirun"):
        return
    start = ["mpirun", "--bind-to", "none", "-np", str(gpus)]
    command = [*start, build / "Libraries", "--method", "mpi_barrier", "--samples", "2"]
    try:
        done = programs.run(command, MPI_SECONDS, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip("-")]
        why = (said or [f"exit code {done.returncode}"])[0] if done.returncode else ""
    except Stop as stop:
        if stop.args[0] != 1:  # a signal
            raise
        why = stop.args[1]
    if why:
        say(f"warning: nothing is measured with a process for each GPU: {shlex.join(map(str, command))}: {why}")
        return
    for name in suite.IN_PROCESSES:
        yield name + suite.PROCESSES, [*start, str(build / name), "--stats"]


def plan(build, older, gpus, everything):
    """The steps of what is measured where no methods are named."""
    def gone(name, kept=()):
        """The methods that the newer toolkit has no more, and those of `kept`."""
        here = environment.methods_of(build / name)
        return [method for method in environment.methods_of(older / name)
                if method in kept or method not in here]

    steps = [step(build, program, gpus, None) for program in suite.PROGRAMS]
    some = {}  # not all methods
    if older:
        several = ["multi_grid_sync", *["multi_grid_sync_no_peer"] * (gpus > 1)]
        some = {"BenchmarkInterSM": several + [
                    name for name in environment.methods_of(older / "BenchmarkInterSM")
                    if name.startswith("cub_grid_barrier")],
                "Reduction": gone("Reduction", [  # a compiler makes those of one warp what they are
                    row["method"] for row in environment.described(older / "Reduction")
                    if row["scope"] == "warp"]),
                "Stencil": gone("Stencil"),
                "Pitfalls": [name for name in gone("Pitfalls")
                             if gpus > 1 or not name.endswith("_gpus")]}
    # All methods of the others: what is left of a warp barrier is the compiler's choice.
    steps += [step(older, program, gpus, some.get(program.name), suite.OLDER)
              for program in suite.PROGRAMS
              if older and program.older_toolkit and some.get(program.name) != []]
    steps += of_processes(build, gpus) if everything else []
    return sorted(steps, key=lambda one: one[0].startswith(suite.NAMES[-1]))  # last: see there


def plan_of_methods(build, older, gpus, methods):
    """The same of these methods alone, by the programs that have them; by those of the older
    toolkit what the others lack."""
    missing = list(methods)
    for folder, suffix in ((build, ""), *[(older, suite.OLDER)] * bool(older)):
        wanted, missing = missing, list(missing)
        for program in suite.PROGRAMS:
            if not (folder / program.name).exists():
                continue
            found = environment.methods_of(folder / program.name)
            mine = [method for method in wanted if method in found]
            # On one GPU it has nothing to say of a barrier that others measure, too.
            spare = program.name == "Libraries" and gpus == 1 and not set(mine) & set(missing)
            missing = [method for method in missing if method not in mine]
            if mine and not spare:
                yield step(folder, program, gpus, mine, suffix)
    if missing:
        raise Stop(2, f"no program in {build} has a method '{missing[0]}'" + (
            "" if older else ", nor is there a build with a toolkit before CUDA 13, which has some more"))


def plan_of_run(options, gpus):
    """The same of what was asked for."""
    if options.program:
        name, words = step(options.build, suite.BY_NAME[options.program], gpus, None)
        return [(name, words + [word for word in options.more if word not in words[2:]])]  # --stats
    for_older = not options.method or lacking(options.build, options.method)
    older = usable_older(options.older, options.build, [
        program.name for program in suite.PROGRAMS if program.older_toolkit and for_older])
    if options.method:
        steps = list(plan_of_methods(options.build, older, gpus, options.method))
        return [(name, words + (QUICK_WORDS.get(name, []) if options.method is QUICK else []))
                for name, words in steps]
    return [(name, words + ["--all"] * options.all)
            for name, words in plan(options.build, older, gpus, options.all)]


def drop_cut_row(path):
    """A process that was killed can leave half a row."""
    data = path.read_bytes()
    os.truncate(path, data.rfind(b"\n") + 1)


def run_program(name, command, folder, seconds, tell=say, meanwhile=None):
    """Rows into NAME.tsv, what it says into stderr.log and to tell(), with the name of the output,
    but for the warnings that its rows have, too. Returns how it has failed, or None."""
    rows, told = folder / f"{name}.tsv", []

    def ended(errors):
        drop_cut_row(rows)
        text = re.sub(f"(?m)^({name.split('.')[0]}: )?(?=.)", f"{name}: ",
                      errors.decode(errors="replace"))
        told.extend(text.splitlines())
        with open(folder / "stderr.log", "a", encoding="utf-8") as log:
            log.write(text)

    with open(rows, "wb") as output:
        done = programs.run(command, seconds, ended, meanwhile, stdout=output, stderr=subprocess.PIPE,
                            env=dict(os.environ, SYNCBENCH_WARNINGS="none"))  # see joined()
    for line in told:  # not after a signal: what it says then is not what matters
        if not line.startswith(f"{name}: warning["):
            tell(line)
    code = done.returncode
    # Methods are named to leave out the others: what this machine cannot have is no failure.
    return None if code in (0, 4) else Failure(code, f"{name} " + (
        f"failed with exit code {code}" if code > 0 else f"was ended by signal {-code}"),
        told[-1] if told else "")


class Progress:
    """Says on stderr what is measured and about how many seconds are left: on a terminal in one
    line that is renewed, elsewhere in a line for a program, but not more than one each EVERY
    seconds. expected: {output: seconds}; those that have ended tell how much slower it is here."""
    EVERY = 30

    def __init__(self, expected):
        self.expected, self.took = expected, {}
        self.terminal, self.told = os.isatty(2), -self.EVERY
        self.start = self.began = time.monotonic()

    @contextlib.contextmanager
    def of(self, name):
        """While it is measured."""
        self.name, self.began = name, time.monotonic()
        if self.terminal or self.began - self.told >= self.EVERY:
            self.told = self.began
            self.show()
        try:
            yield
        finally:
            self.took[name] = time.monotonic() - self.began
            self.clear()

    def left(self):
        some = 1 + 0.1 * sum(self.expected.values())  # as if so many were as expected
        slower = (some + sum(self.took.values())) / (some + sum(map(self.expected.get, self.took)))
        now = slower * self.expected[self.name] - (time.monotonic() - self.began)
        return max(now, 0) + slower * sum(seconds for name, seconds in self.expected.items()
                                          if name not in self.took and name != self.name)

    def show(self):
        text = (f"{len(self.took) + 1} of {len(self.expected)}, after "
                f"{time.monotonic() - self.start:.0f} s, about {self.left():.0f} s left: {self.name}")
        if self.terminal:
            os.write(2, f"\r\033[K{text}".encode())
        else:
            say(text)

    def clear(self):
        if self.terminal:
            os.write(2, b"\r\033[K")

    def tell(self, line):
        self.clear()
        say(line)

    def meanwhile(self):
        if self.terminal:
            self.show()


def write_about(folder, name, text, simulated):
    """A file beside the rows."""
    (folder / name).write_text(f"{tsv.SIMULATED}\n" * simulated + text, encoding="utf-8")


def write_environment(folder, pairs, simulated):
    write_about(folder, "environment.tsv", "".join(
        f"{key}\t{value}\n" for key, value in (("key", "value"), *pairs)), simulated)


def fill(folder, devices, executable, steps, options):
    """Measures all steps; the folder's final path."""
    simulated = options.simulated
    of_older = [command[0] for name, command in steps if name.endswith(suite.OLDER)]
    older_executable = of_older[0] if of_older else None
    rows = environment.rows(devices, executable, older_executable)
    rows += [("label", options.label)] * bool(options.label)
    rows += [("methods", ",".join(options.method))] if options.method else []
    rows += [("sets", "all")] * options.all
    write_environment(folder, rows, simulated)
    write_about(folder, "stderr.log", "", simulated)
    write_about(folder, "topology.txt", "no GPUs\n" if simulated else environment.topology(),
                simulated)
    progress = Progress({name: suite.usual_seconds(name, len(devices), command, simulated)
                         for name, command in steps})

    def tell(line):  # plan() names methods that nobody asked for
        if options.method or ": error: asked for and not measured: " not in line:
            progress.tell(line)

    for name, command in steps:
        with progress.of(name):
            failure = run_program(name, command, folder, 3600 * options.hours, tell,
                                  progress.meanwhile)
        if failure and name.endswith(suite.PROCESSES):  # the rest does not need it
            say(f"warning: {failure.text}: its rows are in {name}.failed")
            (folder / f"{name}.tsv").rename(folder / f"{name}.failed")
            del progress.took[name]
        elif failure:  # other codes of it would mean something else as those of this script
            raise Stop(3 if failure.code == 3 else 1, failure.text)
    rows += [(environment.SECONDS_OF + name, f"{took:.1f}") for name, took in progress.took.items()]
    write_environment(folder, rows, simulated)
    tsv.Run(folder, simulated, whole=True)  # what cannot be read is no complete run
    checksums.write(folder)  # last: the run is complete
    final = folder.with_suffix("")
    folder.rename(final)
    return final


def measured_again(folder, methods, devices, executable, steps, options):
    """The Run of {output: methods}, once more, in a folder of the run."""
    again = []
    for name, words in steps:
        if name in methods:
            if "--method" in words:
                place = words.index("--method")
                words = words[:place] + words[place + 2:]
            again.append((name, words + ["--method", ",".join(methods[name])]))
    options = argparse.Namespace(**{**vars(options), "method": sorted(set().union(*methods.values()))})
    say(f"measuring again what is not as recorded: {', '.join(options.method)}")
    unfinished = folder / f"{tsv.AGAIN}.partial"
    unfinished.mkdir()
    return tsv.Run(fill(unfinished, devices, executable, again, options), options.simulated)


def judged(folder, run, devices, executable, steps, options):
    """[("", Verdict, further faults)], kept in the folder; what differs is measured again."""
    recorded, faults = normal.recorded_runs(RESULTS), []
    found = [("", verdict.Verdict(run, recorded), faults)]
    verdict.keep(folder, found, options.simulated)
    methods = found[0][1].to_measure_again()
    if methods:
        try:
            run.again = measured_again(folder, methods, devices, executable, steps, options)
        except (Stop, tsv.TsvError) as error:
            if isinstance(error, Stop) and error.args[0] >= 128:  # a signal
                raise
            faults.append(verdict.Fault("broken", f"measured again: {error.args[-1]}"))
        found = [("", verdict.Verdict(run, recorded), faults)]
        verdict.keep(folder, found, options.simulated)
    return found


def report(folder, simulated):
    """Where report.py has written, in a line for people; what it says goes to stderr. The rows
    are there by now, so that its failure is said and is none of the run."""
    script = Path(__file__).resolve().parent / "report.py"
    command = [script, folder] + ["--simulated"] * simulated
    code = programs.run([sys.executable, *command], None, stdout=subprocess.DEVNULL).returncode
    if code:
        say(f"warning: there is no report (exit code {code} of report.py); again with: "
            + " ".join(map(str, command)))
        return "Report: none"
    return f"Report: {folder / 'report' / 'report.html'}"


def label(text):
    if not re.fullmatch("[A-Za-z0-9._-]{1,64}", text):
        raise argparse.ArgumentTypeError("must be 1 to 64 letters, digits, dots, hyphens and _")
    return text


def hours(text):
    if not 0 < float(text) <= 1000:
        raise ValueError
    return float(text)


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("build", type=Path, help="the folder of the executables")
    parser.add_argument("--gpus", type=command_line.count, metavar="N",
                        help="GPUs to measure (default: all; simulated: 1)")
    parser.add_argument("--results", type=command_line.folder_of_runs, required=True,
                        help="where the folder is made")
    parser.add_argument("--older", type=Path, metavar="BUILD",
                        help="executables of a toolkit before CUDA 13, if they are there")
    parser.add_argument("--hours", type=hours, default=HOURS, metavar="H",
                        help=f"stop an executable that has not ended by then (default: {HOURS})")
    parser.add_argument("--label", type=label, metavar="TEXT",
                        help="a name for this machine, in the folder's name and the report")
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--method", type=lambda text: text.split(","), metavar="NAME[,NAME...]",
                      help="measure these methods alone")
    some.add_argument("--quick", action="store_const", dest="method", const=QUICK,
                      help=f"the same as --method {','.join(QUICK)}, at fewer points")
    parser.add_argument("--simulated", action="store_true",
                        help="the executables are those on simulated GPUs")
    some.add_argument("--all", action="store_true", help="measure all that the programs have")
    some.add_argument("--program", choices=[program.name for program in suite.PROGRAMS
                                            if program.takes_gpu_count],
                      help="run this program alone, and write no report")
    parser.add_argument("more", nargs="*", metavar="ARGUMENT", help="more arguments of --program")
    options = parser.parse_args()
    script = "sweep_gpus.sh" if options.program else "run.sh"
    if options.more and not options.program:
        parser.error("only --program takes more arguments")
    if options.simulated:
        pretend(options.gpus)
    folder = None
    try:
        executable = options.build / (options.program or "ImplicitBarrier")
        devices = find_devices(executable, options.gpus, options.simulated)
        steps = plan_of_run(options, len(devices))
        folder = make_folder(options.results, devices, "simulated_" * options.simulated,
                             options.label or "")
        folder = fill(folder, devices, executable, steps, options)
    except (Stop, OSError, tsv.TsvError) as error:
        code, reason = error.args if isinstance(error, Stop) else (1, error)
        if isinstance(error, OSError) and error.filename:  # without its number
            reason = f"{error.filename}: {error.strerror}"
        kept = f"; what was measured is in {folder}" if folder and folder.exists() else ""
        say(f"{script}: {reason}{kept}")
        return code
    try:
        run = tsv.Run(folder, options.simulated)
        lines = list(joined(run))
        for line in lines + [f"All of these are comments in {folder}/*.tsv"] * bool(lines):
            say(line)
        if options.program:
            print(f"Results: {folder}")
            return 0
        found = judged(folder, run, devices, executable, steps, options)
        said = [*headline.conclusions(run), f"Is it normal? {verdict.told(found)[1]}; "
                f"{run.path / verdict.FILE} says why"]
        print(run.mark + run.about(), "", *headline.short_lines([run]), "",
              *(run.mark + sentence for sentence in said), sep="\n", flush=True)
        reported = report(folder, options.simulated)
    except Stop as stop:
        say(f"{script}: {stop.args[1]}; what was measured is in {folder}")
        return stop.args[0]
    print(f"All tables: scripts/summary.py {'--simulated ' * options.simulated}{folder}\n\n"
          f"{reported}\nResults: {folder}")
    if options.simulated:
        print("Simulated: nothing of this machine was measured.")
    return 0


if __name__ == "__main__":
    command_line.main(work, "measure.py")
