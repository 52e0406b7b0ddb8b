"""kill -9 at random moments while checkpoints are written: there is always a valid checkpoint."""
import contextlib
import json
import os
import random
import signal
import time
import unittest

from checkpoint_files import is_sound, metadata_of
from program import SMALL, ProgramTest, children_of, processes

ROUNDS = int(os.environ.get("LOCKSTEP_KILLS", 6))
SEED = int(os.environ.get("LOCKSTEP_SEED", time.time_ns() % 10**6))
JOB = ["train", *SMALL, "--workers", 2, "--shards", 2, "--momentum", 0.9, "--trace", 0]
OFTEN = ["--checkpoint-every", 1]


class CheckpointKills(ProgramTest):
    def setUp(self):
        super().setUp()
        self.checkpoints = self.folder / "run" / "checkpoints"

    def files(self, suffix):
        """The checkpoints; some may be removed during the search."""
        return sorted(self.checkpoints.glob(f"*{suffix}")) if self.checkpoints.exists() else []

    def newest(self):
        """The iteration of the newest valid checkpoint; 0 if there is none."""
        sound = [content for file in self.files(".safetensors") if is_sound(content := file.read_bytes())]
        return max((int(metadata_of(content)["iteration"]) for content in sound), default=0)

    def kill(self, program):
        for process, _, session, _ in list(processes()):
            if session == program.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        program.wait()

    def one_round(self, chance):
        """Whether a write was interrupted."""
        for left in self.files(".part"):
            left.unlink()
        program = self.start(*JOB, *OFTEN, "--iterations", 10**6, "--run-dir", "run", *(["--resume"] if self.newest() else []))
        writes, seen, rank_0 = chance.randrange(1, 12), set(), None
        while len(seen) < writes:
            self.assertIsNone(program.poll(), "it ended by itself")
            seen.update(self.files(".part"))
            if seen and not rank_0:
                rank_0 = children_of(program.pid)[0]
        time.sleep(chance.random() * 0.002)
        os.kill(rank_0, signal.SIGKILL)
        self.kill(program)
        return bool(self.files(".part"))

    def test_there_is_always_a_valid_checkpoint(self):
        chance = random.Random(SEED)
        cut, newest = 0, 0
        for number in range(ROUNDS):
            cut += self.one_round(chance)
            now = self.newest()
            self.assertGreaterEqual(now, newest, f"round {number} of seed {SEED}")
            self.assertTrue(now or number == 0, f"round {number} of seed {SEED}: no checkpoint is sound")
            newest = now
        print(f"{ROUNDS} kills of seed {SEED}: {cut} cut a write off; iteration {newest}")
        last = ["--iterations", newest + 5]
        self.run_program(*JOB, *OFTEN, *last, "--run-dir", "run", "--resume")
        self.run_program(*JOB, *last, "--run-dir", "undisturbed")
        hashes = {json.loads((self.folder / run / "summary.json").read_text())["weights_sha256"]
                  for run in ("run", "undisturbed")}
        self.assertEqual(len(hashes), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
