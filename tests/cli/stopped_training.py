"""Interrupted and killed trainings, for every way to start workers."""
import os
import shutil
import signal

from program import ENDLESS, SMALL, ProgramTest


class StoppedTraining(ProgramTest):
    """Tests for a subclass that defines how workers are started and found."""
    workers = None
    transports = None  # those that can stop and resume; all tests use the first one

    def worker_of(self, program, rank):
        """The process of this rank."""
        raise NotImplementedError

    def start_training(self):
        """Workers during the training."""
        program = self.start("train", *ENDLESS, "--workers", self.workers, "--transport", self.transports[0], "--run-dir",
                             "run")
        self.wait_for(program, "iteration 5/")
        return program

    def expect_no_summary(self):
        self.assertFalse((self.folder / "run" / "summary.json").exists())

    def expect_survivors_name_the_victim(self):
        program = self.start_training()
        victim = self.worker_of(program, 2)
        os.kill(victim, signal.SIGKILL)
        _, errors = self.finish(program, code=1)
        self.assertIn(f"the run failed: rank 2 (pid {victim}) was ended by signal 9 (Killed)", errors)
        survivors = [line for line in errors.splitlines() if line.startswith("lockstep: [")]
        self.assertEqual(len(survivors), self.workers - 1, errors)
        for line in survivors:
            self.assertIn("rank 2", line)
        self.expect_no_summary()

    def expect_interrupts_end_all(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1]:
            program = self.start_training()
            program.send_signal(number)
            _, errors = self.finish(program, code=1)
            self.assertIn("interrupted", errors)
            self.expect_no_summary()
            shutil.rmtree(self.folder / "run")

    def expect_to_go_on_after_an_interrupt(self, *options):
        """The run's folder has the name of its transport."""
        for transport in self.transports:
            job = ["train", *SMALL, *options, "--iterations", 1500, "--log-every", 1, "--workers", 2, "--transport",
                   transport, "--run-dir", transport]
            program = self.start(*job)
            self.wait_for(program, "iteration 5/")
            program.send_signal(signal.SIGINT)
            _, errors = self.finish(program, code=1)
            self.assertRegex(errors, r"stopped after iteration \d+ of 1500: .*give the same command again with --resume")
            (checkpoint,) = (self.folder / transport / "checkpoints").iterdir()
            self.assertRegex(checkpoint.name, r"iteration-\d{8}.safetensors")
            output, errors = self.run_program(*job, "--resume")
            self.assertIn("iteration 1500/1500", output)
            self.assertNotIn("iteration 5/", output)
            self.assertEqual(errors, "")
