"""golden.py finds each kind of difference in small outputs, programs and kernels."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import golden  # noqa: E402

OUTPUT = """\
# program[name=Made version=1]
# one: how
method	rep	blk	m(ovh)	s(ovh)
first	9	1	10.000	1.000
first	9	2	20.000	1.000
second	9	1	30.000	1.000
# note[api] second: something
# two: how
method	rep	m(ttl)
first	1	7.000
# end[rows=4]
"""
# Its output, CUDA calls and exit code.
PROGRAM = """#!/bin/sh
{{ echo '1	-1	0	cudaMalloc	x'; {call}; }} >>"${{STAND_IN##*calls=}}"
echo 'row commit={commit} [gpu_count]'
echo 'in /folder/of/a.cpp:{line}' >&2
echo {error} >&2
exit {code}
"""
HEALTHY = dict(call="true", commit="0123456789ab", line=12, error="", code=0)


class Texts(unittest.TestCase):
    def changed(self, *replacements):
        new = OUTPUT
        for old, text in replacements:
            self.assertIn(old, new)
            new = new.replace(old, text)
        return list(golden.text_differences(OUTPUT, new))

    def test_each_kind(self):
        self.assertEqual(self.changed(), [])
        row, other = "first\t9\t1\t10.000\t1.000\n", "first\t9\t2\t20.000\t1.000\n"
        for kinds_found, *replacements in (
                (["rows"], ("10.000", "11.000")),
                (["order of rows"], (row + other, other + row)),
                (["methods with rows only in BASE"], (row, "")),
                (["methods with rows only here"], (row, row + row)),
                (["methods with rows only here", "methods with rows only in BASE"],
                 ("second\t9", "third\t9")),
                (["columns"], ("s(ovh)", "dev(ovh)")),
                (["columns"], ("\tm(ttl)\nfirst\t1\t7.000", "\nfirst\t1")),
                (["rows"], ("\t7.000", "")),
                (["other bytes"], ("\t7.000", "\t7.000\t8")),
                (["lines only here", "lines only in BASE"], ("something", "nothing")),
                (["lines only here", "lines only in BASE"], ("# one: how", "# one: so")),
                (["section only here", "section only in BASE"], ("# two:", "# three:")),
                (["other bytes"], ("[rows=4]\n", "[rows=4]"))):
            found = sorted(one.kind for one in self.changed(*replacements))
            self.assertEqual(found, kinds_found, replacements)
        one, two = ("# {0}\nmethod\tm\n{0}\t1.0\n".format(name) for name in ("one", "two"))
        for old, new, kind in (("a\nb\n", "b\na\n", "lines"), (one + two, two + one, "sections")):
            self.assertEqual([found.kind for found in golden.text_differences(old, new)],
                             [f"order of {kind}"])


class Programs(unittest.TestCase):
    def kinds(self, **planted):
        with tempfile.TemporaryDirectory() as temporary:
            folders = [Path(temporary) / name for name in ("old", "new")]
            for folder, values in zip(folders, (HEALTHY, {**HEALTHY, **planted})):
                folder.mkdir()
                (folder / "Made").write_text(PROGRAM.format(**values))
                os.chmod(folder / "Made", 0o755)
            found = list(golden.compare_rows(folders, ["Made"], ""))
            runs = {where for where, _ in found}
            self.assertIn(len(runs), (0, len(golden.NODES) + len(golden.SHORT)))
            return {one.kind for _, one in found}

    def test_each_kind(self):
        self.assertEqual(self.kinds(), set())
        self.assertEqual(self.kinds(commit="ba9876543210-dirty", line=13), set())
        self.assertEqual(self.kinds(code=3), {"exit code"})
        self.assertEqual(self.kinds(error="broken"),
                         {"standard error, lines only here", "standard error, lines only in BASE"})
        self.assertEqual(self.kinds(call="echo '2\t-1\t0\tcudaFree\tx'"), {"calls"})


class Kernels(unittest.TestCase):
    def test_each_kind(self):
        base = {"scale(int*)": {("digest", 9)}, "add(int*)": {("other", 5)}}
        for new, expected in (
                (base, []), ({**base, "scale(int*)": {("changed", 9)}}, ["code of kernels"]),
                ({"times(int*)": {("digest", 9)}, "add(int*)": {("other", 5)}}, []),  # renamed
                ({**base, "more()": {("third", 1)}}, ["kernels only here"]),
                ({"add(int*)": {("other", 5)}}, ["kernels only in BASE"])):
            self.assertEqual([one.kind for one in golden.code_differences(base, new)], expected)


if __name__ == "__main__":
    unittest.main()
