"""lockstep train and compare over every transport: the same weights, messages and exit codes."""
import json
import os
import pathlib
import shutil
import signal
import time
import unittest

from program import HANGS, SMALL, ProgramTest, processes, rank_of_mpirun
from stopped_training import StoppedTraining

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
    def test_over_mpi_json_is_the_only_output(self):
        output, errors = self.run_program("train", *JOB, "--transport", "mpi", "--run-dir", "run", "--json", "-")
        self.assertEqual(json.loads(output)["transport"], "mpi")
        self.assertEqual(errors, "")

    @needs_mpirun
    def test_compare_over_mpi(self):
        output, errors = self.run_program("compare", "--repeat", 1, "--epochs", 1, "--workers", 2, "--methods", "p2p,ddp",
                                          "--transport", "mpi", "--run-dir", "run")
        self.assertIn("All methods end with the same weights as one worker", output)
        self.assertEqual(errors, "")

    def test_an_algorithm_that_the_transport_lacks_is_bad_usage(self):
        _, errors = self.run_program("train", *SMALL, "--workers", 2, "--transport", "gloo", "--algorithm", "direct",
                                     "--run-dir", "run", code=2)
        self.assertIn("algorithm 'direct' needs ranks that share memory", errors)


@needs_mpirun
class StoppedUnderMpirun(StoppedTraining):
    workers = 3
    transports = ["mpi", "shm+mpi"]

    def worker_of(self, program, rank):
        return rank_of_mpirun(program.pid, rank)

    def test_every_survivor_names_the_worker_that_was_killed(self):
        self.expect_survivors_name_the_victim()

    def test_an_interrupt_ends_the_program_and_its_workers(self):
        self.expect_interrupts_end_all()

    def test_an_interrupted_run_can_be_resumed(self):
        self.expect_to_go_on_after_an_interrupt("--momentum", 0.9)

    def test_a_second_interrupt_does_not_wait(self):
        program = self.start_training()
        os.kill(self.worker_of(program, 1), signal.SIGSTOP)  # no step ends any more
        program.send_signal(signal.SIGINT)
        time.sleep(1.5)  # within a second of the first it would be one with it
        program.send_signal(signal.SIGINT)
        _, errors = self.finish(program, code=1)
        self.assertIn("interrupted", errors)

    def test_a_parent_that_is_killed_leaves_nothing_in_shared_memory(self):
        program = self.start_training()
        files = {word for rank in range(self.workers)
                 for word in pathlib.Path(f"/proc/{self.worker_of(program, rank)}/maps").read_text().split()
                 if word.startswith("/dev/shm/vader_segment")}
        self.assertEqual(len(files), self.workers)
        program.kill()
        for _ in range(10 * HANGS):
            if all(session != program.pid for _, _, session, _ in processes()):
                break
            time.sleep(0.1)
        self.assertEqual([name for name in sorted(files) if os.path.exists(name)], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
