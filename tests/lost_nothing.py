#!/usr/bin/python3
"""Injects faults into a training with checkpoints, one after another, and prints how often it ended as one that nothing
happened to, to the bit. Fails if it ever ended otherwise. By hand: it takes minutes. As root also disks that are full or
become read-only, in a mount namespace of its own.

    tests/lost_nothing.py                      # the program that ./lockstep has built
    tests/lost_nothing.py --times 5 --seed 7   # a seed replays its faults
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
JOB = ["train", "--limit", "100", "--batch", "16", "--momentum", "0.9", "--shards", "4", "--trace", "0", "--log-every", "1"]
WRONG = "WRONG"
OFTEN = ["--checkpoint-every", "25"]


class Faults:
    """Each method injects one fault, and says how it ended."""

    def __init__(self, program, folder, seed):
        self.program, self.folder, self.chance = program, folder, random.Random(seed)
        self.run("undisturbed")
        self.expected = self.weights("undisturbed")

    def command(self, run, *options, iterations=600):
        return [self.program, *JOB, "--run-dir", self.folder / run, "--iterations", str(iterations), *options]

    def run(self, run, *options, code=0, **length):
        done = subprocess.run(self.command(run, *options, **length), capture_output=True, text=True)
        if done.returncode != code:
            raise AssertionError(f"code {done.returncode} instead of {code}: {done.stderr}")
        return done.stderr

    def start(self, run, *options, after):
        """A training that has come this far."""
        process = subprocess.Popen(self.command(run, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            if f"iteration {after}/" in line:
                return process
        raise AssertionError(process.stderr.read())

    def weights(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())["weights_sha256"]

    def require_undisturbed(self, run="run"):
        if self.weights(run) != self.expected:
            raise AssertionError("other weights")
        return "the undisturbed run's weights"

    def newest(self, run="run"):
        return max((self.folder / run / "checkpoints").glob("*.safetensors"))

    def require(self, condition, text):
        if not condition:
            raise AssertionError(text)

    def workers_of(self, process):
        """Forked by the program, or below mpirun's shells."""
        parents = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        below = {process.pid}
        while more := {child for child, parent in parents.items() if parent in below} - below:
            below |= more
        same = os.path.realpath(self.program)
        return sorted(pid for pid in below - {process.pid} if os.path.realpath(f"/proc/{pid}/exe") == same)

    def kill_a_worker(self, transport):
        process = self.start("run", *OFTEN, "--workers", self.chance.choice(["2", "4"]), "--transport", transport,
                             "--restarts", "3", after=self.chance.randrange(1, 400))
        time.sleep(self.chance.random() * 0.02)
        os.kill(self.chance.choice(self.workers_of(process)), signal.SIGKILL)
        _, errors = process.communicate(timeout=300)
        self.require(process.returncode == 0 and "(1 of 3)" in errors, errors)
        return self.require_undisturbed()

    def outcome(self, fault):
        try:
            return getattr(self, fault)()
        except AssertionError as error:
            return f"{WRONG}: {str(error).strip()[:300]!r}"
        finally:
            shutil.rmtree(self.folder / "run", ignore_errors=True)

    def killed_worker_shm(self):
        return self.kill_a_worker("shm")

    def killed_worker_gloo(self):
        return self.kill_a_worker("gloo")

    def killed_worker_mpi(self):
        return self.kill_a_worker("mpi")

    def stop_somewhere(self):
        self.run("run", *OFTEN, iterations=self.chance.randrange(60, 300))

    def resume_after_damage(self, damaged):
        errors = self.run("run", *OFTEN, "--workers", self.chance.choice(["1", "2", "4"]), "--resume")
        self.require("because of newer ones" in errors and damaged.name in errors, errors)
        return self.require_undisturbed()

    def flipped_bit(self):
        self.stop_somewhere()
        content = bytearray(self.newest().read_bytes())
        content[self.chance.randrange(len(content))] ^= 1 << self.chance.randrange(8)
        self.newest().write_bytes(content)
        return self.resume_after_damage(self.newest())

    def truncated_checkpoint(self):
        self.stop_somewhere()
        content = self.newest().read_bytes()
        self.newest().write_bytes(content[:self.chance.randrange(len(content))])
        return self.resume_after_damage(self.newest())

    def missing_checkpoint(self):
        self.stop_somewhere()
        self.newest().unlink()
        self.run("run", *OFTEN, "--resume")
        return self.require_undisturbed()

    @contextlib.contextmanager
    def disk(self, size):
        """A small one, where the run's folder is."""
        (self.folder / "run").mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.folder / "run"], check=True)
        try:
            yield self.folder / "run"
        finally:
            subprocess.run(["umount", "-l", self.folder / "run"], check=True)

    def remount(self, disk, option):
        subprocess.run(["mount", "-o", f"remount,{option}", disk], check=True)

    def full_disk_stops(self):
        with self.disk("1500k") as disk:
            self.run("run", *OFTEN, iterations=30)
            before = self.newest().read_bytes()
            with contextlib.suppress(OSError), open(disk / "ballast", "wb", buffering=0) as ballast:
                while True:
                    ballast.write(b"x" * (1 + self.chance.randrange(65536)))
            errors = self.run("run", *OFTEN, "--resume", code=1)
            self.require("No space left" in errors or "disk full" in errors, errors)
            self.require(self.newest().read_bytes() == before, "the checkpoint before has changed")
            (disk / "ballast").unlink()
            self.remount(disk, "size=100m")
            self.run("run", *OFTEN, "--resume")
            return self.require_undisturbed()

    def full_disk_goes_on(self):
        with self.disk("1500k") as disk:
            process = self.start("run", *OFTEN, "--checkpoint-errors", "continue", after=30)
            until = f"iteration {100 + self.chance.randrange(400)}/"
            with contextlib.suppress(OSError), open(disk / "ballast", "wb", buffering=0) as ballast:
                while True:
                    ballast.write(b"x" * 65536)
            for line in process.stdout:
                if until in line:
                    break
            self.remount(disk, "size=100m")
            _, errors = process.communicate(timeout=300)
            self.require(process.returncode == 0 and "goes on without this checkpoint" in errors, errors)
            return self.require_undisturbed()

    def read_only_disk(self):
        with self.disk("100m") as disk:
            self.run("run", *OFTEN, iterations=60)
            before = self.newest().read_bytes()
            self.remount(disk, "ro")
            errors = self.run("run", *OFTEN, "--resume", code=1)
            self.require("Read-only file system" in errors, errors)
            self.require(self.newest().read_bytes() == before, "the checkpoint before has changed")
            self.remount(disk, "rw")
            self.run("run", *OFTEN, "--resume")
            return self.require_undisturbed()


