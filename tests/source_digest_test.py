"""The checksum of its sources that a build has (cmake/source_digest.cmake): ranks compare it."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH "${PROJECT_SOURCE_DIR}/cmake")
include(source_digest)
lockstep_source_digest(source_digest.cpp src/base src/comm)
add_executable(small main.cpp source_digest.cpp)
target_include_directories(small PRIVATE src)
"""
MAIN = """#include "base/version.h"
#include "comm/wire.h"
#include <iostream>
int main() { std::cout << lockstep::internal::source_digest(); }
"""


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class SmallProject:
    def __init__(self, folder):
        self.folder = folder
        for file in ("cmake/source_digest.cmake", "cmake/digest_sources.cmake", "src/base/version.h"):
            self.write(file, (ROOT / file).read_text())
        self.write("CMakeLists.txt", PROJECT)
        self.write("main.cpp", MAIN)
        self.write("src/comm/wire.h", "enum Kind { hello = 1 };\n")
        run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build")

    def write(self, file, text):
        (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / file).write_text(text)

    def digest(self):
        run("cmake", "--build", self.folder / "build")
        return run(self.folder / "build" / "small")


class SourceDigest(unittest.TestCase):
    def make(self, name):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-digest-"))
        self.addCleanup(shutil.rmtree, folder)
        return SmallProject(folder / name)

    def test_it_is_that_of_the_sources_and_of_nothing_else(self):
        project, elsewhere = self.make("here"), self.make("there, with spaces")
        first = project.digest()
        self.assertRegex(first, "^[0-9a-f]{16}$")
        self.assertEqual(elsewhere.digest(), first)

        project.write("docs/page.md", "words")
        project.write("main.cpp", MAIN + "// another program of the same library")
        self.assertEqual(project.digest(), first)

        project.write("src/comm/wire.h", "enum Kind { hello = 2 };\n")
        changed = project.digest()
        self.assertNotEqual(changed, first)
        project.write("src/comm/frames.h", "")
        project.write("src/comm/wire.h", '#include "comm/frames.h"\nenum Kind { hello = 2 };\n')
        with_header = project.digest()
        project.write("src/comm/frames.h", "enum Frame { empty };\n")
        self.assertEqual(len({first, changed, with_header, project.digest()}), 4)

        (project.folder / "src/comm/frames.h").unlink()
        project.write("src/comm/wire.h", "enum Kind { hello = 1 };\n")
        self.assertEqual(project.digest(), first)

    def test_it_covers_code_that_is_included(self):
        project = self.make("here")
        project.write("src/comm/kernels.inl", "enum Order { left };\n")
        project.write("src/comm/wire.h", '#include "comm/kernels.inl"\n')
        first = project.digest()
        project.write("src/comm/kernels.inl", "enum Order { right };\n")
        self.assertNotEqual(project.digest(), first)


if __name__ == "__main__":
    unittest.main(verbosity=2)
