"""Tests of what the scripts build and find built: copies of them in a project of their own.

cmake, ctest and the CUDA Toolkits are made up: "building" copies the fakes of self.build.
"""

import shutil
import unittest

from scripts_support import ROOT, ScriptsTest, write_program

CMAKE = r'''#!/bin/sh
echo "$*" >>"{log}"
case "$*" in
  "--build --preset release "*) mkdir -p build; cp -r "{release}/." build ;;
  "--build --preset cuda11 "*) echo compiling; cp -r "{cuda11}/." build-cuda11 ;;
esac
'''
CTEST = r'''#!/bin/sh
case "$*" in
  *" -N "*) echo "  Test  #9: rows" ;;
  *) echo "1/2 Test #8: table ....   Passed"; echo "2/2 Test #9: rows ....{result}" ;;
esac
exit {code}
'''
NVCC = '#!/bin/sh\necho "Cuda compilation tools, release %s, V%s.99"\n'


class BuildsTest(ScriptsTest):
    def setUp(self):
        super().setUp()
        self.project = self.folder / "project"
        shutil.copytree(ROOT / "scripts", self.project / "scripts")
        self.cuda11 = self.folder / "cuda11 fakes"
        self.cuda11.mkdir()
        self.write_fakes(self.cuda11, cuda="11.8")
        self.log = self.folder / "cmake.log"
        cmake = CMAKE.format(log=self.log, release=self.build, cuda11=self.cuda11)
        nothing = "#!/bin/sh\n"
        self.use_tools(cmake=cmake, c__=nothing, make=nothing, shellcheck=nothing)
        (self.folder / "tools/c--").rename(self.folder / "tools/c++")
        homes = {}
        for version in ("13.0", "11.8"):
            homes[version] = self.folder / ("cuda-" + version)
            (homes[version] / "bin").mkdir(parents=True)
            write_program(homes[version] / "bin/nvcc", NVCC % (version, version))
        self.environment.update(CUDACXX=str(homes["13.0"] / "bin/nvcc"), GTest_DIR="somewhere",
                                CUDA11_HOME=str(homes["11.8"]), CUDA11_HOST_COMPILER="c++")

    def run_here(self, *arguments, script="run.sh"):
        return self.execute(self.command(script, *arguments, root=self.project))

    def run_there(self, *arguments):
        return self.run_here("--results", self.results, *arguments)

    def environment_values(self):
        text = (self.only_folder() / "environment.tsv").read_text()
        return dict(line.split("\t") for line in text.splitlines())

    def built(self, preset):
        return self.log.exists() and "--build --preset " + preset in self.log.read_text()

    def test_two_toolkits(self):
        done = self.run_there()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--preset cuda11 -DSUITE_COMMIT= -DBUILD_TESTING=OFF", self.log.read_text())
        self.assertEqual(self.calls("BenchmarkInterSM", self.project / "build-cuda11"),
                         ["2 --stats --method multi_grid_sync"])
        self.assertEqual(self.calls("TestRepeat", self.project / "build-cuda11"),
                         ["--stats --method multi_grid_sync"])
        self.assertTrue((self.only_folder() / "TestRepeat.cuda11.tsv").exists())
        text = (self.only_folder() / "BenchmarkInterSM.cuda11.tsv").read_text()
        self.assertIn("\nmulti_grid_sync\t2\t", text)
        self.assertNotIn("peer_grid_sync", text)
        values = self.environment_values()
        self.assertEqual((values["cuda_toolkit"], values["cuda_toolkit_multi_grid"]),
                         ("13.0", "11.8"))
        self.assertRegex(done.stdout, r"multi_grid_sync +2 GPUs +7002.00 ± 0.50 +ns")

    def test_second_build_that_fails_ends_nothing(self):
        for breaking in ("nvcc", "build"):
            if breaking == "nvcc":
                nvcc = self.folder / "cuda-11.8/bin/nvcc"
                good = nvcc.read_text()
                write_program(nvcc, good + '[ "$1" = --version ]\n')
            else:
                write_program(nvcc, good)
                self.use_tools(cmake=CMAKE.format(log=self.log, release=self.build, cuda11="/no"))
            done = self.run_there()
            self.assertEqual(done.returncode, 0, done.stderr)
            warnings = [line for line in done.stderr.splitlines() if "warning" in line]
            self.assertEqual(len(warnings), 1, done.stderr)
            self.assertIn("multi_grid_sync is not measured", warnings[0])
            self.assertNotIn("compiling", done.stderr)
            self.assertNotIn("cuda_toolkit_multi_grid", self.environment_values())
            self.assertFalse((self.only_folder() / "BenchmarkInterSM.cuda11.tsv").exists())
            shutil.rmtree(self.results)

    def test_no_second_build_where_the_first_has_all(self):
        for version in ("12.4", "unknown"):
            self.set(cuda=version)
            self.assertEqual(self.run_there().returncode, 0)
            self.assertFalse(self.built("cuda11"), version)
            shutil.rmtree(self.results)

    def test_given_second_build(self):
        given = ("--build-dir", self.build, "--cuda11-build-dir", self.cuda11)
        self.assertEqual(self.run_there(*given).returncode, 0)
        self.assertEqual(self.environment_values()["cuda_toolkit_multi_grid"], "11.8")
        shutil.rmtree(self.results)
        # Both of one version, else nothing; silently nothing where it has no such method.
        (self.cuda11 / "commit").write_text("ba9876543210")
        self.assert_refused(self.run_there(*given), 2, "is of commit ba9876543210")
        self.write_fakes(self.cuda11, cuda="13.0")
        done = self.run_there(*given)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("multi_grid", done.stderr)
        self.assertFalse((self.only_folder() / "BenchmarkInterSM.cuda11.tsv").exists())
        for name in ("TestRepeat", "BenchmarkInterSM"):
            (self.cuda11 / name).unlink()
            self.assert_refused(self.run_there(*given), 1, name + " is missing")
        self.assertFalse(self.log.exists())

    def test_resume_second_build(self):
        given = ("--build-dir", self.build, "--cuda11-build-dir", self.cuda11)
        (self.cuda11 / "BenchmarkInterSM.fail").write_text("1")
        done = self.run_there(*given)
        self.assertEqual(done.returncode, 1)
        partial = self.only_folder()
        self.assert_refused(self.run_here("--resume", partial, *given[:2]), 2,
                            "its cuda_toolkit_multi_grid is '11.8', here it is 'none'")
        (self.cuda11 / "BenchmarkInterSM.fail").unlink()
        resume = done.stderr.split("continue with: ")[1]
        self.assertEqual(self.execute(["bash", "-c", resume]).returncode, 0)
        self.assertEqual(len(self.calls("BenchmarkInterSM")), 1)
        names = {path.name for path in self.only_folder().iterdir()}
        self.assertIn("BenchmarkInterSM.cuda11.tsv", names)
        self.assertIn("BenchmarkInterSM.cuda11.interrupted-1.tsv", names)

    def test_resume_with_a_toolkit_that_was_not_there(self):
        self.set(BenchmarkInterSM_fail=1)
        self.run_there("--build-dir", self.build)
        (self.build / "BenchmarkInterSM.fail").unlink()
        self.run_here("--resume", self.only_folder(), "--build-dir", self.build,
                      "--cuda11-build-dir", self.cuda11)
        self.assertEqual(self.environment_values()["cuda_toolkit_multi_grid"], "11.8")
        self.assertTrue((self.only_folder() / "BenchmarkInterSM.cuda11.tsv").exists())

    def test_no_build(self):
        done = self.run_there("--no-build")
        self.assert_refused(done, 1, "build/ImplicitBarrier is missing: run without --no-build")
        shutil.copytree(self.cuda11, self.project / "build-cuda11")
        self.assertEqual(self.run_there("--no-build").returncode, 0)
        self.assertEqual(self.environment_values()["cuda_toolkit"], "11.8")
        self.assertEqual(self.run_here("BenchmarkInterSM", 1, script="sweep_gpus.sh").returncode, 0)
        shutil.rmtree(self.results)
        shutil.copytree(self.build, self.project / "build")
        self.assertEqual(self.run_there("--no-build").returncode, 0)
        values = self.environment_values()
        self.assertEqual((values["cuda_toolkit"], values["cuda_toolkit_multi_grid"]),
                         ("13.0", "11.8"))
        self.assertFalse(self.log.exists())

    def test_no_build_does_not_mix_versions(self):
        shutil.copytree(self.build, self.project / "build")
        shutil.copytree(self.cuda11, self.project / "build-cuda11")
        (self.project / "build-cuda11/commit").write_text("ba9876543210")
        done = self.run_there("--no-build")
        self.assertEqual(done.returncode, 0)
        self.assertIn("is of commit ba9876543210, not of 0123456789ab", done.stderr)
        self.assertFalse((self.only_folder() / "BenchmarkInterSM.cuda11.tsv").exists())

    def test_folder_of_another_toolkit_is_started_afresh(self):
        build = self.project / "build"
        compiler = build / "CMakeFiles/3.25.1/CMakeCUDACompiler.cmake"
        mine = self.environment["CUDACXX"]
        for cached, version, fresh in ((mine, "13.0.88", False), (mine, "12.4.1", True),
                                       ("/usr/bin/nvcc", "13.0.88", True)):
            for folder in (compiler.parent, build / "tests/CMakeFiles"):
                folder.mkdir(parents=True, exist_ok=True)
            (build / "kept").touch()
            compiler.write_text('set(CMAKE_CUDA_COMPILER_VERSION "%s")\n' % version)
            (build / "CMakeCache.txt").write_text("CMAKE_CUDA_COMPILER:STRING=%s\n" % cached)
            done = self.run_there()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("starting it afresh" in done.stderr, fresh, (cached, version))
            for path in ("CMakeCache.txt", "CMakeFiles", "tests/CMakeFiles"):
                self.assertEqual((build / path).exists(), not fresh, (cached, version, path))
            self.assertTrue((build / "kept").exists())
            shutil.rmtree(self.results)

    def test_test_sh_and_skipped_gpu_tests(self):
        for gpu, result, code, expected in ((True, "***Skipped  0.1 sec", 0, 1),
                                            (True, "   Passed  0.1 sec", 0, 0),
                                            (True, "***Failed  0.1 sec", 8, 8),
                                            (False, "***Skipped  0.1 sec", 0, 0)):
            if not gpu:
                (self.system / "dev/nvidia0").unlink()
            self.use_tools(ctest=CTEST.format(result=result, code=code))
            done = self.run_here(script="test.sh")
            self.assertEqual(done.returncode, expected, (gpu, result, done.stderr))
            self.assertIn("GPU tests skipped %s: %d\n" % (
                "although a GPU is present" if gpu else "because there is no NVIDIA GPU",
                "Skipped" in result), done.stdout)
            self.assertEqual("GPU tests were skipped although" in done.stderr, expected == 1)


if __name__ == "__main__":
    unittest.main()
