"""--shards: the same bits on any number of workers and over every transport, and notices where bits may differ."""
import json
import shutil
import unittest

from checkpoint_files import sealed
from program import SMALL, ProgramTest

JOB = [*SMALL, "--iterations", 3, "--momentum", 0.9, "--shards", 4]


class Shards(ProgramTest):
    def train(self, *options):
        output, errors = self.run_program("train", *JOB, *options, "--run-dir", "run")
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        shutil.rmtree(self.folder / "run")
        return summary, output + errors

    def outcome(self, *options):
        summary, _ = self.train(*options)
        self.assertEqual(summary["shards"], 4)
        return summary["weights_sha256"], summary["train_loss"], summary["test_loss"]

    def test_bits_do_not_depend_on_workers_and_transports(self):
        alone = self.outcome("--workers", 1)
        for workers, transport in [(2, "shm"), (4, "shm"), (4, "thread"), (2, "gloo"), (4, "gloo"), (4, "shm+gloo")]:
            self.assertEqual(self.outcome("--workers", workers, "--transport", transport), alone, (workers, transport))

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
    def test_bits_are_the_same_over_mpi(self):
        alone = self.outcome("--workers", 1)
        for workers, transport in [(2, "mpi"), (4, "mpi"), (2, "shm+mpi")]:
            self.assertEqual(self.outcome("--workers", workers, "--transport", transport), alone, (workers, transport))

    def test_ring_warns_that_its_order_depends_on_the_workers(self):
        _, words = self.train("--workers", 2, "--sync", "ring")
        self.assertIn("ring adds in an order that depends on the number of workers", words)
        _, words = self.train("--workers", 2, "--sync", "tree")
        self.assertNotIn("adds in an order", words)

    def test_compare_says_what_is_the_same(self):
        output, _ = self.run_program("compare", "--repeat", 1, "--epochs", 2, "--shards", 4, "--methods", "p2p,ddp", "--run-dir", "all")
        self.assertIn("all methods end with exactly the weights of one worker", output)
        output, _ = self.run_program("compare", "--repeat", 1, "--epochs", 2, "--shards", 4, "--methods", "ring,ddp", "--run-dir", "ring")
        self.assertIn("all methods except ring end with exactly the weights of one worker", output)

    def test_another_numeric_environment_is_reported(self):
        options = ["--workers", 2, "--checkpoint-every", 2, "--run-dir", "run"]
        self.run_program("train", *JOB, *options)
        arithmetic = json.loads((self.folder / "run" / "config.json").read_text())["arithmetic"]
        for name in ["processor", "vector unit", "libtorch", "threads a worker", "engine", "convolutions"]:
            self.assertTrue(arithmetic[name], name)
        (file,) = (self.folder / "run" / "checkpoints").iterdir()
        content = file.read_bytes()
        resume = ["train", *JOB, *options, "--resume"]
        _, errors = self.run_program(*resume)
        self.assertEqual(errors, "")
        file.write_bytes(sealed(content, **{"arithmetic: processor": "Abacus 1", "arithmetic: libtorch": "0.1"}))
        _, errors = self.run_program(*resume)
        self.assertRegex(errors, r"^lockstep: the numeric environment differs from that of run/checkpoints/\S+, so "
                                 rf"the last bits of the results may differ .*: libtorch was 0.1 and is {arithmetic['libtorch']}; "
                                 r"processor was Abacus 1 and is ")
        _, errors = self.run_program(*resume, "--threads", 2)
        self.assertIn("threads a worker was 1 and is 2", errors)

    def test_impossible_numbers_are_bad_usage(self):
        for options, words in [(["--shards", 3], "must be a power of two"), (["--shards", -1], "must be a power of two"),
                               (["--shards", 4, "--workers", 3], "cannot be distributed over 3 workers"),
                               (["--shards", 2, "--workers", 4], "at most 2")]:
            _, errors = self.run_program("train", *SMALL, *options, "--run-dir", "run", code=2)
            self.assertIn(words, errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
