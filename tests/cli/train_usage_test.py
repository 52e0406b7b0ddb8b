"""Help and usage errors of the commands that train."""
import unittest

from program import ProgramTest

JOB = ["--model", "--data", "--data-dir", "--limit", "--workers", "--threads", "--transport", "--algorithm", "--dtype",
       "--batch", "--epochs", "--iterations", "--lr", "--momentum", "--weight-decay", "--nesterov", "--seed", "--first-bucket-mb",
       "--bucket-mb", "--engine", "--conv", "--no-shuffle", "--sync-bn", "--init", "--run-dir", "--log-every", "--json"]
OPTIONS = {
    "train": [*JOB, "--sync", "--save"],
    "compare": [*JOB, "--methods"],
}


class Help(ProgramTest):
    def test_names_every_command(self):
        output, errors = self.run_program("--help")
        for command in OPTIONS:
            self.assertRegex(output, rf"(?m)^  {command} +\w")
        self.assertEqual(errors, "")

    def test_of_a_command_names_its_options(self):
        for command, options in OPTIONS.items():
            self.expect_help(command, options)
            self.assertIn("resnet34", self.run_program(command, "--help")[0])


class BadUsage(ProgramTest):
    def test_an_unknown_option_is_named(self):
        for command in ["train", "compare"]:
            self.expect_refused(f"{command} --nonsense", "--nonsense")

    def test_a_value_of_the_wrong_kind_is_named(self):
        self.expect_refused("train --workers two", "--workers")
        self.expect_refused("train --lr fast", "--lr")

    def test_an_unknown_name_is_an_error_with_the_known_names(self):
        self.expect_refused("train --model lenet6", "lenet5, vgg11, vgg13, vgg16, vgg19, resnet18 and resnet34")
        self.expect_refused("train --data mnits", "mnist")
        self.expect_refused("train --sync snail", "gather-scatter, p2p, coordinator, all-reduce")
        self.expect_refused("train --transport pigeon", "shm")
        self.expect_refused("train --compress zip", "float16, bfloat16, topk:FRACTION")
        self.expect_refused("train --dtype float16", "float32 and float64")
        self.expect_refused("compare --methods ddp,snail", "gather-scatter, p2p, coordinator, all-reduce")

    def test_invalid_sync_options_are_refused_with_their_range(self):
        for options, words in {"--sync local-sgd --local-steps 0": "--local-steps is 0: it must be 1 or more",
                               "--sync server --staleness 0": "--staleness is 0: it must be 1 or more",
                               "--sync server --staleness -1": "--staleness is -1: it must be 1 or more",
                               "--sync server --servers 3 --workers 2": "--servers is 3: it must be from 1 to 2",
                               "--compress topk:0": "above 0 and at most 1",
                               "--compress topk:1.1": "above 0 and at most 1",
                               "--compress powersgd:0": "from 1 to 128",
                               "--compress sign --sync ring": "--compress applies to the buckets of ddp",
                               "--sync local-sgd --shards 2": "which --shards rules out",
                               "--compress float16 --shards 2": "which --shards rules out",
                               "--sync server --staleness 1 --shards 2": "which --shards rules out",
                               "--sync sharded --algorithm star": "--sync sharded does not support --algorithm star"}.items():
            self.expect_refused(f"train {options}", words)

    def test_a_model_that_does_not_fit_the_data_is_an_error_with_the_models_that_do(self):
        self.expect_refused("train --model vgg11 --data mnist", "use data like cifar10, or a model for such images: lenet5")

    def test_errors_of_all_workers_are_reported_once(self):
        for data, part in {"synthetic:classes=11": "has 10 classes, but the data have 11",
                           "synthetic:1x8x8": "but the data have 1×8×8"}.items():
            for transport in ["shm", "thread"]:
                _, errors = self.run_program("train", "--model", "vgg11", "--data", data, "--workers", 2,
                                             "--transport", transport, code=2)
                self.assertEqual(errors.count("\n"), 1, errors)
                self.assertIn(part, errors)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_resume_needs_an_existing_run(self):
        self.expect_refused("train --resume", "--resume needs --run-dir")
        _, errors = self.run_program("train", "--resume", "--run-dir", "nowhere", code=1)
        self.assertIn("nowhere/checkpoints: there is no checkpoint to resume from", errors)

    def test_invalid_numbers_are_named(self):
        self.expect_refused("train --workers 0", "--workers is 0")
        self.expect_refused("train --batch 3 --workers 4", "--batch is 3, less than the 4 workers")
        self.expect_refused("train --epochs 0", "nothing to train")
        self.expect_refused("train --lr nan", "--lr is nan")
        self.expect_refused("train --momentum -1", "--momentum is -1")
        self.expect_refused("train --momentum 1", "--momentum is 1")

    def test_contradictions_are_named(self):
        self.expect_refused("train --sync ring --algorithm star", "contradicts")
        self.expect_refused("train --sync p2p --algorithm ring", "--sync p2p has no --algorithm")
        for command in ["train", "compare", "scale"]:
            self.expect_refused(f"{command} --nesterov", "--nesterov needs a --momentum above 0")

    def test_sync_bn_is_refused_where_it_cannot_work(self):
        self.expect_refused("train --sync-bn", "model lenet5 has no batch norm: leave out --sync-bn")
        self.expect_refused("train --sync-bn --model vgg11 --data cifar10 --workers 2 --shards 4",
                            "use as many workers as shards, or leave out --sync-bn")


if __name__ == "__main__":
    unittest.main(verbosity=2)
