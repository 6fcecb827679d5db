"""Tests of what the scripts build with: found, installed, fetched or named; and of test.sh."""

import os
import shutil
import unittest

from scripts_support import CMAKE, WAIT, ScriptsTest, write_program

# What the fake pip leaves in its target.
TOOLKIT = 'mkdir -p "$target/nvidia/cu13/bin" && cp "$FAKES/nvcc" "$target/nvidia/cu13/bin"'
NEW_CMAKE = 'mkdir -p "$target/cmake/data/bin" && cp "$FAKES/cmake" "$target/cmake/data/bin"'
SMI = "#!/bin/sh\necho '| NVIDIA-SMI 550.1   Driver Version: 550.1   CUDA Version: {} |'\n"
JUNIT = """<testsuite><testcase name="good" status="run"><system-out/></testcase>
<testcase name="bad" status="fail"><failure message=""/><system-out>
it &lt;broke&gt;
here</system-out></testcase>
<testcase name="on_gpu" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>
no usable CUDA device: skipped
</system-out></testcase>
<testcase name="gate_a" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION"/>
<system-out>many words\nno disassembler</system-out></testcase>
<testcase name="gate_b" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
<system-out>no disassembler</system-out></testcase>
<testcase name="gone" status="notrun"><skipped message="Unable to find executable"/>
<system-out>Unable to find executable: x</system-out></testcase></testsuite>
"""


