"""The faults that can happen to a run. Each describes its effect and how the run may end."""
import contextlib
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import time

from runs import BINARY, COMMON, HANGS, JOBS, Run, Wrong, clean_environment, hosts
from other_data import FIRST_LABEL, LABELS, copy_with_other_byte
from strangers_test import listening_ports  # runs.py says where it is


class Fault:
    """The run must end with the weights of an undisturbed run."""
    options = ()
    wrapper = ()
    settings = {}
    error = None  #: if set, the run may end with a matching error; the same command with --resume must then succeed

    def __init__(self, chance: random.Random):
        self.chance = chance

    def fits(self, job):
        return "hosts" not in job and "mpi" not in job

    def prepare(self, run: Run):
        """Called before the run starts."""

    def strike(self, run: Run):
        """Called during the run."""

    def repair(self, run: Run):
        """Called before the run is restarted after its error."""

    def clean(self, run: Run):
        """Called at the end, however the run ended."""


class SignalToAWorker(Fault):
    number = None

    def fits(self, job):
        return "threads" not in job and super().fits(job)

    def strike(self, run):
        if workers := run.workers():
            self.send(self.chance.choice(workers))

    def send(self, worker):
        try:
            os.kill(worker, self.number)
        except ProcessLookupError:
            pass  # it has already ended


class Kill(SignalToAWorker):
    number = signal.SIGKILL
    error = r"rank \d+ \(pid \d+\) was ended by signal 9 \(Killed\)"

    def fits(self, job):
        return "mpi" in job and shutil.which("mpirun") is not None or super().fits(job)


class KillWithRestarts(Kill):
    """The run resumes by itself."""
    options = ("--restarts", 2)
    error = None


class KillElastic(SignalToAWorker):
    """Kills up to all workers but one, one after another: the survivors continue."""
    number = signal.SIGKILL
    options = ("--elastic",)

    def fits(self, job):
        return "--shards" in JOBS[job] and "mpi" not in JOBS[job]  # mpirun ends all ranks when one dies

    def strike(self, run):
        for _ in range(self.chance.randrange(1, 4)):
            super().strike(run)
            time.sleep(self.chance.choice([0, 0.01, self.chance.uniform(0, 1)]))


class Crash(SignalToAWorker):
    number = signal.SIGSEGV
    error = r"rank \d+ \(pid \d+\) was ended by signal 11"


class Pause(SignalToAWorker):
    """A worker is stopped for a moment, and continues."""
    number = signal.SIGSTOP

    def send(self, worker):
        super().send(worker)
        time.sleep(self.chance.uniform(0.1, 2))
        self.number = signal.SIGCONT
        super().send(worker)


class KillTheLauncher(Fault):
    error = ""  # a killed launcher prints nothing

    def strike(self, run):
        run.program.kill()


class Interrupt(Fault):
    error = r"interrupted|stopped after iteration"

    def strike(self, run):
        if run.program.poll() is None:
            run.program.send_signal(self.chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGUSR1]))


class SlowRank(Fault):
    def __init__(self, chance):
        super().__init__(chance)
        self.options = ["--slow", f"{chance.randrange(2)}:{chance.randrange(1, 30)}"]


class GarbageConnections(Fault):
    """Sends random bytes to every port on which the run listens."""

    def strike(self, run):
        for _ in range(20):
            for port in listening_ports(run.program.pid):
                try:
                    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                        connection.sendall(self.chance.randbytes(self.chance.choice([1, 100, 100_000])))
                except OSError:
                    pass  # the run closed the connection, as it should


class FullDisk(Fault):
    """Limits the size of files. Shared memory counts as a file, so the job uses threads."""
    error = r"File too large"

    def __init__(self, chance):
        super().__init__(chance)
        self.settings = {"preexec_fn": self.limit}

    def fits(self, job):
        return "threads" in job

    @staticmethod
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


class OnSmallDisk(Fault):
    """The run's folder is on a separate small disk."""

    def fits(self, job):
        return "lenet5" in job and os.geteuid() == 0 and super().fits(job)

    def prepare(self, run):
        self.disk = run.folder / "run"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", self.disk], check=True)

    def remount(self, option):
        """Retries: a process that was killed with its launcher may keep the disk busy for a moment."""
        command = ["mount", "-o", f"remount,{option}", self.disk]
        for _ in range(200):
            if subprocess.run(command, capture_output=True).returncode == 0:
                return
            time.sleep(0.05)
        subprocess.run(command, check=True)

    def fill(self):
        with contextlib.suppress(OSError), open(self.disk / "ballast", "wb", buffering=0) as ballast:
            while True:
                ballast.write(b"x" * (1 + self.chance.randrange(65536)))

    def clean(self, run):
        subprocess.run(["umount", "-l", self.disk], check=True)


