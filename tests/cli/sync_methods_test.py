"""Sync methods other than ddp and compression: their results, bytes and checkpoints."""
import json
import shutil
import unittest

from program import SMALL, ProgramTest

LENET = ["--model", "lenet5", "--data", "mnist", "--batch", 64, "--epochs", 8, "--workers", 2]


class OtherMethods(ProgramTest):
    def train(self, *options, job=SMALL):
        self.run_program("train", *job, *options, "--run-dir", "run")
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        shutil.rmtree(self.folder / "run")
        for part in [summary, *summary["ranks"]]:
            parts = part["compute_share"] + part["exposed_communication_share"] + part["data_share"]
            self.assertAlmostEqual(parts, 1, delta=0.03, msg="compute, transfer, waiting and data are the iteration")
            self.assertLessEqual(part["wait_share"], part["exposed_communication_share"])
        return summary

    def test_sharded_and_server_end_with_the_weights_of_ddp(self):
        job = [*SMALL, "--iterations", 5, "--momentum", 0.9, "--workers", 2]
        for transport in ["shm", "gloo"]:
            ddp = self.train("--transport", transport, "--algorithm", "tree", job=job)["weights_sha256"]
            for options in [["--sync", "sharded"], ["--sync", "server"], ["--sync", "server", "--servers", 2]]:
                summary = self.train("--transport", transport, *options, job=job)
                self.assertEqual(summary["weights_sha256"], ddp, (transport, options))

    def test_sharded_and_server_are_bit_identical_with_shards(self):
        job = [*SMALL, "--iterations", 3, "--momentum", 0.9, "--shards", 4]
        alone = self.train("--workers", 1, job=job)["weights_sha256"]
        for sync in ["sharded", "server"]:
            for transport in ["shm", "gloo"]:
                summary = self.train("--workers", 4, "--sync", sync, "--transport", transport, job=job)
                self.assertEqual(summary["weights_sha256"], alone, (sync, transport))

    def test_a_resumed_run_ends_with_the_weights_of_an_uninterrupted_one(self):
        for options in [["--sync", "sharded"], ["--sync", "server", "--servers", 2],
                        ["--sync", "local-sgd", "--local-steps", 2]]:
            job = [*SMALL, "--momentum", 0.9, "--workers", 2, *options, "--checkpoint-every", 4]
            whole = self.train("--iterations", 8, job=job)["weights_sha256"]
            self.run_program("train", *job, "--iterations", 4, "--run-dir", "run")
            self.run_program("train", *job, "--iterations", 8, "--run-dir", "run", "--resume")
            summary = json.loads((self.folder / "run" / "summary.json").read_text())
            self.assertEqual(summary["weights_sha256"], whole, options)
            shutil.rmtree(self.folder / "run")

    def test_lenet5_reaches_the_same_accuracy_within_a_point(self):
        job = [*LENET, "--lr", 0.02, "--momentum", 0.9]
        plain = self.train(job=job)
        self.assertGreater(plain["test_accuracy"], 0.93)
        for options in [["--compress", "float16"], ["--compress", "bfloat16"], ["--compress", "topk:0.05"],
                        ["--compress", "powersgd:4"], ["--compress", "sign"], ["--sync", "local-sgd"]]:
            summary = self.train(*options, job=job)
            self.assertGreater(summary["test_accuracy"], plain["test_accuracy"] - 0.01, options)

    def test_an_asynchronous_server_learns(self):
        # Momentum with stale gradients overshoots.
        summary = self.train("--sync", "server", "--staleness", 2, "--lr", 0.1, job=LENET)
        self.assertGreater(summary["test_accuracy"], 0.9)

    def test_compare_distinguishes_exact_from_approximate_methods(self):
        output, _ = self.run_program("compare", "--repeat", 1, "--epochs", 2, "--methods", "ddp,sharded,server,local-sgd", "--compress",
                                     "float16,sign", "--run-dir", "all")
        self.assertIn("All exact methods end with the same weights", output)
        self.assertRegex(output, r"Approximate methods do not reproduce the updates of one worker.*local-sgd .*ddp\+float16 .*ddp\+sign")


if __name__ == "__main__":
    unittest.main()
