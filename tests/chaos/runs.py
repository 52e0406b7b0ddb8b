"""A training run for fault injection: starting it, watching it and checking its result."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cli"), str(HERE.parent / "network")]
import hosts  # noqa: E402  (found by the line above)
from program import BINARY, HANGS, clean_environment, children_of, processes, runs_lockstep  # noqa: E402

COMMON = ["--momentum", 0.9, "--log-every", 1, "--trace", 0, "--threads", 1, "--checkpoint-every", 5]
LENET5 = ["--limit", 64, "--batch", 16, "--iterations", 120, "--epochs", 1000]
VGG11 = ["--model", "vgg11", "--data", "cifar10", "--limit", 16, "--batch", 8, "--iterations", 14, "--epochs", 1000]
JOBS = {
    "lenet5-shm": [*LENET5, "--workers", 4, "--transport", "shm", "--shards", 4],
    "lenet5-mpi": [*LENET5, "--workers", 2, "--transport", "mpi", "--shards", 4],
    "lenet5-gloo": [*LENET5, "--workers", 3, "--transport", "gloo"],
    "lenet5-gloo-4": [*LENET5, "--workers", 4, "--transport", "gloo", "--shards", 4],
    "lenet5-threads": [*LENET5, "--workers", 2, "--transport", "thread"],
    "lenet5-torch": [*LENET5, "--workers", 2, "--transport", "shm", "--engine", "torch", "--sync", "all-reduce"],
    "vgg11-shm": [*VGG11, "--workers", 2, "--transport", "shm"],
    "vgg11-gloo": [*VGG11, "--workers", 2, "--transport", "gloo", "--conv", "direct"],
    "lenet5-hosts": LENET5,
}


class Wrong(Exception):
    """A run did something that no fault allows."""


class Run:
    def __init__(self, job, folder):
        self.job, self.folder = job, pathlib.Path(folder)
        self.iterations = JOBS[job][JOBS[job].index("--iterations") + 1]
        self.program = None

    def start(self, *options, workers=None, wrapper=(), **settings):
        job = list(JOBS[self.job])
        if workers:
            job[job.index("--workers") + 1] = workers
        command = [*wrapper, BINARY, "train", *job, *COMMON, "--run-dir", "run", *options]
        with open(self.folder / "output", "w") as output, open(self.folder / "errors", "w") as errors:
            self.program = subprocess.Popen([*map(str, command)], cwd=self.folder, env=clean_environment(), stdout=output,
                                            stderr=errors, start_new_session=True, **settings)

    def output(self):
        return (self.folder / "output").read_text()

    def errors(self):
        return (self.folder / "errors").read_text()

    def wait_for_iteration(self, number):
        """Waits for the iteration or for the end of the run: a fault may come too late."""
        while f"iteration {number}/" not in self.output() and self.program.poll() is None:
            time.sleep(0.005)

    def iteration(self):
        """The last iteration that was printed."""
        done = re.findall(r"^iteration (\d+)/", self.output(), re.MULTILINE)
        return int(done[-1]) if done else 0

    def workers(self):
        """The worker processes: forked by the program, or below mpirun's shells."""
        if "mpi" not in self.job:
            return children_of(self.program.pid)
        return [process for process in self.left() if process != self.program.pid and runs_lockstep(process)]

    def finish(self):
        """Returns the exit code. No process may be left, and no partial file in the folder of a successful run."""
        try:
            code = self.program.wait(timeout=HANGS)
        except subprocess.TimeoutExpired:
            self.end()
            raise Wrong("the run hangs") from None
        for _ in range(100):  # processes whose parent was killed end by themselves, after a moment
            if not (left := self.left()):
                break
            time.sleep(0.1)
        if left:
            self.end()
            raise Wrong(f"processes {left} are left")
        # A process that is killed while it writes leaves a partial file, which the resumed run removes.
        halves = [file.name for file in (self.folder / "run").rglob("*.part")]
        if code == 0 and halves:
            raise Wrong(f"partial files are left: {halves}")
        return code

    def left(self):
        return [process for process, _, session, _ in processes() if session == self.program.pid]

    def end(self):
        for process in self.left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.program.wait()

    def weights(self):
        return json.loads((self.folder / "run" / "summary.json").read_text())["weights_sha256"]

    def restart(self, *options, **settings):
        """Resumes after a failure, or starts again if there is no checkpoint. `workers` may differ."""
        if not list(self.folder.glob("run/checkpoints/*.safetensors")):
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            return self.start(*options, **settings)
        return self.start(*options, "--resume", **settings)


class RunOnHosts(Run):
    """One worker on each of two hosts, which are network namespaces."""

    def start(self, *options, **_):
        token = self.folder / "token"
        subprocess.run([BINARY, "launch", "--new-token", token], check=True, capture_output=True)
        self.cluster = hosts.Cluster(2)
        command = [BINARY, "train", *JOBS[self.job], *COMMON, "--run-dir", self.folder / "run", *options]
        with open(self.folder / "output", "w") as output, open(self.folder / "errors", "w") as errors:
            self.programs = [self.cluster.start(host, [
                BINARY, "launch", "--nnodes", 2, "--node-rank", host, "--workers", 1, "--master-addr", self.cluster.address(0),
                "--token-file", token, "--", *command], cwd=self.folder, env=clean_environment(), stdout=output, stderr=errors)
                for host in range(2)]
        self.program = self.programs[0]

    def finish(self):
        try:
            codes = [program.wait(timeout=HANGS) for program in self.programs]
        except subprocess.TimeoutExpired:
            raise Wrong("it hangs") from None
        finally:
            self.cluster.close()
        return max(codes, key=abs)


def make_run(job, folder):
    return (RunOnHosts if "hosts" in job else Run)(job, folder)