class FullSmallDisk(OnSmallDisk):
    """The disk is full; after it is enlarged, the run resumes."""
    error = r"No space left|disk full"

    def strike(self, run):
        self.fill()

    def repair(self, run):
        self.remount("size=100m")


class FullForAWhile(OnSmallDisk):
    """The disk is full for a while: the run continues without the checkpoints that cannot be written."""
    options = ("--checkpoint-errors", "continue")

    def strike(self, run):
        done = run.iteration()
        if done + 40 > run.iterations:
            return  # the last files of the run have to be written
        self.fill()
        run.wait_for_iteration(done + self.chance.randrange(1, 15))
        self.remount("size=100m")


class ReadOnlyDisk(OnSmallDisk):
    """The run is killed, and cannot resume on a read-only disk."""
    error = r"Read-only file system"

    def strike(self, run):
        run.program.kill()
        run.finish()
        if not list(run.folder.glob("run/checkpoints/*.safetensors")):
            return run.start()
        self.remount("ro")
        run.start("--resume")
        if run.finish() == 0 or not re.search(self.error, run.errors()):
            raise Wrong(f"it resumed on a read-only disk: {run.errors()}")

    def repair(self, run):
        self.remount("rw")


class NoSharedMemoryFolder(Fault):
    """/dev/shm has space for one page, as if other programs had filled it."""
    wrapper = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=4k none /dev/shm && exec "$@"', "sh"]

    def fits(self, job):
        return super().fits(job) and os.geteuid() == 0 and subprocess.run([*self.wrapper, "true"], capture_output=True).returncode == 0


class DamagedCheckpoint(Fault):
    """The run is killed, and its newest checkpoint is missing, truncated or corrupted: it resumes from the previous one."""
    error = ""

    def strike(self, run):
        run.program.kill()
        run.finish()
        checkpoints = sorted(run.folder.glob("run/checkpoints/*.safetensors"))
        if len(checkpoints) < 2:
            return
        content = bytearray(checkpoints[-1].read_bytes())
        place = self.chance.randrange(len(content))
        kind = self.chance.randrange(3)
        if kind == 0:
            return checkpoints[-1].unlink()
        if kind == 1:
            del content[place:]
        else:
            content[place] ^= 1 << self.chance.randrange(8)
        checkpoints[-1].write_bytes(content)


class CutLink(Fault):
    """A host is unreachable for a moment."""

    def fits(self, job):
        return "hosts" in job and hosts.why_not() is None

    def strike(self, run):
        run.cluster.disconnect(1)
        time.sleep(self.chance.uniform(0.1, 3))
        run.cluster.reconnect(1)


class OtherJobOnARank(Fault):
    """One rank has another option or a wrong label: no rank trains, and the correct job can start afterwards."""
    others = {"--seed": 1, "--batch": 12, "--limit": 12, "--lr": 0.5, "--weight-decay": 0.1, "--data-dir": "wrong"}

    def fits(self, job):
        return "lenet5" in job and "threads" not in job and super().fits(job)

    def prepare(self, run):
        copy_with_other_byte(run.folder / "wrong", LABELS, FIRST_LABEL)
        job = [*JOBS[run.job], *COMMON, "--run-dir", "run"]
        options = dict(zip(job[::2], job[1::2]))
        workers, transport = options.pop("--workers"), options.pop("--transport")  # options of the launcher
        name, rank = self.chance.choice([*self.others]), self.chance.randrange(workers)
        usual, other = (" ".join(f"{option} {value}" for option, value in given.items())
                        for given in (options, {**options, name: self.others[name]}))
        script = f'if [ "$RANK" = {rank} ]; then exec {BINARY} train {other}; else exec {BINARY} train {usual}; fi'
        done = subprocess.run([BINARY, "launch", "--workers", str(workers), "--transport", transport, "--", "sh", "-c", script],
                              cwd=run.folder, env=clean_environment(), capture_output=True, text=True, timeout=HANGS)
        named = re.findall("^lockstep train: the ranks have different (?:options|data)",
                           done.stderr, re.MULTILINE)
        if done.returncode != 1 or len(named) != workers:
            raise Wrong(f"rank {rank} had another {name}: it ended with code {done.returncode} and said: {done.stderr}")


FAULTS = [Kill, KillWithRestarts, KillElastic, Crash, Pause, KillTheLauncher, Interrupt, SlowRank, GarbageConnections,
          FullDisk, FullSmallDisk, FullForAWhile, ReadOnlyDisk, NoSharedMemoryFolder, DamagedCheckpoint, CutLink,
          OtherJobOnARank]
