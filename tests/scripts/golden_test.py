"""golden.py finds each kind of difference in small outputs, programs and kernels."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import golden  # noqa: E402

# Its output, CUDA calls and exit code.
PROGRAM = """#!/bin/sh
{{ echo '1	-1	0	cudaMalloc	x'; {call}; }} >>"${{STAND_IN##*calls=}}"
echo 'row commit={commit} [gpu_count]'
echo 'in /folder/of/a.cpp:{line}' >&2
echo {error} >&2
exit {code}
"""
HEALTHY = dict(call="true", commit="0123456789ab", line=12, error="", code=0)


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
        for kind, planted in (("exit code", dict(code=3)), ("standard error", dict(error="broken")),
                              ("rows", dict(commit="0123456789ab\t8")),
                              ("calls", dict(call="echo '2\t-1\t0\tcudaFree\tx'"))):
            self.assertEqual(self.kinds(**planted), {kind})

    def test_what_is_shown(self):
        for new, shown in (("a\nb\n", "+b"), ("a", "+a")):
            found, = golden.text_differences("rows", "a\n", new)
            self.assertEqual(found.text.splitlines()[-1].strip(), shown)


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
