"""lockstep launch: any program on several workers, and the truth about how they ended."""
import json
import os
import unittest

from program import BINARY, SMALL, ProgramTest


class Launch(ProgramTest):
    def sh(self, script, workers=3, code=0):
        return self.run_program("launch", "--workers", workers, "--", "sh", "-c", script, code=code)

    def test_every_worker_knows_its_place(self):
        output, errors = self.sh("echo $LOCKSTEP_RANK of $LOCKSTEP_WORLD_SIZE")
        self.assertEqual(sorted(output.splitlines()), ["0 of 3", "1 of 3", "2 of 3"])
        self.assertEqual(errors, "")

    def test_passes_arguments_on_as_they_are(self):
        output, _ = self.run_program("launch", "--workers", 1, "--", "echo", "--workers", 7, "--", "-x")
        self.assertEqual(output, "--workers 7 -- -x\n")

    def test_returns_the_failing_workers_code_and_names_it(self):
        _, errors = self.sh("if [ $LOCKSTEP_RANK = 2 ]; then exit 42; fi", code=42)
        self.assertRegex(errors, r"^lockstep launch: rank 2 \(pid \d+\) exited with code 42\n$")

    def test_names_the_signal_that_ended_a_worker(self):
        _, errors = self.sh("if [ $LOCKSTEP_RANK = 1 ]; then kill -9 $$; fi; sleep 1", code=128 + 9)
        self.assertRegex(errors, r"^lockstep launch: rank 1 \(pid \d+\) was ended by signal 9 \(Killed\)\n$")

    def test_ends_the_others_after_the_grace(self):
        _, errors = self.run_program("launch", "--workers", 2, "--grace", 0.1, "--", "sh", "-c",
                                     "if [ $LOCKSTEP_RANK = 0 ]; then exit 3; fi; exec sleep 1000", code=3)
        self.assertIn("rank 0", errors)


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
        self.assertRegex(output, r"^step 100: loss \d.\d+\nstep 200: loss \d.\d+\nstep 300: loss 0.[01]\d*\n$")
        self.assertEqual(errors, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
