"""The post-mortem of a failed run, on standard error and in its folder: which rank died, where, and which ranks waited."""
import json
import os
import pathlib
import shutil
import signal
import unittest

from program import BINARY, ENDLESS, SMALL, ProgramTest, children_of, rank_of_mpirun


class PostMortem(ProgramTest):
    def kill_one(self, program, rank, after="iteration 40/"):
        self.wait_for(program, after)
        victim = children_of(program.pid)[rank]
        os.kill(victim, signal.SIGKILL)
        return victim

    def post_mortem(self, folder="run"):
        return json.loads((self.folder / folder / "postmortem.json").read_text())

    def check(self, errors, prefix, rank, victim):
        """Standard error and the file agree, and both name the victim."""
        said = [line[len(prefix):] for line in errors.splitlines() if line.startswith(prefix)]
        found = self.post_mortem()
        for line in found["verdict"]:
            self.assertIn(line, said)
        self.assertEqual((found["format"], found["cause"], found["culprits"]), (1, "died", [rank]))
        self.assertRegex(found["verdict"][0],
                         rf"^rank {rank} \(pid {victim}( on \S+)?\) was ended by signal 9 \(Killed\) in step \d+, ")
        self.assertRegex(found["verdict"][1], rf"^ranks? .*waited for rank {rank} in .*, for .* m?s$")
        for its in found["ranks"]:
            self.assertGreaterEqual(its["step"], 40)
            self.assertGreater(len(its["operations"]), 50)
            self.assertLessEqual(len(its["operations"]), 1024)
            if its["rank"] != rank:
                self.assertEqual(its["waited_for"], [rank])
        return found

    def test_names_the_killed_rank(self):
        for transport, rank in [("shm", 2), ("gloo", 0)]:
            program = self.start("train", *ENDLESS, "--workers", 3, "--transport", transport, "--run-dir", "run",
                                 "--first-bucket-mb", 0.01)
            victim = self.kill_one(program, rank)
            _, errors = self.finish(program, code=1)
            found = self.check(errors, "lockstep: ", rank, victim)
            self.check_operations(found["ranks"][1]["operations"])
            self.assertIn("run/postmortem.json has the last operations of every rank", errors)
            page = (self.folder / "run" / "report.html").read_text()
            self.assertIn('"post_mortem":{"table":', page)

    def check_operations(self, operations):
        """In a step in the middle, the buckets are reduced one after another."""
        by_step = {}
        for operation in operations:
            by_step.setdefault(operation.get("step", 0), []).append(operation.get("bucket"))
        middle = by_step[sorted(by_step)[len(by_step) // 2]]
        buckets = [bucket for bucket in middle if bucket is not None]
        self.assertEqual(buckets[:2], [0, 1], "a probe of the latency may follow")
        begins = [operation["begin"] for operation in operations]
        self.assertEqual(begins, sorted(begins))

    def test_of_a_launched_training_is_in_its_run_folder(self):
        program = self.start("launch", "--workers", 2, "--log-dir", "logs", "--", BINARY, "train", *ENDLESS, "--run-dir",
                             "run")
        victim = self.kill_one(program, 0)
        _, errors = self.finish(program, code=137)
        self.check(errors, "lockstep launch: ", 0, victim)
        self.assertFalse((self.folder / "logs" / "postmortem.json").exists())
        self.assertIn('"post_mortem":{"table":', (self.folder / "run" / "report.html").read_text())

    def test_under_mpirun(self):
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        program = self.start("train", *ENDLESS, "--workers", 2, "--transport", "mpi", "--run-dir", "run")
        self.wait_for(program, "iteration 60/")
        victim = rank_of_mpirun(program.pid, 1)
        os.kill(victim, signal.SIGKILL)
        _, errors = self.finish(program, code=1)
        self.check(errors, "lockstep: ", 1, victim)

    def test_is_kept_with_a_number_after_a_restart_and_removed_by_a_new_run(self):
        job = [*ENDLESS, "--workers", 2, "--run-dir", "run"]
        program = self.start("train", *job, "--checkpoint-every", 10, "--restarts", 1)
        self.kill_one(program, 1)
        self.wait_for(program, "iteration 120/")
        first = self.folder / "run" / "postmortem-1.json"
        self.assertEqual(json.loads(first.read_text())["cause"], "died")
        os.kill(program.pid, signal.SIGTERM)
        self.finish(program, code=1)
        self.assertFalse((self.folder / "run" / "postmortem.json").exists(), "a requested stop has no post-mortem")
        for checkpoint in (self.folder / "run" / "checkpoints").iterdir():
            checkpoint.unlink()
        self.run_program("train", *SMALL, "--iterations", 2, "--workers", 2, "--run-dir", "run")
        self.assertFalse(first.exists())

    def test_errors_without_waiting_ranks_have_none(self):
        pathlib.Path(self.folder, "own.py").write_text("raise SystemExit(3)")
        _, errors = self.run_program("launch", "--workers", 2, "--log-dir", "logs", "--", "python3", "own.py", code=3)
        self.assertNotIn("waited", errors)
        self.assertFalse((self.folder / "logs" / "postmortem.json").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
