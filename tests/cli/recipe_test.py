"""The options of a recipe: printed at the start, recorded, forwarded to workers, and refused if invalid."""
import json
import shutil
import unittest

from program import SMALL, ProgramTest

RECIPE = ["--optimizer", "lars", "--lr", 1, "--lr-scale", "sqrt", "--lr-batch", 4, "--warmup", 1, "--schedule", "cosine:0.1",
          "--clip", 5, "--clip-value", 2, "--label-smoothing", 0.1, "--no-decay-bn-bias", "--accumulate", 2, "--trust", 0.002]
RECORDED = {"optimizer": "lars", "lr": 1.0, "lr_full": 2.0, "lr_scale": "sqrt", "lr_batch": 4, "warmup": 1.0,
            "schedule": "cosine:0.1", "clip": 5.0, "clip_value": 2.0, "label_smoothing": 0.1, "no_decay_bn_bias": True,
            "accumulate": 2, "trust": 0.002, "zero_gamma": False}


class Recipe(ProgramTest):
    def train(self, *options):
        """Trains; returns the output and config.json."""
        output, _ = self.run_program("train", *SMALL, *options, "--run-dir", "run")
        config = json.loads((self.folder / "run" / "config.json").read_text())
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        shutil.rmtree(self.folder / "run")
        return output, config, summary

    def test_the_batch_and_the_rate_are_printed(self):
        output, _, _ = self.train()
        self.assertIn("global batch 16, sgd with learning rate 0.01\n", output)
        output, config, _ = self.train("--epochs", 2, *RECIPE)
        self.assertIn("global batch 16 in 2 parts a worker, lars with learning rate 2 (1 for a batch of 4, by the square "
                      "root), cosine:0.1, warm-up of 1 epoch\n", output)
        self.assertEqual({key: config[key] for key in RECORDED}, RECORDED)

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
    def test_workers_under_mpirun_get_the_options(self):
        job = ["--epochs", 2, "--workers", 2, "--shards", 2, *RECIPE]
        _, _, forked = self.train(*job)
        _, config, started = self.train(*job, "--transport", "mpi")
        self.assertEqual({key: config[key] for key in RECORDED}, RECORDED)
        self.assertEqual(started["weights_sha256"], forked["weights_sha256"])

    def test_every_command_that_trains_has_the_options(self):
        for command in ["train", "compare", "scale"]:
            self.expect_help(command, ["--optimizer", "--schedule", "--warmup", "--lr-scale", "--lr-batch", "--clip",
                                       "--clip-value", "--label-smoothing", "--zero-gamma", "--no-decay-bn-bias",
                                       "--accumulate", "--beta1", "--beta2", "--epsilon", "--trust"])

    def test_invalid_options_are_refused(self):
        for options, words in {"--clip -1": "--clip is -1: it must be a number from 0 up",
                               "--warmup 2": "from 0 to below 1 epochs",
                               "--schedule stairs": "unknown schedule",
                               "--schedule step:0": "it must be more than 0",
                               "--label-smoothing 1": "from 0 to below 1",
                               "--accumulate 0": "from 1 to 65536",
                               "--optimizer adagrad": "sgd, adam, adamw, lars and lamb",
                               "--optimizer adam --momentum 0.9": "--momentum applies to --optimizer sgd and lars",
                               "--beta1 0.9": "--beta1 applies to --optimizer adam, adamw and lamb: leave it out with sgd",
                               "--epsilon 1 --optimizer lars": "--epsilon applies to --optimizer adam, adamw and lamb",
                               "--trust 0.1 --optimizer lamb": "--trust applies to --optimizer lars: leave it out with lamb",
                               "--zero-gamma": "no residual blocks"}.items():
            self.expect_refused(f"train {options}", words)

    def test_a_warm_up_longer_than_the_data_allow_is_refused(self):
        for command in ["train", "compare --methods ddp"]:
            _, errors = self.run_program(*command.split(), *SMALL, "--iterations", 2, "--warmup", 5, "--workers", 2, code=2)
            self.assertIn("--warmup is 5 epochs, which are 10 steps: it must be shorter than the training of 2", errors)
            self.assertEqual(errors.count("\n"), 1, "it is refused once, not by every worker")


if __name__ == "__main__":
    unittest.main(verbosity=2)