class ToolchainTest(ScriptsTest):
    def run_sh(self, code=0):
        return super().run_sh("--build", code=code)

    def refused(self, script, *expected):
        """Neither needs a GPU."""
        self.assert_refused(self.script(script, *["--build"] * (script == "run.sh")), *expected)

    def built_with(self):
        """What run.sh says: "13.0" """
        return self.run_sh().stderr.split("building with CUDA ")[1].split()[0]

    def test_which_nvcc(self):
        del self.environment["CUDACXX"]
        shutil.copytree(self.system / "usr/local/cuda", self.system / "usr", dirs_exist_ok=True)
        for variable, version in (("", "13.1"), ("CUDA_HOME", "13.2"), ("PATH", "13.3"),
                                  ("CUDACXX", "13.4")):
            nvcc = self.nvcc(variable or "cuda", version)
            if variable:
                self.environment[variable] = {
                    "CUDACXX": str(nvcc), "CUDA_HOME": str(nvcc.parent.parent),
                    "PATH": f"{nvcc.parent.relative_to(self.folder)}:{self.tools}"}[variable]
            self.assertEqual(self.built_with(), version)
        del self.environment["CUDACXX"], self.environment["CUDA_HOME"]
        self.environment["PATH"] = str(self.tools)
        shutil.rmtree(self.system / "usr/local")
        self.assertEqual(self.built_with(), "13.0")  # the distribution's, when there is no other

    def test_what_was_asked_for_must_exist(self):
        for variable, value in (("CUDAHOSTCXX", "g++-99"), ("CUDACXX", "no-such-nvcc"),
                                ("CUDACXX", str(self.folder)), ("CUDA_HOME", "/no/such")):
            del self.environment["CUDACXX"]
            self.environment[variable] = value
            for script in ("run.sh", "test.sh"):
                self.refused(script, 2, f"{variable} is '{value}', which ")
            del self.environment[variable]
            self.environment["CUDACXX"] = str(self.tools / "make")
        self.refused("run.sh", 1, "make does not run")
        self.assertEqual(self.calls(), [])

    def test_missing_packages_are_named_at_once(self):
        self.environment["CUDACXX"] = str(self.nvcc("cuda-11.8", "11.8"))
        self.tool("c++", "#!/bin/sh\necho 12\n")
        self.refused("run.sh", 1, ": sudo apt-get install g++-11 python3-matplotlib\n")
        self.tool("g++-11", "#!/bin/sh\n")
        self.assertEqual(self.built_with(), "11.8")
        del self.environment["CUDACXX"]
        shutil.rmtree(self.system / "usr")
        for name in ("c++", "make", "cmake", "python3"):
            (self.tools / name).unlink()
        for name in ("sudo", "apt-get"):  # SYNC_NO_INSTALL is set
            self.tool(name, '#!/bin/sh\necho "$0" >>"$LOG.new"\n')
        for script, *more in (("run.sh", "--build"), ("test.sh",)):
            done = self.execute(["bash", self.project / "scripts" / script, *more])
            self.assert_refused(
                done, 1, "packages and a CUDA Toolkit (11.8 or newer) are missing; ",
                ": sudo apt-get install g++ make python3 cmake libgtest-dev python3-matplotlib\n")
        self.assertFalse((self.folder / "log.new").exists())

    def test_packages_are_installed_and_sources_left_alone(self):
        del self.environment["SYNC_NO_INSTALL"]
        self.tool("sudo", '#!/bin/sh\nshift; exec "$@"\n')
        self.tool("apt-get", '#!/bin/sh\necho "apt-get $*" >>"$LOG"\necho reason\n'
                  'case $* in *update) exit 100 ;; *) exit "$(cat "$FAKES/apt")" ;; esac\n')
        (self.tools / "make").unlink()
        for code in (0, 100):
            (self.folder / "fakes/apt").write_text(str(code))
            done = self.run_sh(code=min(code, 1))
            self.assertIn("packages of the distribution: make\nreason\n", done.stderr)
            self.assertEqual(self.calls("apt-get"), [
                "apt-get -q -o DPkg::Lock::Timeout=300 update",
                "apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends make"])
            self.assertEqual(self.calls("cmake") == [], code == 100)
            self.log.unlink()
        self.assertTrue(done.stderr.endswith(": sudo apt-get install make python3-matplotlib\n"),
                        done.stderr)

    def test_paths_that_cannot_be_built_in(self):
        for name in ("it's", "a|b", "a<b", "a#b", "a;b", "a$b", 'a"b', "a:b", "a\\b"):
            self.project = self.project.rename(self.folder / name)
            self.refused("run.sh", 1, f"cannot work in {self.project}: ")
        self.assertEqual(self.calls(), [])

    def test_another_compiler_or_generator_starts_the_folder_afresh(self):
        build = self.project / "build"
        for version, generator, kept in (("13.0", "Unix Makefiles", False), ("13.0", "Unix Makefiles", True),
                                         ("13.1", "Unix Makefiles", False), ("13.1", "Ninja", False),
                                         ("13.1", "Ninja", True)):
            self.nvcc("cuda", version)
            if generator == "Ninja":
                self.tool("ninja", "#!/bin/sh\n")
            (build / "CMakeFiles").mkdir(parents=True, exist_ok=True)
            (build / "CMakeCache.txt").touch()
            self.run_sh()
            for name in ("CMakeFiles", "CMakeCache.txt"):
                self.assertEqual((build / name).exists(), kept, (version, generator, name))
            self.assertIn(f"-G {generator} ", self.calls("cmake --preset release")[-1])
            self.assertTrue((build / "TestRepeat").exists())

    def test_old_cmake_is_not_used(self):
        write_program(self.folder / "fakes/cmake", CMAKE.replace('"cmake $*"', '"new cmake"'))
        self.python_with_pip(NEW_CMAKE)
        for version in ("3.18.4", "3.9.6"):
            self.tool("cmake", CMAKE.replace("3.25.1", version))
            self.refused("run.sh", 1, "CMake 3.22 or newer is missing")
        self.assertEqual(self.calls(), [])
        del self.environment["SYNC_NO_INSTALL"]
        self.assertIn("fetching CMake 3", self.run_sh().stderr)
        self.assertNotIn("fetching", self.run_sh().stderr)
        self.assertEqual(self.calls(), ["pip cmake.txt", *["new cmake"] * 4])

    def test_toolkit_is_fetched(self):
        shutil.copy(self.environment["CUDACXX"], self.folder / "fakes/nvcc")
        shutil.rmtree(self.system / "usr")
        del self.environment["CUDACXX"]
        self.refused("run.sh", 1, "no CUDA Toolkit (11.8 or newer)", "CUDACXX")
        del self.environment["SYNC_NO_INSTALL"]
        self.tool("nvidia-smi", SMI.format("12.4"))
        self.refused("run.sh", 3, "for CUDA 12.4", "update the driver to 580")
        self.assertEqual(self.calls(), [])
        self.tool("nvidia-smi", SMI.format("13.0"))
        fetched = self.project / "build/fetched/toolkit"
        self.python_with_pip('mkdir -p "$target"; echo offline >&2; exit 1')
        self.assertIn("offline\nrun.sh: there is no CUDA Toolkit", self.run_sh(code=1).stderr)
        self.python_with_pip(WAIT)
        self.interrupt(self.command("run.sh", "--build"), "TERM")
        self.assertFalse(fetched.exists())
        self.python_with_pip(TOOLKIT)
        self.assertRegex(self.run_sh().stderr, rf"^fetching .* 10\d MB, with pip, into {fetched}\n")
        self.assertEqual(os.readlink(fetched / "nvidia/cu13/lib64"), "lib")
        self.assertNotIn("fetching", self.run_sh().stderr)
        self.assertEqual(self.calls("pip"), ["pip toolkit.txt"] * 3)


