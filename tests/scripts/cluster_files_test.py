"""The files of cluster/: what they name is there, and a shell can read them."""

import json
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "cluster"
HERE = "/opt/syncbench/"  # of the images


def faults_of(name, text):
    text = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#(?!SBATCH).*\n", "", text))  # a line of several
    if name == "Dockerfile":
        commands = re.findall(r"(?m)^RUN (.*)", text)
        commands += [" ".join(json.loads(one)) for one in re.findall(r"(?m)^ENTRYPOINT (.*)", text)]
        sources = re.findall(r"(?m)^COPY (\S+)", text)
    elif name.endswith(".def"):
        sections = dict(re.findall(r"(?ms)^%(\w+)\n(.*?)(?=^%|\Z)", text))
        commands = [sections["post"], sections["runscript"]]
        sources = re.findall(r"(?m)^\s*(\S+)", sections["files"])
    else:
        commands, sources = [text], []
        if re.search(r"(?m)^[^#\n].*\n(.*\n)*#SBATCH", text):
            yield "a command before #SBATCH, which Slurm then ignores"
    for command in commands:
        done = subprocess.run(["bash", "-n"], input=command, stderr=subprocess.PIPE, text=True,
                              check=False)
        yield from done.stderr.splitlines()
    yield from (f"no {source}" for source in sources
                if source != ".git" and not (ROOT / source).exists())  # sources can come without it
    options = (ROOT / "scripts/run.sh").read_text()
    yield from (f"run.sh has no {option}" for line in re.findall(r"run\.sh[ \",]+(.*)", text)
                for option in re.findall(r"--\w[\w-]*", line) if f"\n#   {option} " not in options)
    paths = re.findall(rf"{HERE}([\w./]+\w)|\s(scripts/\S+)", text)
    yield from (f"no {''.join(path)}" for path in paths if not (ROOT / "".join(path)).is_file())
    if sources:  # packages of the line in README, but for tests and what is fetched; and git
        line = re.search(r"apt-get install (.*)", (ROOT / "README.md").read_text())[1]
        wanted = set(line.split()) - {"libgtest-dev", "python3-pip"} | {"git"}
        found = re.search(r"--no-install-recommends ([^&\n]*)", text)
        yield from (f"package {package}" for package in sorted(wanted ^ set(found[1].split())))


class ClusterFilesTest(unittest.TestCase):
    def test_files(self):
        for name in ("Dockerfile", "syncbench.def", "job.sbatch", "processes.sbatch"):
            self.assertEqual(list(faults_of(name, (FOLDER / name).read_text())), [])

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
