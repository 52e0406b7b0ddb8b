"""lockstep compare: its table and its JSON."""
import json
import unittest

from program import ProgramTest

METHODS = {"gather-scatter", "p2p", "coordinator", "all-reduce", "ring", "ddp", "sharded", "server"}


class Compare(ProgramTest):
    def test_shows_that_all_methods_end_with_the_weights_of_one_worker(self):
        output, errors = self.run_program("compare", "--epochs", 2, "--workers", 2, "--run-dir", "run", "--repeat", 1)
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

    def test_repeats_all_variants_in_turn_and_shows_the_spread(self):
        output, errors = self.run_program("compare", "--epochs", 1, "--workers", 2, "--methods", "ddp,local-sgd", "--run-dir",
                                          "run", "--transport", "thread", "--repeat", 2)
        self.assertEqual(errors, "")
        self.assertEqual([line for line in output.splitlines() if line.startswith("[")],
                         ["[1/3] alone, 1 worker", "[2/3] ddp, 2 workers", "[3/3] local-sgd, 2 workers",
                          "[1/3] alone, 1 worker, repetition 2", "[2/3] ddp, 2 workers, repetition 2",
                          "[3/3] local-sgd, 2 workers, repetition 2"])
        result = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertIn(result["verdict"], output)
        self.assertRegex(result["verdict"], r"^ddp trains \d+ images/s \(\d+ to \d+ in 2 repetitions\). local-sgd is ")
        table = result["tables"][0]
        for run, row in zip(result["runs"], table["rows"]):
            name = run["name"]
            self.assertEqual([one["folder"] for one in run["repetitions"]], [name, f"repeat-2/{name}"])
            for one in run["repetitions"]:
                alone = json.loads((self.folder / "run" / one["folder"] / "summary.json").read_text())
                self.assertEqual(alone["seconds_per_iteration"], one["seconds_per_iteration"])
            rates = sorted(one["images_per_second"] for one in run["repetitions"])
            self.assertEqual(run["images_per_second"], rates[0])
            for column, rate in zip(("images/s", "lowest", "highest"), (rates[0], *rates)):
                self.assertAlmostEqual(float(row[table["columns"].index(column)]), rate, delta=0.51)
        page = self.run_program("report", "run")[0]
        self.assertIn("report: run/report.html", page)

    def test_prints_losses_of_rank_0_if_asked_to(self):
        output, _ = self.run_program("compare", "--epochs", 1, "--workers", 2, "--methods", "ddp", "--run-dir", "run",
                                     "--repeat", 1, "--log-every", 3)
        for name in ("alone", "ddp"):
            lines = [json.loads(line) for line in (self.folder / "run" / name / "metrics.jsonl").read_text().splitlines()]
            for line in lines:
                if line["kind"] == "iteration" and line["rank"] == 0 and line["iteration"] % 3 == 0:
                    self.assertIn(f"iteration {line['iteration']}/7  rank 0  loss {line['loss']:.4f}\n", output)
        self.assertEqual(output.count("  rank 0  loss "), 4)

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
        _, errors = self.run_program("compare", "--mistakes", "--repeat", 2, code=2)
        self.assertIn("leave out --repeat", errors)

    def test_prints_only_json_to_standard_output(self):
        output, errors = self.run_program("compare", "--epochs", 1, "--workers", 2, "--methods", "p2p,ddp", "--run-dir",
                                          "run", "--transport", "thread", "--repeat", 1, "--json", "-")
        self.assertEqual([run["method"] for run in json.loads(output)["runs"]], ["ddp", "p2p", "ddp"])
        self.assertEqual(errors, "")

    def test_a_failed_run_fails_the_comparison(self):
        output, errors = self.run_program("compare", "--workers", 2, "--data-dir", "nowhere", "--run-dir", "run",
                                          code=1)
        self.assertIn("nowhere", errors)
        self.assertFalse((self.folder / "run" / "summary.json").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
