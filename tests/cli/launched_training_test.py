"""lockstep launch with programs that train."""
import json
import os
import unittest

from program import BINARY, SMALL, ProgramTest


class LaunchedTraining(ProgramTest):
    def test_is_one_run(self):
        output, errors = self.run_program("launch", "--workers", 2, "--", BINARY, "train", *SMALL, "--run-dir", "run")
        self.assertEqual(errors, "")
        self.assertEqual(output.count("the run is recorded in run"), 1)
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["run"])
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertEqual((summary["workers"], summary["transport"], summary["iterations"]), (2, "shm", 2))

    def test_refuses_a_number_of_workers(self):
        _, errors = self.run_program("launch", "--workers", 2, "--", BINARY, "train", *SMALL, "--workers", 2, code=2)
        self.assertIn("--workers contradicts the launcher", errors)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_refuses_hosts_whose_layouts_differ(self):
        if not self.has_onednn():
            self.skipTest("this build has one engine")
        # Rank 1 pretends to be an older processor; a padded layout may have as many values as another.
        script = f'[ "$RANK" = 0 ] || export ONEDNN_MAX_CPU_ISA=SSE41; exec {BINARY} train "$@"'
        job = [*SMALL, "--model", "vgg11", "--data", "cifar10", "--conv", "direct", "--run-dir", "run"]
        _, errors = self.run_program("launch", "--workers", 2, "--", "sh", "-c", script, "sh", *job, code=1)
        self.assertIn("the ranks keep their weights in different layouts", errors)
        self.assertIn("Use the torch engine, or processors of one kind", errors)

    def test_reports_different_numeric_environments_with_shards(self):
        script = f'[ "$RANK" = 0 ] || export LOCKSTEP_VECTOR_UNIT=plain; exec {BINARY} train "$@"'
        for options, said in [(["--shards", 2], 1), ([], 0)]:
            output, errors = self.run_program("launch", "--workers", 2, "--", "sh", "-c", script, "sh", *SMALL, *options,
                                              "--run-dir", f"run{said}")
            self.assertEqual((output + errors).count("the ranks have different numeric environments"), said, output + errors)

    def test_of_the_example_learns(self):
        output, errors = self.run_program("launch", "--workers", 2, "--", os.environ["LOCKSTEP_EXAMPLE"])
        self.assertRegex(output, r"^step 100: loss \d.\d+\nstep 200: loss \d.\d+\nstep 300: loss 0.[01]\d*\n"
                                 r"weights: norm \d+.\d+\n$")
        self.assertEqual(errors, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