FAULTS = ["killed_worker_shm", "killed_worker_gloo", "killed_worker_mpi", "flipped_bit", "truncated_checkpoint",
          "missing_checkpoint", "full_disk_stops", "full_disk_goes_on", "read_only_disk"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "bin" / "lockstep"))
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--seed", type=int, default=5000)
    parser.add_argument("--faults", default=",".join(FAULTS))
    options = parser.parse_args()
    if os.geteuid() == 0 and "LOCKSTEP_UNSHARED" not in os.environ:
        os.execvpe("unshare", ["unshare", "--mount", sys.executable, *sys.argv], {**os.environ, "LOCKSTEP_UNSHARED": "1"})
    os.environ.pop("LOCKSTEP_UNSHARED", None)
    wrong = 0
    print("| fault | times | outcome |\n| --- | ---: | --- |", flush=True)
    for fault in options.faults.split(","):
        if (fault.endswith("mpi") and not shutil.which("mpirun")) or ("disk" in fault and os.geteuid() != 0):
            continue
        with tempfile.TemporaryDirectory() as folder:
            faults = Faults(options.program, pathlib.Path(folder), f"{options.seed} {fault}")
            outcomes = collections.Counter(faults.outcome(fault) for _ in range(options.times))
        wrong += sum(count for outcome, count in outcomes.items() if outcome.startswith(WRONG))
        print(f"| {fault} | {options.times} | {'; '.join(f'{count} × {text}' for text, count in outcomes.items())} |",
              flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
