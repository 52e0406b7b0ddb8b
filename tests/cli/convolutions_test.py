"""--conv auto: the file with measured choices of convolutions, also if it is damaged or cannot be written."""
import json
import os
import pathlib
import unittest

from program import ProgramTest

JOB = ["train", "--engine", "onednn", "--model", "vgg11", "--data", "cifar10", "--limit", 8, "--trace", 0]


def can_choose():
    """Without Winograd's method, which needs AVX-512, all convolutions are direct and nothing is measured."""
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return "avx512bw" in flags and "ONEDNN_MAX_CPU_ISA" not in os.environ


@unittest.skipUnless(can_choose(), "there is nothing to choose on this processor")
class Convolutions(ProgramTest):
    def setUp(self):
        super().setUp()
        if not self.has_onednn():
            self.skipTest("this build has one engine")
        self.file = self.folder / "cache" / "lockstep" / "convolutions.json"

    def train(self, run, *options, batch=4, iterations=1, threads=1, **variables):
        """Trains; returns standard error and the recorded convolutions."""
        program = self.start(*JOB, "--batch", batch, "--iterations", iterations, "--threads", threads, "--run-dir", run, *options,
                             variables={"XDG_CACHE_HOME": str(self.folder / "cache"), **variables})
        _, errors = self.finish(program, 0)
        return errors, json.loads((self.folder / run / "config.json").read_text())["conv_methods"]

    def summary(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())

    def choices(self):
        kept = json.loads(self.file.read_text())
        self.assertEqual(kept["format"], 1)
        return kept

    def keep_everywhere(self, method):
        """Changes the file as if this method had been the fastest everywhere."""
        kept = self.choices()
        for machine in kept["choices"].values():
            for passes in machine.values():
                passes.update({name: method for name in passes})
        self.file.write_text(json.dumps(kept))

    def test_measures_once_and_keeps_the_choice(self):
        _, methods = self.train("first")
        self.assertEqual(len(methods), 8)
        self.assertEqual(set(methods["features.0"].values()), {"direct"}, "images have too few channels")
        (machine,) = self.choices()["choices"].values()
        self.assertEqual(len(machine), 6, "two layers have one shape, and the first has no choice")
        # What is kept is taken, however unlikely: nothing was measured again.
        for method in ["winograd", "direct"]:
            self.keep_everywhere(method)
            before = self.file.read_text()
            errors, methods = self.train(method)
            self.assertEqual(errors, "")
            self.assertEqual(set(methods["features.25"].values()), {method})
            self.assertEqual(self.file.read_text(), before)
        self.assertNotEqual(self.summary("winograd")["weights_sha256"], self.summary("direct")["weights_sha256"])

    def test_threads_and_batches_are_measured_separately(self):
        self.train("one")
        self.train("two", threads=2)
        self.assertEqual(len(self.choices()["choices"]), 2)
        self.train("smaller", batch=2)
        self.assertEqual(sorted(map(len, self.choices()["choices"].values())), [6, 12])

    def test_a_broken_file_is_replaced(self):
        self.file.parent.mkdir(parents=True)
        for content in ["{", json.dumps({"format": 99, "choices": {}}), ""]:
            self.file.write_text(content)
            errors, methods = self.train("run")
            notices = [line for line in errors.splitlines() if str(self.file) in line and "timed again" in line]
            self.assertEqual(len(notices), 1, errors)
            self.assertEqual(len(methods), 8)
            (machine,) = self.choices()["choices"].values()
            self.assertEqual(len(machine), 6)

    def test_a_folder_that_cannot_be_written_is_ignored(self):
        (self.folder / "cache").write_text("no folder")
        errors, methods = self.train("run")
        self.assertIn("timed in every run", errors)
        self.assertEqual(len(methods), 8)

    def test_without_a_home_choices_are_not_stored(self):
        _, methods = self.train("run", XDG_CACHE_HOME="", HOME="")
        self.assertEqual(len(methods), 8)
        self.assertFalse(self.file.exists())

    def test_the_default_folder_is_below_home(self):
        self.train("run", XDG_CACHE_HOME="", HOME=str(self.folder))
        self.assertTrue((self.folder / ".cache" / "lockstep" / "convolutions.json").is_file())

    def test_all_workers_use_rank_0s_choice(self):
        for transport in ["shm", "gloo"]:
            _, methods = self.train(transport, "--workers", 2, "--transport", transport)
            self.assertEqual(len(methods), 8)
            weights = {rank["weights_sha256"] for rank in self.summary(transport)["ranks"]}
            self.assertEqual(len(weights), 1)
        self.assertEqual(self.summary("shm")["weights_sha256"], self.summary("gloo")["weights_sha256"])

    def test_a_resumed_run_keeps_its_choice(self):
        self.train("measured")
        self.keep_everywhere("winograd")
        _, began = self.train("run", "--checkpoint-every", 2, iterations=2)
        self.keep_everywhere("direct")
        _, resumed = self.train("run", "--resume", iterations=4)
        self.assertEqual(resumed, began)
        self.keep_everywhere("winograd")
        self.train("never stopped", iterations=4)
        self.assertEqual(self.summary("run")["weights_sha256"], self.summary("never stopped")["weights_sha256"])

    def test_fixed_measures_nothing(self):
        for conv in ["fixed", "direct"]:
            errors, methods = self.train(conv, "--conv", conv)
            self.assertEqual((errors, methods), ("", None))
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