class TestShTest(ScriptsTest):
    def setUp(self):
        super().setUp()
        self.tool("ctest", '#!/bin/sh\necho "ctest $*" >>"$LOG"\n'
                  'cat "$FAKES/junit" >build/tests.xml\nexit 8\n')
        self.junit = self.folder / "fakes/junit"
        self.junit.write_text(JUNIT)

    def test_report(self):
        done = self.script("test.sh")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("warning: no cuobjdump and nvdisasm", done.stderr)
        again = "again with: ctest --test-dir build --output-on-failure -R"
        self.assertEqual(done.stdout.splitlines(), [
            "", "--- bad", "it <broke>", "here", "", "--- on_gpu", "no usable CUDA device: skipped",
            "", "--- gone", "Unable to find executable: x", "",
            "skipped: no disassembler: gate_a, gate_b", f"FAILED: bad; {again} '^bad$'",
            f"FAILED: on_gpu; {again} '^on_gpu$'", f"FAILED: gone; {again} '^gone$'",
            "1 passed, 3 failed, 2 skipped"])
        self.assertIn("-DGPU_TESTS=ON", "".join(self.calls("cmake")))
        self.gpu.unlink()
        self.log.unlink()
        self.junit.write_text(JUNIT.replace('"fail"', '"run"').replace("Unable", "SKIP_"))
        for program in ("cuobjdump", "nvdisasm"):
            write_program(self.system / "usr/local/cuda/bin" / program, "#!/bin/sh\n")
        done = self.script("test.sh")
        self.assertEqual((done.returncode, "warning" in done.stderr), (0, False), done.stderr)
        self.assertIn("\nskipped: no usable CUDA device: skipped: on_gpu\n", done.stdout)
        self.assertTrue(done.stdout.endswith(
            "\nnot checked: what needs a GPU\n2 passed, 0 failed, 4 skipped\n"), done.stdout)
        self.assertNotIn("GPU_TESTS", "".join(self.calls("cmake")))

    def test_no_report_is_no_success(self):
        for junit in ("<testsuite>", JUNIT[:200], "<testsuite/>"):
            self.junit.write_text(junit)
            self.assertEqual(self.script("test.sh").returncode, 1, junit)
        self.tool("ctest", "#!/bin/sh\n")  # the report of an earlier run must not count
        self.assertIn("ctest has left no report", self.script("test.sh").stderr)
        self.log.unlink()
        (self.folder / "fakes/release.then").write_text("exit 1")
        done = self.script("test.sh")
        self.assertEqual((done.returncode, self.calls("ctest")), (1, []))
        self.assertIn("test.sh: the build failed", done.stderr)
        (self.folder / "fakes/release.then").write_text(WAIT)
        self.interrupt(self.command("test.sh"), "INT")


if __name__ == "__main__":
    unittest.main()
