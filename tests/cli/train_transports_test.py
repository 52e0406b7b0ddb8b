"""lockstep train and compare over every transport: the same weights, the same words, the same ends."""
import json
import os
import shutil
import signal
import time
import unittest

from program import ENDLESS, SMALL, ProgramTest, rank_of_mpirun

# Adds along the same tree on every transport, so that not a bit may differ.
JOB = [*SMALL, "--iterations", 3, "--workers", 2, "--sync", "all-reduce", "--algorithm", "tree"]
needs_mpirun = unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")


class Transports(ProgramTest):
    def train(self, transport):
        output, errors = self.run_program("train", *JOB, "--transport", transport, "--run-dir", transport,
                                          "--log-every", 1)
        self.assertEqual(errors, "")
        summary = json.loads((self.folder / transport / "summary.json").read_text())
        return output, summary

    def expect_like_shm(self, transports):
        _, shm = self.train("shm")
        for transport in transports:
            output, summary = self.train(transport)
            self.assertIn("iteration 3/3", output)
            self.assertEqual(output.count("3 iterations in"), 1)
            self.assertEqual(summary["weights_sha256"], shm["weights_sha256"], transport)
            self.assertEqual(summary["workers"], 2)
            self.assertEqual(summary["threads"], shm["threads"], transport)
            self.assertEqual(summary["transport"], "shm" if transport == "auto" else transport)

    def test_over_tcp_end_with_the_same_weights(self):
        self.expect_like_shm(["gloo", "shm+gloo", "auto"])

    @needs_mpirun
    def test_over_mpi_end_with_the_same_weights(self):
        self.expect_like_shm(["mpi", "shm+mpi"])

    @needs_mpirun
    def test_over_mpi_json_is_all_that_is_printed_when_asked_for(self):
        output, errors = self.run_program("train", *JOB, "--transport", "mpi", "--run-dir", "run", "--json", "-")
        self.assertEqual(json.loads(output)["transport"], "mpi")
        self.assertEqual(errors, "")

    @needs_mpirun
    def test_compare_over_mpi(self):
        output, errors = self.run_program("compare", "--epochs", 1, "--workers", 2, "--methods", "p2p,ddp",
                                          "--transport", "mpi", "--run-dir", "run")
        self.assertIn("All methods end with the same weights as one worker alone", output)
        self.assertEqual(errors, "")

    def test_an_algorithm_that_the_transport_lacks_is_bad_usage(self):
        _, errors = self.run_program("train", *SMALL, "--workers", 2, "--transport", "gloo", "--algorithm", "direct",
                                     "--run-dir", "run", code=2)
        self.assertIn("algorithm 'direct' needs ranks that share memory", errors)


@needs_mpirun
class StoppedUnderMpirun(ProgramTest):
    def start_training(self):
        program = self.start("train", *ENDLESS, "--workers", 3, "--transport", "mpi", "--run-dir", "run")
        self.wait_for(program, "iteration 5/")
        return program

    def test_every_survivor_names_the_worker_that_was_killed(self):
        program = self.start_training()
        victim = rank_of_mpirun(program.pid, 2)
        os.kill(victim, signal.SIGKILL)
        _, errors = self.finish(program, code=1)
        self.assertIn(f"the run failed: rank 2 (pid {victim}) was ended by signal 9 (Killed)", errors)
        survivors = [line for line in errors.splitlines() if line.startswith("lockstep: ")]
        self.assertEqual(len(survivors), 2, errors)
        for line in survivors:
            self.assertIn("rank 2", line)
        self.assertFalse((self.folder / "run" / "summary.json").exists())

    def test_an_interrupt_ends_the_program_and_its_workers(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            program = self.start_training()
            program.send_signal(number)
            _, errors = self.finish(program, code=1)
            self.assertIn("interrupted", errors)
            self.assertFalse((self.folder / "run" / "summary.json").exists())
            shutil.rmtree(self.folder / "run")

    def test_after_an_interrupt_the_run_can_go_on(self):
        job = ["train", *SMALL, "--momentum", 0.9, "--iterations", 1500, "--log-every", 1, "--workers", 2]
        for transport in ["mpi", "shm+mpi"]:
            mine = [*job, "--transport", transport, "--run-dir", transport]
            program = self.start(*mine)
            self.wait_for(program, "iteration 5/")
            program.send_signal(signal.SIGINT)
            _, errors = self.finish(program, code=1)
            self.assertRegex(errors, r"stopped after iteration \d+ of 1500: .*Give the same command again with --resume")
            output, errors = self.run_program(*mine, "--resume")
            self.assertIn("iteration 1500/1500", output)
            self.assertNotIn("iteration 5/", output)
            self.assertEqual(errors, "")

    def test_a_second_interrupt_does_not_wait(self):
        program = self.start_training()
        rank = rank_of_mpirun(program.pid, 1)
        os.kill(rank, signal.SIGSTOP)  # no step ends any more
        program.send_signal(signal.SIGINT)
        time.sleep(1)  # for the first to be taken as one
        program.send_signal(signal.SIGINT)
        _, errors = self.finish(program, code=1)
        self.assertIn("interrupted", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
