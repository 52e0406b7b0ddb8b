"""Clang's thread-safety analysis over all torch-free code: a field that a lock guards is never touched without the lock."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import unittest

from layers_test import INCLUDES, TORCH_MODULES, module_of

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "src"
ANNOTATIONS = "base/thread_annotations.h"
# Locks without annotations, which the analysis cannot see.
PLAIN_LOCK = re.compile(r"std::((recursive_|shared_|timed_)*mutex|condition_variable(_any)?)\b")
# Classes of Gloo and torch bring locks of their own. A visit to MPI hands its lock to the caller, which the analysis
# cannot follow.
MAY_LOCK_PLAINLY = {ANNOTATIONS, "comm/gloo/authenticated_mesh.cpp", "comm/mpi/mpi_runtime.h", "ddp/shared_state.cpp"}


def files_with_locks():
    """Torch-free sources that include the annotations, directly or through other files, in folders that have locks."""
    included = {file: quoted for file, (quoted, _) in INCLUDES.items()}
    folders = {file.split("/")[0] for file, quoted in included.items() if ANNOTATIONS in quoted}
    folders -= {"cli"}  # its one guarded class is not worth parsing CLI11 for every command

    def reaches(file, seen):
        if file == ANNOTATIONS:
            return True
        seen.add(file)
        return any(reaches(other, seen) for other in included.get(file, ()) if other not in seen)

    return [file for file in sorted(included)
            if file.endswith(".cpp") and file.split("/")[0] in folders and module_of(file) not in TORCH_MODULES
            and reaches(file, set())]


def commands():
    """How each source of this build is compiled, by its path below src/: by itself, or in a batch that includes it."""
    for entry in json.loads((pathlib.Path(os.environ["LOCKSTEP_BUILD"]) / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        batch = re.findall(r'^#include "(.+)"$', path.read_text(), re.MULTILINE) if "Unity" in path.parts else [path]
        for source in map(pathlib.Path, batch):
            if source.is_relative_to(SOURCE):
                yield source.relative_to(SOURCE).as_posix(), shlex.split(entry["command"])


def analyse(file, command):
    # An include path follows its flag directly or as the next word.
    flags = [word for before, word in zip(command, command[1:])
             if before == "-isystem" or word.startswith(("-I", "-D", "-isystem"))]
    done = subprocess.run(["clang++", "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror", *flags,
                           str(SOURCE / file)], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


class ThreadSafety(unittest.TestCase):
    def test_guarded_fields_are_touched_with_their_lock_held(self):
        locked = files_with_locks()
        jobs = [(file, command) for file, command in commands() if file in locked]
        self.assertIn("comm/group_core.cpp", dict(jobs))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [text for text in pool.map(lambda job: analyse(*job), jobs) if text]
        self.assertEqual(wrong, [], "\n".join(wrong)[:8000])

    def test_locks_are_annotated(self):
        wrong = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*")
                 if path.suffix in (".h", ".cpp", ".inl") and PLAIN_LOCK.search(path.read_text())]
        self.assertEqual(set(wrong) - MAY_LOCK_PLAINLY, set(), f"use Mutex and Condition of {ANNOTATIONS}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
