"""The files of cluster/: their form, and that what they name is there."""

import itertools
import json
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "cluster"
INSTRUCTIONS = {"ARG", "FROM", "RUN", "COPY", "WORKDIR", "ENTRYPOINT"}
SECTIONS = {"files", "post", "runscript"}
HERE = "/opt/syncbench/"  # of the images
SLURM = {"job-name", "nodes", "ntasks-per-node", "exclusive", "gpus-per-node", "time"}


def joined(text):
    """Lines without comments; one that ends in a backslash goes on in the next."""
    return [line for line in re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
            if line.strip()]


def faults_of_commands(text, shell="sh"):
    done = subprocess.run([shell, "-n"], input=text, stderr=subprocess.PIPE, text=True, check=False)
    yield from done.stderr.splitlines()
    options = (ROOT / "scripts/run.sh").read_text()
    yield from (f"run.sh has no {name}" for line in re.findall(r"run\.sh (.*)", text)
                for name in re.findall(r"--\w[\w-]*", line) if f"\n#   {name} " not in options)
    paths = re.findall(rf"{HERE}([\w./]+)", text)
    paths += re.findall(r"\s(scripts/\S+)", text)
    yield from (f"no {path}" for path in paths if not (ROOT / path).is_file())


def faults_of_packages(text):
    """They are those of the line in README but for tests and for what is fetched, and git."""
    line = re.search(r"apt-get install (.*)", (ROOT / "README.md").read_text())[1]
    wanted = set(line.split()) - {"libgtest-dev", "python3-pip"} | {"git"}
    found = re.search(r"--no-install-recommends ([^&\n]*)", "\n".join(joined(text)))
    yield from (f"package {name}" for name in sorted(wanted ^ set(found[1].split())))


def faults_of_source(line):
    source = line.split()[0]
    if source != ".git" and not (ROOT / source).exists():  # sources can come without .git
        yield f"no {source}"


def faults_of_dockerfile(text):
    lines = [line.partition(" ")[::2] for line in joined(text)]
    yield from (f"no instruction {name}" for name, _ in lines if name not in INSTRUCTIONS)
    if [name for name, _ in lines if name != "ARG"][:1] != ["FROM"]:
        yield "begins without FROM"
    yield from faults_of_packages(text)
    for name, rest in lines:
        if name == "RUN":
            yield from faults_of_commands(rest)
        elif name == "COPY":
            yield from faults_of_source(rest)
        elif name == "ENTRYPOINT":
            yield from faults_of_commands(" ".join(json.loads(rest)))


def faults_of_definition(text):
    head, *sections = re.split(r"(?m)^%", re.sub(r"(?m)^#.*\n", "", text))
    if sorted(line.split(": ")[0] for line in head.split("\n") if line) != ["Bootstrap", "From"]:
        yield "the head has to be Bootstrap and From"
    names = [section.partition("\n")[0] for section in sections]
    yield from (f"no section {name}" for name in sorted(SECTIONS ^ set(names)))
    yield from faults_of_packages(text)
    for name, section in zip(names, sections):
        lines = section.partition("\n")[2]
        if name == "files":
            yield from itertools.chain(*map(faults_of_source, filter(None, lines.splitlines())))
        else:
            yield from faults_of_commands(lines)


def faults_of_job(text):
    options, _, commands = text.rpartition("#SBATCH")
    yield from faults_of_commands(text, "bash")
    if any(line and not line.startswith("#") for line in options.splitlines()):
        yield "a command before #SBATCH, which Slurm then ignores"
    yield from (f"no option {name}" for name in re.findall(r"(?m)^#SBATCH --([\w-]+)", text)
                if name not in SLURM)
    if not commands.strip().splitlines()[1:]:
        yield "no command"


class ClusterFilesTest(unittest.TestCase):
    def test_files(self):
        """Each is right, and no more so with one of these changes."""
        definition = ((".git /opt", ".gone /opt"), ("%post", "%past"), ("cmake python3", "python3"),
                      ("run.sh --n", "gone.sh --n"), ('"80;90"', '"80;90'))
        for name, faults_of, planted in (
                ("Dockerfile", faults_of_dockerfile, (
                    ("COPY .git", "COPY .gone"), ("RUN git", "RUM git"), ("FROM ${BASE}\n", ""),
                    ("run.sh --b", "gone.sh --b"), ("cmake python3", "python3"))),
                ("syncbench.def", faults_of_definition, definition),
                ("job.sbatch", faults_of_job, (
                    ("#SBATCH --nodes", "date\n#SBATCH --nodes"), ("--exclusive", "--exclusively"),
                    ("run.sh", "gone.sh"), ('-n)}"', '-n}"'))),
                ("processes.sbatch", faults_of_job, (("--ntasks", "--tasks"), ("; do", "; did")))):
            text = (FOLDER / name).read_text()
            self.assertEqual(list(faults_of(text)), [])
            for old, new in planted:
                self.assertIn(old, text)
                self.assertNotEqual(list(faults_of(text.replace(old, new, 1))), [], (old, new))

    def test_what_is_named_is_there(self):
        programs, = re.findall(r"for program in (.*);", (FOLDER / "processes.sbatch").read_text())
        for program in programs.split():
            self.assertTrue(list(ROOT.glob(f"*/{program}.cpp")), program)
        page = (ROOT / "docs/run.md").read_text()
        for path in FOLDER.iterdir():
            self.assertIn(f"cluster/{path.name}", page)
        for line in re.findall(r"-r (\S+)", page):
            self.assertTrue((ROOT / line).is_file(), line)


if __name__ == "__main__":
    unittest.main()
