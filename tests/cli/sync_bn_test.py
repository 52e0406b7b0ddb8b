"""--sync-bn: batch norm over all workers, over every transport, and when one of them dies."""
import json
import os
import shutil
import signal
import unittest

from program import ProgramTest, children_of

JOB = ["--model", "vgg11", "--data", "synthetic:3x32x32,train=13,test=4", "--batch", 10, "--sync-bn", "--threads", 1]


class SyncBatchNorm(ProgramTest):
    def summary(self, folder):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def test_compare_shows_the_weights_of_one_worker(self):
        output, errors = self.run_program("compare", "--repeat", 1, *JOB, "--workers", 2, "--dtype", "float64", "--iterations", 3,
                                          "--methods", "all-reduce,ddp", "--engine", "torch", "--run-dir", "run")
        self.assertEqual(errors, "")
        self.assertIn("All methods end with the same weights as one worker", output)
        for run in self.summary("run")["runs"]:
            self.assertLess(run["weights_difference"], 1e-9)
            self.assertLess(run["loss_difference"], 1e-9)
        self.assertIs(json.loads((self.folder / "run" / "ddp" / "config.json").read_text())["sync_bn"], True)

    def expect_same_bits_on_every_transport(self, *options):
        seen = set()
        for transport in ["shm", "thread", "gloo", *(["mpi"] if shutil.which("mpirun") else [])]:
            _, errors = self.run_program("train", *JOB, "--workers", 2, "--iterations", 3, "--transport", transport,
                                         *options, "--run-dir", f"{transport}-{len(options)}")
            self.assertEqual(errors, "")
            summary = self.summary(f"{transport}-{len(options)}")
            seen.add((summary["weights_sha256"], summary["buffers_sha256"]))
        self.assertEqual(len(seen), 1)

    def test_every_transport_ends_with_the_same_weights_and_statistics(self):
        self.expect_same_bits_on_every_transport("--engine", "torch")
        if self.has_onednn():
            self.expect_same_bits_on_every_transport("--engine", "onednn", "--shards", 2)

    def test_auto_uses_onednn_if_it_is_built(self):
        output, errors = self.run_program("train", *JOB, "--workers", 2, "--iterations", 1, "--conv", "fixed",
                                          "--run-dir", "run")
        self.assertEqual(self.summary("run")["engine"], "onednn" if self.has_onednn() else "torch")
        if self.has_onednn():
            self.assertNotIn("engine torch", output + errors)

    def test_the_trace_has_two_messages_of_every_layer(self):
        self.run_program("train", *JOB, "--workers", 2, "--iterations", 2, "--trace", 1, "--conv", "fixed",
                         "--run-dir", "run")
        events = json.loads((self.folder / "run" / "trace.json").read_text())["traceEvents"]
        for name in ["all_gather of batch norm", "all_reduce of batch norm"]:
            self.assertEqual(sum(event["name"] == name for event in events), 2 * 8, name)

    def test_survivors_name_the_worker_that_was_killed(self):
        program = self.start("train", *JOB, "--workers", 3, "--epochs", 10**9, "--log-every", 1, "--conv", "fixed",
                             "--run-dir", "run")
        self.wait_for(program, "iteration 2/")
        os.kill(children_of(program.pid)[1], signal.SIGKILL)
        _, errors = self.finish(program, 1)
        self.assertIn("the run failed: rank 1", errors)
        self.assertRegex(errors, r"rank [02] lost a peer in .* rank 1 \(pid \d+")


if __name__ == "__main__":
    unittest.main(verbosity=2)
