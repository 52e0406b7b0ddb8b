"""lockstep compare: its table and its JSON."""
import json
import unittest

from program import ProgramTest

METHODS = {"gather-scatter", "p2p", "coordinator", "all-reduce", "ring", "ddp", "sharded", "server"}


class Compare(ProgramTest):
    def test_shows_that_all_methods_end_with_the_weights_of_one_worker(self):
        output, errors = self.run_program("compare", "--epochs", 2, "--workers", 2, "--run-dir", "run")
        rows = {line.split()[0]: line.split() for line in output.splitlines() if line.endswith(" equal")}
        workers = {name: row[1] for name, row in rows.items()}
        self.assertEqual(workers.pop("alone"), "1")
        self.assertLessEqual(METHODS, set(workers))
        self.assertEqual(set(workers.values()), {"2"})
        self.assertIn("All exact methods end with the same weights as one worker", output)
        self.assertRegex(output, "Approximate methods do not reproduce the updates of one worker.*local-sgd")
        self.assertEqual(errors, "")

        runs = json.loads((self.folder / "run" / "summary.json").read_text())["runs"]
        self.assertEqual(runs.pop()["method"], "local-sgd")
        self.assertEqual([run["method"] for run in runs], ["ddp", *workers])
        for run in runs:
            self.assertEqual(run["iterations"], 14)
            self.assertLess(run["weights_difference"], 1e-6)
        for name in rows:
            self.assertTrue((self.folder / "run" / name / "summary.json").is_file(), name)

    def test_larger_models_have_the_defaults_of_the_literature(self):
        self.run_program("compare", "--model", "resnet18", "--workers", 2, "--methods", "ddp", "--iterations", 1, "--limit",
                         8, "--batch", 4, "--momentum", 0, "--run-dir", "run")
        config = json.loads((self.folder / "run" / "ddp" / "config.json").read_text())
        self.assertEqual((config["data"], config["lr"], config["weight_decay"], config["augment"]),
                         ("cifar10", 0.1, 1e-4, True))
        self.assertEqual((config["limit"], config["batch"], config["momentum"]), (8, 4, 0))

    def test_shows_the_effect_of_mistakes(self):
        output, errors = self.run_program("compare", "--mistakes", "--epochs", 2, "--workers", 2, "--run-dir", "run")
        self.assertEqual(errors, "")
        runs = {run["name"]: run for run in json.loads((self.folder / "run" / "summary.json").read_text())["runs"]}
        self.assertEqual(runs["right"]["different_weights"], 1)
        self.assertEqual(runs["sync-after-update"]["different_weights"], 2)
        for name, run in runs.items():
            self.assertRegex(output, rf"(?m)^{name} +{run['train_loss']:.4f} ")
            if run["right"]:
                self.assertRegex(output, rf"(?m)^{name}: train accuracy .* instead of ")
        _, errors = self.run_program("compare", "--mistakes", "--methods", "ddp", code=2)
        self.assertIn("leave out --methods", errors)
        _, errors = self.run_program("compare", "--mistakes", "--compress", "float16", code=2)
        self.assertIn("leave out --compress", errors)

    def test_prints_only_json_to_standard_output(self):
        output, errors = self.run_program("compare", "--epochs", 1, "--workers", 2, "--methods", "p2p,ddp", "--run-dir",
                                          "run", "--transport", "thread", "--json", "-")
        self.assertEqual([run["method"] for run in json.loads(output)["runs"]], ["ddp", "p2p", "ddp"])
        self.assertEqual(errors, "")

    def test_a_failed_run_fails_the_comparison(self):
        output, errors = self.run_program("compare", "--workers", 2, "--data-dir", "nowhere", "--run-dir", "run",
                                          code=1)
        self.assertIn("nowhere", errors)
        self.assertFalse((self.folder / "run" / "summary.json").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
