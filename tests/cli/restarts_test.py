"""--restarts: a run whose worker died resumes, and ends with the weights of an undisturbed run."""
import json
import os
import signal
import time
import unittest

from program import BINARY, ENDLESS, SMALL, ProgramTest, children_of

JOB = [*SMALL, "--iterations", 600, "--momentum", 0.9, "--log-every", 1]
OFTEN = ["--checkpoint-every", 50]


class Restarts(ProgramTest):
    def weights(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())["weights_sha256"]

    def undisturbed(self, *options):
        self.run_program("train", *JOB, *options, "--run-dir", "undisturbed", "--trace", 0)
        return self.weights("undisturbed")

    def kill_one(self, program, rank, *, after):
        self.wait_for(program, f"iteration {after}/")
        victim = children_of(program.pid)[rank]
        os.kill(victim, signal.SIGKILL)
        return victim

    def test_a_killed_worker_changes_no_bit(self):
        expected = self.undisturbed("--workers", 2)
        for transport, rank in [("shm", 1), ("gloo", 0)]:
            program = self.start("train", *JOB, *OFTEN, "--workers", 2, "--transport", transport, "--restarts", 2,
                                 "--run-dir", transport)
            victim = self.kill_one(program, rank, after=120)
            _, errors = self.finish(program, code=0)
            self.assertRegex(errors, rf"lockstep: rank {rank} \(pid {victim}\) was ended by signal 9 \(Killed\): starting "
                                     rf"again from {transport}/checkpoints/iteration-\d{{8}}.safetensors \(1 of 2\)\n")
            self.assertEqual(self.weights(transport), expected, transport)

    def test_without_a_checkpoint_the_run_starts_anew(self):
        expected = self.undisturbed("--workers", 2)
        program = self.start("train", *JOB, "--workers", 2, "--restarts", 1, "--run-dir", "run")
        self.kill_one(program, 1, after=20)
        _, errors = self.finish(program, code=0)
        self.assertIn("starting again from the beginning, since there is no checkpoint", errors)
        self.assertEqual(self.weights("run"), expected)

    def test_a_run_that_died_after_its_last_step_writes_its_results(self):
        job = [*SMALL, "--iterations", 20, "--momentum", 0.9, "--workers", 2, "--checkpoint-every", 5, "--run-dir", "run"]
        self.run_program("train", *job)
        expected = self.weights("run")
        (self.folder / "run" / "summary.json").unlink()  # as if it had been killed before
        output, errors = self.run_program("train", *job, "--resume")
        self.assertIn("iteration-00000015.safetensors instead of a newer checkpoint: run/checkpoints/iteration-00000020.safetensors "
                      "has all 20 iterations, but not the results of the run", output + errors)
        self.assertEqual(self.weights("run"), expected)
        _, errors = self.run_program("train", *job, "--resume", code=2)
        self.assertIn("there is nothing to resume", errors)

    def test_restarts_are_limited(self):
        program = self.start("train", *ENDLESS, *OFTEN, "--workers", 2, "--restarts", 1, "--run-dir", "run")
        self.wait_for(program, "iteration 60/")
        first = children_of(program.pid)
        os.kill(first[1], signal.SIGKILL)
        while len(others := [child for child in children_of(program.pid) if child not in first]) < 2:
            time.sleep(0.01)
        victim = others[0]
        os.kill(victim, signal.SIGKILL)
        _, errors = self.finish(program, code=1)
        self.assertIn("(1 of 1)", errors)
        self.assertIn(f"the run failed: rank 0 (pid {victim}) was ended by signal 9", errors)

    def test_a_launched_training_resumes(self):
        expected = self.undisturbed("--workers", 2)
        program = self.start("launch", "--workers", 2, "--restarts", 1, "--", BINARY, "train", *JOB, *OFTEN, "--run-dir",
                             "run")
        victim = self.kill_one(program, 1, after=120)
        _, errors = self.finish(program, code=0)
        self.assertRegex(errors, rf"lockstep launch: rank 1 \(pid {victim} on \S+\) was ended by signal 9")
        self.assertIn("lockstep launch: starting all workers again (1 of 1)\n", errors)
        self.assertEqual(self.weights("run"), expected)

    def test_an_interrupt_causes_no_restart(self):
        program = self.start("train", *ENDLESS, "--workers", 2, "--restarts", 5, "--run-dir", "run")
        self.wait_for(program, "iteration 5/")
        program.send_signal(signal.SIGINT)
        _, errors = self.finish(program, code=1)
        self.assertNotIn("starting again", errors)

    def test_an_interrupt_of_one_worker_causes_no_restart(self):
        job = ["train", *ENDLESS, "--run-dir"]
        for name, command, code in [("forked", [*job, "forked", "--workers", 2, "--restarts", 5], 1),
                                    ("launched", ["launch", "--workers", 2, "--restarts", 5, "--", BINARY, *job, "launched"],
                                     128 + signal.SIGTERM)]:
            program = self.start(*command)
            self.wait_for(program, "iteration 5/")
            os.kill(children_of(program.pid)[1], signal.SIGTERM)
            _, errors = self.finish(program, code)
            self.assertIn("stopped after iteration", errors)
            self.assertNotIn("again (", errors)
            self.assertTrue(list((self.folder / name / "checkpoints").iterdir()))

    def launch(self, script, code, restarts=2):
        _, errors = self.run_program("launch", "--workers", 2, "--restarts", restarts, "--grace", 0.1, "--log-dir", "logs",
                                     "--", "sh", "-c", script, code=code)
        return errors, (self.folder / "logs" / "rank-1.log").read_text()

    def test_programs_get_the_number_of_restarts(self):
        script = "echo start ${LOCKSTEP_RESTART:-0}; [ $LOCKSTEP_RANK = 0 ] || exit "
        errors, log = self.launch(script + "7", code=7)
        self.assertEqual(log, "start 0\nstart 1\nstart 2\n")
        self.assertEqual(errors.count("starting all workers again"), 2)
        self.assertEqual(errors.count("exited with code 7"), 3)
        errors, log = self.launch(script + "$((5 - 5 * ${LOCKSTEP_RESTART:-0}))", code=0)
        self.assertEqual(log, "start 0\nstart 1\n")

    def test_bad_usage_causes_no_restart(self):
        errors, log = self.launch("echo started; [ $LOCKSTEP_RANK = 0 ] || exit 2; exec sleep 1000", code=2)
        self.assertEqual(log, "started\n")
        self.assertNotIn("again", errors)

    def test_invalid_combinations_are_refused(self):
        for arguments, words in [("train --restarts 1 --transport thread", "--restarts needs each worker in its own process"),
                                 ("train --restarts -1", "--restarts")]:
            self.expect_refused(arguments, words)
        _, errors = self.run_program("launch", "--workers", 2, "--", BINARY, "train", "--restarts", 1, code=2)
        self.assertIn("give it to lockstep launch instead", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
