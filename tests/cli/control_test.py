"""Early stopping, plateaus, weight checks and balancing."""
import json
import shutil
import unittest

from program import SMALL, ProgramTest


class Control(ProgramTest):
    def read(self, name):
        return json.loads((self.folder / "run" / name).read_text())

    def lines(self, kind):
        lines = (self.folder / "run" / "metrics.jsonl").read_text().splitlines()
        return [line for line in map(json.loads, lines) if line["kind"] == kind]

    def test_a_run_stops_at_the_accuracy_and_succeeds(self):
        ways = ["shm", "mpi"] if shutil.which("mpirun") else ["shm"]
        for transport in ways:
            output, errors = self.run_program("train", *SMALL, "--workers", 2, "--transport", transport, "--epochs", 50,
                                              "--stop-at-accuracy", 0.02, "--patience", 40, "--run-dir", "run")
            self.assertRegex(output, r"(?m)^epoch 1  test loss [\d.]+  accuracy \d+/1000 \([\d.]+ %\)$")
            self.assertRegex(output, r"(?m)^stopped early: after epoch 1 the test accuracy is [\d.]+ %, which reaches the target of 2 %$")
            self.assertEqual(errors, "")
            summary, config = self.read("summary.json"), self.read("config.json")
            self.assertIn("after epoch 1", summary["stopped"])
            self.assertEqual((summary["epochs"], config["stop_at_accuracy"], config["patience"]), (1, 0.02, 40))
            self.assertEqual([line["accuracy"] for line in self.lines("test")], [summary["test_accuracy"]])
            shutil.rmtree(self.folder / "run")

    def test_invalid_options_are_refused(self):
        for options, words in {"--stop-at-accuracy 98": "above 0 and up to 1; 0.98 is 98 %",
                               "--stop-at-accuracy 0": "above 0 and up to 1",
                               "--patience 0 --epochs 9": "--patience is 0: it must be 1 or more",
                               "--patience 3 --epochs 3": "from 1 to below the 3 epochs",
                               "--plateau 0": "--plateau is 0: it must be 1 or more epochs",
                               "--plateau 2 --plateau-factor 2": "above 0 and below 1",
                               "--plateau-factor 0.5": "--plateau-factor needs --plateau",
                               "--check-every 0": "--check-every is 0: it must be 1 or more",
                               "--check-every 1 --sync local-sgd": "but --sync local-sgd lets them differ",
                               "--check-every 1 --sync server --staleness 2": "but --staleness lets them differ",
                               "--balance --shards 2": "--shards fixes each shard's images",
                               "--balance --sync local-sgd": "--sync local-sgd averages weights"}.items():
            self.expect_refused(f"train {options}", words)
        self.expect_help("train", ["--stop-at-accuracy", "--patience", "--plateau", "--check-every", "--balance"])

    def test_a_plateau_lowers_the_learning_rate(self):
        output, errors = self.run_program("train", *SMALL, "--workers", 2, "--lr", 0, "--epochs", 3, "--plateau", 1,
                                          "--plateau-factor", 0.25, "--run-dir", "run")
        self.assertIn("after epoch 2 the test loss stopped improving: the learning rate is now 0\n", errors)
        self.assertNotIn("after epoch 3", errors)  # which is the last
        self.assertEqual(len(self.lines("test")), 3)
        self.assertEqual(self.read("config.json")["plateau_factor"], 0.25)

    def test_different_weights_end_the_run(self):
        _, errors = self.run_program("train", *SMALL, "--workers", 3, "--epochs", 3, "--mistake", "different-weights",
                                     "--check-every", 2, code=1)
        self.assertRegex(errors, r"after step 2 the workers' weights are no longer the same: ranks 1 and 2 differed first in "
                                 r"[\w.]+, compared with rank 0, since there is no majority")
        self.run_program("train", *SMALL, "--workers", 2, "--epochs", 2, "--check-every", 1)

    def test_a_slow_worker_gets_fewer_images(self):
        _, errors = self.run_program("train", *SMALL, "--workers", 2, "--epochs", 8, "--balance", "--slow", "1:100",
                                     "--run-dir", "run")
        self.assertRegex(errors, r"from iteration \d+ on the workers split a batch as 15 \+ 1\n")
        self.assertTrue(self.read("config.json")["balance"])
        last = {line["rank"]: line["samples"] for line in self.lines("iteration") if line["iteration"] == 16}
        self.assertEqual(last, {0: 15, 1: 1})


if __name__ == "__main__":
    unittest.main(verbosity=2)
