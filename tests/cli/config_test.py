"""Options from files (--config), and the page that lists all options."""
import json
import os
import pathlib
import unittest

from program import BINARY, ProgramTest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "options.md"
JOB = """
limit = 32
batch = 16
epochs = 2
no-shuffle = true
lr = 0.05
trace = 0
"""


class Config(ProgramTest):
    def write(self, text, name="job.toml"):
        (self.folder / name).write_text(text)
        return name

    def config_of(self, run):
        return json.loads((self.folder / run / "config.json").read_text())

    def weights_of(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())["weights_sha256"]

    def expect_error(self, arguments, part, code=2):
        _, errors = self.run_program(*arguments.split(), code=code)
        self.assertIn(part, errors)
        self.assertEqual(errors.count("\n"), 1, errors)

    def test_the_command_line_takes_precedence_over_the_file(self):
        self.write(JOB)
        self.run_program("train", "--config", "job.toml", "--epochs", 1, "--run-dir", "run")
        config = self.config_of("run")
        self.assertEqual({key: config[key] for key in ["limit", "batch", "epochs", "shuffle", "lr", "seed"]},
                         {"limit": 32, "batch": 16, "epochs": 1, "shuffle": False, "lr": 0.05, "seed": 5000})
        self.assertIn("--config job.toml", config["command"])

    def test_the_record_of_a_run_repeats_it(self):
        self.write(JOB)
        self.run_program("train", "--config", "job.toml", "--workers", 2, "--sync", "ring", "--run-dir", "first")
        self.run_program("train", "--config", "first/config.json", "--run-dir", "again")
        first, again = self.config_of("first"), self.config_of("again")
        for config in (first, again):
            del config["command"]
        self.assertEqual(again, first)
        self.assertEqual(self.weights_of("again"), self.weights_of("first"))
        # Studies take from it what they have.
        self.run_program("compare", "--repeat", 1, "--config", "first/config.json", "--methods", "ddp", "--run-dir", "compared")
        self.assertEqual(self.config_of("compared/ddp")["lr"], 0.05)
        self.run_program("scale", "--config", "first/config.json", "--workers", 1, "--batches", 8, "--run-dir", "scaled")
        self.assertEqual(self.config_of("scaled/w1-b8")["lr"], 0.05)

    def test_results_of_other_options_are_not_taken_from_a_record(self):
        self.write(JOB)
        self.run_program("train", "--config", "job.toml", "--sync", "ring", "--run-dir", "ring")
        self.run_program("train", "--config", "ring/config.json", "--sync", "tree", "--workers", 2, "--iterations", 5,
                         "--run-dir", "tree")
        config = self.config_of("tree")
        self.assertEqual((config["sync"], config["algorithm"], config["iterations"]), ("tree", "tree", 5))
        self.assertEqual(len((self.folder / "tree/metrics.jsonl").read_text().split('"kind":"iteration"')) - 1, 10)
        self.run_program("compare", "--repeat", 1, "--config", "ring/config.json", "--methods", "gather-scatter", "--run-dir", "compared")

    def test_one_worker_of_compare_has_all_cores_whatever_the_record(self):
        self.write(JOB)
        threads = len(os.sched_getaffinity(0)) + 1  # no number that compare would choose
        self.run_program("train", "--config", "job.toml", "--workers", 2, "--threads", threads, "--run-dir",
                         "first")
        self.run_program("compare", "--repeat", 1, "--config", "first/config.json", "--methods", "ddp", "--run-dir", "record")
        self.run_program("compare", "--repeat", 1, "--config", "job.toml", "--workers", 2, "--methods", "ddp", "--run-dir",
                         "file")
        for run in ("alone", "ddp"):
            self.assertNotEqual(self.config_of(f"record/{run}")["threads"], threads)
            self.assertEqual(*[self.config_of(f"{study}/{run}")["threads"] for study in ("record", "file")])

    def test_options_that_follow_from_shards_are_not_taken_from_a_record(self):
        self.write(JOB)
        self.run_program("train", "--config", "job.toml", "--shards", 2, "--run-dir", "shards")
        self.run_program("train", "--config", "shards/config.json", "--shards", 0, "--run-dir", "none")
        self.assertEqual([self.config_of(run)["conv"] for run in ("shards", "none")], ["fixed", "auto"])

    def test_a_launcher_sets_the_number_of_workers(self):
        self.write(JOB + "workers = 4\n")
        self.write("workers = 2\nprefix = true\n", "hosts.toml")
        output, _ = self.run_program("launch", "--config", "hosts.toml", "--", BINARY, "train", "--config",
                                     "job.toml", "--run-dir", "run")
        self.assertIn("[0] ", output)
        self.assertEqual(self.config_of("run")["workers"], 2)

    def test_errors_name_file_and_line(self):
        for text, part in {"batch = 16\nbacth = 3\n": "job.toml:2: 'bacth' is not an option of lockstep train",
                           "weight_decay = 0.1\n": "job.toml:1: 'weight_decay' is not an option of lockstep train: write 'weight-decay'",
                           "batch = 'many'\n": "job.toml:1: --batch must be a whole number, not \"many\"",
                           "batch = 16\nbatch = 32\n": "job.toml:2: ",
                           "lr = -1\n": "job.toml:1: --lr is -1: it must be a number from 0 up",
                           "model = 'lenet6'\n": "job.toml:1: --model is 'lenet6': choose one of lenet5",
                           "batch =\n": "job.toml:1: ",
                           "[train]\nbatch = 1\n": "job.toml:1: 'train' is not an option"}.items():
            with self.subTest(text):
                self.write(text)
                self.expect_error("train --config job.toml", part)
        self.expect_error("train --config nowhere.toml", "nowhere.toml: ", code=1)
        self.write("sync = 'ddp'\n")
        self.expect_error("compare --config job.toml", "job.toml:1: 'sync' is not an option of lockstep compare")
        self.write("nnodes = 'two'\n")
        self.expect_error("launch --config job.toml -- true", "job.toml:1: --nnodes must be a whole number")
        self.write('{"format": 1,\n "batch": 8}', "config.json")
        self.expect_error("launch --config config.json -- true", "config.json:2: 'batch' is not an option of lockstep launch")

    def test_files_are_checked_like_the_command_line(self):
        self.write("beta1 = 0.9\n")
        self.expect_error("train --config job.toml", "--beta1 applies to --optimizer adam, adamw and lamb: leave it out with sgd")
        self.write("iterations = 2\nlimit = 32\n")
        self.run_program("train", "--config", "job.toml", "--run-dir", "run")
        self.assertEqual(self.config_of("run")["epochs"], 0)

    def test_every_command_that_starts_workers_has_it(self):
        for command in ["train", "compare", "scale", "launch"]:
            self.expect_help(command, ["--config"])


class Page(ProgramTest):
    def test_the_page_of_options_is_up_to_date(self):
        if not self.has_onednn():
            self.skipTest("the page lists both engines")
        output, errors = self.run_program("train", "--options-page")
        self.assertEqual(errors, "")
        self.assertEqual(output, PAGE.read_text(), "run ./lockstep train --options-page > docs/options.md")


if __name__ == "__main__":
    unittest.main(verbosity=2)
