"""An installed Lockstep: found by CMake, with a user's program that is started in every way."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ["LOCKSTEP_BUILD"]
WORKERS = 2
HANGS = 300  # seconds after which a program counts as hanging; no claim about its speed
TORCH = ("ddp.h", "join.h", "lockstep.h", "sampler.h", "sequential_trainer.h", "shared_state.h", "sync_batch_norm.h",
         "tensor.h")
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES CXX)
find_package(lockstep REQUIRED COMPONENTS {component})
foreach(other {others})
  if(TARGET lockstep::${{other}})
    message(FATAL_ERROR "${{other}} was found, too")
  endif()
endforeach()
add_executable(mine "{source}")
target_link_libraries(mine PRIVATE lockstep::{component})
"""
WITHOUT_TORCH = "-DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=HANGS, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def configure(cls, source, build, *options):
        run("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={cls.prefix}", *options)

    @classmethod
    def build_with(cls, component, source, *options, others=""):
        """Builds a project that asks for one component; returns its program."""
        folder = cls.folder / component
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            PROJECT.format(component=component, source=ROOT / "examples" / source, others=others))
        cls.configure(folder, folder / "build", *options)
        run("cmake", "--build", folder / "build")
        return folder / "build" / "mine"

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-installed-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.configure(ROOT / "examples", cls.folder / "build")
        run("cmake", "--build", cls.folder / "build", "--target", "train_sequential")
        cls.sequential = cls.folder / "build" / "train_sequential"
        cls.example = cls.build_with("ddp", "train_own_network.cpp", others="trainer lockstep")
        cls.environment = {name: value for name, value in os.environ.items()
                           if not name.startswith(("LOCKSTEP_", "OMPI_", "PMI"))
                           and name not in ("RANK", "WORLD_SIZE")}
        cls.environment["OMP_NUM_THREADS"] = "1"
        cls.launched = run(cls.prefix / "bin" / "lockstep", "launch", "--workers", WORKERS, "--", cls.example,
                           env=cls.environment)

    def test_launch_starts_the_example(self):
        self.assertRegex(self.launched, r"^step 100: loss .*\nstep 200: loss .*\nstep 300: loss .*\nweights: norm \d.*\n$")

    def launch_over_gloo(self):
        return run(self.prefix / "bin" / "lockstep", "launch", "--workers", WORKERS, "--transport", "gloo", "--",
                   self.example, env=self.environment)

    def test_launch_starts_the_example_over_gloo(self):
        self.assertRegex(self.launch_over_gloo(), r"^step 100: loss .*\n(.*\n)*weights: norm \d.*\n$")
        # A libtorch with a Gloo of its own makes ours a library of its own: one that is lost is named.
        for part in self.prefix.rglob("liblockstep_gloo.so"):
            self.addCleanup(part.rename(part.with_suffix(".hidden")).rename, part)
            with self.assertRaisesRegex(AssertionError, "cannot load Lockstep's gloo library: .*RUNPATH"):
                self.launch_over_gloo()

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
    def test_mpirun_starts_the_example(self):
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        output = run("mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "oob_tcp_if_include", "lo", "--mca",
                     "btl", "self,vader", "-n", WORKERS, self.example, env=self.environment | as_root)
        self.assertEqual(output, self.launched)

    def test_torchruns_variables_start_the_example(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        place = {"WORLD_SIZE": str(WORKERS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        ranks = [subprocess.Popen([self.example], env=self.environment | place | {"RANK": str(rank)}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(WORKERS)]
        outputs = []
        for rank in ranks:
            self.addCleanup(rank.kill)
            output, errors = rank.communicate(timeout=HANGS)
            self.assertEqual((rank.returncode, errors), (0, ""))
            outputs.append(output)
        self.assertEqual(outputs, [self.launched] + [""] * (WORKERS - 1))

    def test_a_world_of_one_needs_no_launcher(self):
        self.assertRegex(run(self.example, env=self.environment), r"^step 100: loss .*\n(.*\n)*weights: norm \d.*\n$")

    def test_the_communicator_needs_no_torch(self):
        program = self.build_with("core", "collectives.cpp", WITHOUT_TORCH, others="ddp trainer lockstep")
        self.assertNotIn("libtorch", run("ldd", program))
        output = run(self.prefix / "bin" / "lockstep", "launch", "--workers", WORKERS, "--", program, env=self.environment)
        self.assertEqual(output, "2 ranks over shm: sum 3, average 0.50, a message from rank 1, a part of 1\n")

    def test_a_missing_component_is_named(self):
        for component, options, reason in [
                ("gpu", [], "Lockstep has no component 'gpu' here: this build has core, ddp, trainer, lockstep"),
                ("ddp", [WITHOUT_TORCH], "CMAKE_DISABLE_FIND_PACKAGE_Torch")]:
            with self.subTest(component=component), self.assertRaises(AssertionError) as failure:
                folder = self.folder / f"no-{component}"
                folder.mkdir()
                (folder / "CMakeLists.txt").write_text(PROJECT.format(component=component, source="none.cpp", others=""))
                self.configure(folder, folder / "build", *options)
            self.assertIn(reason, " ".join(str(failure.exception).split()))

    def test_an_optional_component_may_be_missing(self):
        folder = self.folder / "optional"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(mine LANGUAGES CXX)\n"
            "find_package(lockstep REQUIRED COMPONENTS core OPTIONAL_COMPONENTS gpu)\n"
            'message(STATUS "core ${lockstep_core_FOUND}, gpu \'${lockstep_gpu_FOUND}\'")\n')
        self.assertIn("core TRUE, gpu ''", run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja",
                                               f"-DCMAKE_PREFIX_PATH={self.prefix}", WITHOUT_TORCH))

    def test_commands_that_need_torch_run_in_a_program_beside_it(self):
        program, torch = self.prefix / "bin" / "lockstep", self.prefix / "bin" / "lockstep-torch"
        self.assertNotIn("libtorch", run("ldd", program))
        self.assertIn("--sync", run(program, "train", "--help"))
        hidden = torch.rename(torch.with_suffix(".hidden"))
        self.addCleanup(hidden.rename, torch)
        self.assertRegex(run(program, "--help"), r"(?m)^  train +train one model")
        with self.assertRaisesRegex(AssertionError, f"lockstep train: cannot start {torch}: No such file"):
            run(program, "train")

    def test_the_data_are_installed(self):
        output = run(self.prefix / "bin" / "lockstep", "data", "info", "--help")
        self.assertIn(str(self.prefix / "share" / "lockstep" / "data"), output)
        self.assertIn("1000", run(self.prefix / "bin" / "lockstep", "data", "info", "cifar10"))

    def test_a_sequential_trains_on_the_onednn_engine(self):
        output = run(self.prefix / "bin" / "lockstep", "launch", "--workers", WORKERS, "--", self.sequential,
                     self.prefix / "share" / "lockstep" / "data" / "cifar10", env=self.environment)
        losses = list(map(float, re.findall(r"(?m)^epoch \d: loss (.*)$", output)))
        self.assertEqual(len(losses), 3, output)
        self.assertLess(losses[2], losses[0])
        self.assertRegex(output, r"\ntest: \d+\.\d % right\n$")

    def test_all_public_headers_are_installed(self):
        def headers(folder):
            return {path.name for path in (folder / "include" / "lockstep").glob("*.h")}
        self.assertEqual(headers(self.prefix), headers(ROOT))
        self.assertIn("ddp.h", headers(self.prefix))

    def test_the_headers_without_torch_compile_alone(self):
        for header in sorted((self.prefix / "include" / "lockstep").glob("*.h")):
            if header.name in TORCH:
                continue  # the examples include them
            with self.subTest(header=header.name):
                run("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++",
                    "-I", self.prefix / "include", "-include", header, "/dev/null")


if __name__ == "__main__":
    unittest.main(verbosity=2)
