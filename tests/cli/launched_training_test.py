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

    def test_is_told_that_its_launcher_counts_the_workers(self):
        _, errors = self.run_program("launch", "--workers", 2, "--", BINARY, "train", *SMALL, "--workers", 2, code=2)
        self.assertIn("--workers contradicts the launcher", errors)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_of_the_example_learns(self):
        output, errors = self.run_program("launch", "--workers", 2, "--", os.environ["LOCKSTEP_EXAMPLE"])
        self.assertRegex(output, r"^step 100: loss \d.\d+\nstep 200: loss \d.\d+\nstep 300: loss 0.[01]\d*\n"
                                 r"weights: norm \d+.\d+\n$")
        self.assertEqual(errors, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
