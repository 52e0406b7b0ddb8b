"""Runs the lockstep program as a process, and checks its output and exit code."""
import contextlib
import fcntl
import os
import pathlib
import pty
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

BINARY = os.environ["LOCKSTEP_BINARY"]
HANGS = 300  # seconds after which a program counts as hanging; no claim about its speed

# Options of a training that takes a moment, and of one that lasts until it is stopped.
SMALL = ["--limit", 32, "--batch", 16]
ENDLESS = [*SMALL, "--epochs", 10**9, "--log-every", 1]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def stat_of(process):
    """The fields of /proc/PID/stat from the state on; None if the process is gone."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def runs(process):
    """Whether the process has not ended; a zombie has."""
    stat = stat_of(process)
    return stat is not None and stat[0] != "Z"


def processes():
    """All running processes, as (process, parent, session, start), without zombies."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        stat = stat_of(folder.name)
        if stat and stat[0] != "Z":
            yield int(folder.name), int(stat[1]), int(stat[3]), int(stat[19])


def is_guardian(process):
    """Whether this is the process that ends the workers' descendants if the launcher is killed."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return pathlib.Path(f"/proc/{process}/comm").read_text() == "lockstep-guard\n"
    return False


def children_of(process):
    """In the order of their start: rank 0 of a training run is first."""
    return [child for _, child in sorted((start, child) for child, parent, _, start in processes()
                                         if parent == process and not is_guardian(child))]


def runs_lockstep(process):
    """Whether it runs lockstep, or lockstep-torch, which has the commands that need torch."""
    folder, name = os.path.split(os.path.realpath(f"/proc/{process}/exe"))
    return folder == os.path.dirname(os.path.realpath(BINARY)) and name in ("lockstep", "lockstep-torch")


def rank_of_mpirun(session, rank):
    """The process of this rank in a session that mpirun started; not the shell around it."""
    for process, _, its_session, _ in processes():
        if its_session != session or not runs_lockstep(process):
            continue
        if f"OMPI_COMM_WORLD_RANK={rank}".encode() in pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
            return process
    raise AssertionError(f"mpirun has no rank {rank}")


CACHE = tempfile.TemporaryDirectory(prefix="lockstep-cache-")  # keeps measurements of tests out of the user's cache


# Every run says this if only the torch engine is built.
ONE_ENGINE = "lockstep: engine torch: this build has no onednn engine: use --engine torch\n"


def clean_environment():
    """The environment without the variables that would make the program a worker of another run."""
    return {**{name: value for name, value in os.environ.items()
               if name not in ("RANK", "WORLD_SIZE") and not name.startswith("LOCKSTEP_")},
            "XDG_CACHE_HOME": CACHE.name}


class ProgramTest(unittest.TestCase):
    """Each test has its own folder, in which the program runs."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-cli-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, *arguments, variables=None, **options):
        """Starts the program in a new session, which ends with the test."""
        environment = {**clean_environment(), **(variables or {})}
        program = subprocess.Popen([BINARY, *map(str, arguments)], cwd=self.folder, env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)
        self.addCleanup(self.end, program)
        return program

    def kill_all(self, program):
        """Kills the program and its workers; they have ended when it returns."""
        while left := [process for process, _, session, _ in processes() if session == program.pid]:
            for process in left:
                with contextlib.suppress(ProcessLookupError):  # workers of a launcher go with it
                    os.kill(process, signal.SIGKILL)
            program.poll()
        program.wait()

    def end(self, program):
        self.kill_all(program)
        program.stdout.close()
        program.stderr.close()

    def finish(self, program, code):
        """Waits for the program's end and checks its exit code; returns the output and errors that were not read yet."""
        output, errors = program.communicate(timeout=HANGS)
        self.assertEqual(program.returncode, code, output + errors)
        errors = errors.replace(ONE_ENGINE, "")
        self.assertNotIn("\033", output + errors, "escape codes are for terminals")
        left = [process for process, _, session, _ in processes() if session == program.pid]
        self.assertEqual(left, [], "processes outlived the program")
        return output, errors

    def run_program(self, *arguments, code=0):
        return self.finish(self.start(*arguments), code)

    def has_onednn(self):
        """Whether the onednn engine is built, which needs a libtorch that shares its oneDNN library."""
        return "auto, torch, onednn" in self.run_program("train", "--help")[0]

    def run_on_terminal(self, *arguments):
        """Runs the program with a terminal as its output; returns the output."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.fcntl(master, fcntl.F_SETFL, os.O_NONBLOCK)
        done = subprocess.run([BINARY, *map(str, arguments)], cwd=self.folder, env=clean_environment(), stdout=slave,
                              timeout=HANGS)
        os.close(slave)
        self.assertEqual(done.returncode, 0)
        return os.read(master, 1 << 16).decode()

    def wait_for(self, program, text):
        """Reads lines until one has `text`."""
        for line in program.stdout:
            if text in line:
                return
        self.fail(f"the program never wrote '{text}': {program.stderr.read()}")

    def expect_refused(self, arguments, part):
        """Expects an error about bad usage that leaves no file behind."""
        output, errors = self.run_program(*arguments.split(), code=2)
        self.assertEqual(output, "")
        self.assertIn(part, errors)
        self.assertEqual(list(self.folder.iterdir()), [], "nothing is to be left behind")

    def expect_help(self, command, options):
        output, errors = self.run_program(command, "--help")
        for option in options:
            self.assertRegex(output, rf"(?m)^  {option}\b", command)
        self.assertEqual(errors, "")
