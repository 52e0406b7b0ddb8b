"""lockstep train: its output, its files, and interrupted runs."""
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import time
import unittest

from program import ENDLESS, HANGS, SMALL, ProgramTest, children_of
from stopped_training import StoppedTraining


def small_files_only():
    """Limits files to 200 kB, like a full disk. Not for shm, whose shared memory counts as a file."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def has_signal(status, mask, number):
    """Whether a mask in /proc/PID/status has the signal."""
    (digits,) = re.findall(rf"(?m)^{mask}:\s*(\w+)$", status)
    return bool(int(digits, 16) >> (number - 1) & 1)


class Train(ProgramTest):
    def summary(self, run="run"):
        return json.loads((self.folder / run / "summary.json").read_text())

    def test_records_the_run_with_either_transport(self):
        for transport in ["shm", "thread"]:
            output, errors = self.run_program("train", *SMALL, "--workers", 2, "--transport", transport, "--run-dir",
                                              transport, "--log-every", 1)
            self.assertIn("iteration 2/2", output)
            self.assertIn("epoch 1  rank 1", output)
            self.assertIn("2 iterations in", output)
            self.assertEqual(errors, "")
            self.assertEqual(self.summary(transport)["transport"], transport)
            self.assertEqual(self.summary(transport)["workers"], 2)
        self.assertEqual(self.summary("shm")["weights_sha256"], self.summary("thread")["weights_sha256"])

    def test_draws_a_bar_below_its_lines_on_a_terminal(self):
        output = self.run_on_terminal("train", *SMALL, "--workers", 2, "--log-every", 2, "--epochs", 2, "--run-dir", "run")
        for text in ["\r\033[K", "━", "images/s", "s left", "iteration 2/4  rank 0  loss", "epoch 1  rank 1", "4 iterations in"]:
            self.assertIn(text, output)

    def test_the_default_run_folder_is_new(self):
        output, _ = self.run_program("train", *SMALL)
        (run,) = (self.folder / "runs").iterdir()
        self.assertIn(f"runs/{run.name}", output)
        self.assertEqual(sorted(file.name for file in run.iterdir()), ["config.json", "metrics.jsonl", "report.html",
                                                                   "summary.json", "trace.json"])

    def test_json_is_the_summary(self):
        output, errors = self.run_program("train", *SMALL, "--workers", 2, "--run-dir", "run", "--json", "-")
        self.assertEqual(json.loads(output), self.summary())
        self.assertEqual(errors, "")
        self.run_program("train", *SMALL, "--run-dir", "run", "--json", "result.json")
        self.assertEqual(json.loads((self.folder / "result.json").read_text()), self.summary())

    def test_continues_from_saved_weights(self):
        job = ["train", *SMALL, "--no-shuffle", "--workers", 2]
        self.run_program(*job, "--epochs", 2, "--run-dir", "whole")
        self.run_program(*job, "--epochs", 1, "--run-dir", "first", "--save", "half.safetensors")
        self.run_program(*job, "--epochs", 1, "--run-dir", "second", "--init", "half.safetensors", "--seed", 1)
        self.assertEqual(self.summary("second")["weights_sha256"], self.summary("whole")["weights_sha256"])

    def test_iterations_alone_set_the_length(self):
        self.run_program("train", *SMALL, "--iterations", 5, "--run-dir", "run")
        self.assertEqual((self.summary()["iterations"], self.summary()["epochs"]), (5, 3))

    def test_a_failed_run_has_an_error_and_no_summary(self):
        for transport in ["shm", "thread"]:
            _, errors = self.run_program("train", "--data-dir", "nowhere", "--workers", 2, "--transport", transport,
                                         "--run-dir", "run", code=1)
            self.assertIn("nowhere", errors)
            self.assertFalse((self.folder / "run" / "summary.json").exists())


class Stopped(StoppedTraining):
    workers = 4
    transports = ["shm", "thread"]

    def worker_of(self, program, rank):
        return children_of(program.pid)[rank]

    def test_every_survivor_names_the_worker_that_was_killed(self):
        self.expect_survivors_name_the_victim()

    def test_an_interrupt_ends_the_program_and_its_workers(self):
        self.expect_interrupts_end_all()

    def test_an_interrupted_run_can_be_resumed(self):
        self.expect_to_go_on_after_an_interrupt("--momentum", 0.9)
        self.run_program("train", *SMALL, "--momentum", 0.9, "--iterations", 1500, "--workers", 2, "--run-dir", "whole")
        hashes = {json.loads((self.folder / run / "summary.json").read_text())["weights_sha256"]
                  for run in ["shm", "thread", "whole"]}
        self.assertEqual(len(hashes), 1)

    def test_a_rate_that_spans_the_iterations_can_be_resumed(self):
        job = ["train", *SMALL, "--schedule", "cosine", "--iterations", 9, "--checkpoint-every", 3, "--trace", 0]
        self.run_program(*job, "--run-dir", "whole")
        shutil.copytree(self.folder / "whole", self.folder / "cut")
        for checkpoint in (self.folder / "cut" / "checkpoints").glob("*9.safetensors"):
            checkpoint.unlink()
        output, errors = self.run_program(*job, "--run-dir", "cut", "--resume")
        self.assertEqual(errors, "")
        hashes = [json.loads((self.folder / run / "summary.json").read_text())["weights_sha256"]
                  for run in ("whole", "cut")]
        self.assertEqual(*hashes)
        _, errors = self.run_program(*job, "--iterations", 12, "--run-dir", "cut", "--resume", code=2)
        self.assertIn("--iterations", errors)

    def test_two_runs_in_one_folder_do_not_mix(self):
        for transport in ["shm", "thread"]:
            program = self.start("train", *ENDLESS, "--workers", 2, "--transport", transport, "--run-dir", transport)
            self.wait_for(program, "iteration 5/")
            other = ["train", *SMALL, "--run-dir", transport]
            _, errors = self.run_program(*other, code=1)
            self.assertEqual(errors, f"lockstep train: {transport}: another run is writing to this folder: wait until "
                                     "it ends, or choose another --run-dir\n")
            self.end(program)  # a killed run leaves no lock
            self.run_program(*other)

    def test_a_damaged_checkpoint_is_replaced_by_the_previous_one(self):
        for transport in ["shm", "thread"]:
            job = ["train", *SMALL, "--workers", 2, "--transport", transport, "--checkpoint-every", 3, "--run-dir",
                   transport]
            self.run_program(*job, "--iterations", 6)
            before, newest = sorted((self.folder / transport / "checkpoints").iterdir())
            newest.write_bytes(newest.read_bytes()[:1000])
            output, errors = self.run_program(*job, "--iterations", 9, "--resume")
            self.assertRegex(errors, rf"^lockstep: resuming from {transport}/checkpoints/{before.name} instead of a newer checkpoint: "
                                     rf"{transport}/checkpoints/{newest.name}: .*\n$")
            self.assertIn("9 iterations in", output)

    def test_a_killed_run_keeps_the_metrics_of_its_last_epoch(self):
        program = self.start("train", "--workers", 2, "--batch", 2, "--epochs", 9, "--run-dir", "run")
        self.wait_for(program, "iteration 20/")  # of 3000 in an epoch
        while not (measured := self.measured_in("run")) or measured[-1]["iteration"] == 1:
            self.assertIsNone(program.poll(), "it ended before it wrote what it measured")
            time.sleep(0.01)
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        self.assertEqual({(each["kind"], each["epoch"]) for each in self.measured_in("run")}, {("iteration", 1)})

    def measured_in(self, run):
        """The complete lines of metrics.jsonl."""
        text = (self.folder / run / "metrics.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def test_no_signal_is_handled_where_a_worker_computes(self):
        program = self.start("train", *ENDLESS, "--workers", 2, "--threads", 2)
        self.wait_for(program, "iteration 5/")
        for worker in children_of(program.pid):
            status = pathlib.Path(f"/proc/{worker}/status").read_text()
            for stop in [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1]:
                self.assertTrue(has_signal(status, "SigCgt", stop), stop)
                self.assertTrue(has_signal(status, "SigBlk", stop), stop)

    def test_a_full_disk_loses_the_trace_only(self):
        program = self.start("train", *SMALL, "--workers", 2, "--transport", "thread", "--iterations", 30, "--engine",
                             "torch", "--run-dir", "run", preexec_fn=small_files_only)  # whose traces are longer
        output, errors = self.finish(program, code=0)
        self.assertIn("30 iterations in", output)
        self.assertRegex(errors, "^lockstep: the trace was not written: run/trace.json: .*File too large")
        self.assertFalse((self.folder / "run" / "trace.json").exists())

    def test_a_full_disk_keeps_the_previous_checkpoint(self):
        job = ["train", *SMALL, "--workers", 2, "--transport", "thread", "--checkpoint-every", 3, "--run-dir", "run"]
        self.run_program(*job, "--iterations", 3)
        (before,) = (self.folder / "run" / "checkpoints").iterdir()
        content = before.read_bytes()
        program = self.start(*job, "--iterations", 9, "--resume", preexec_fn=small_files_only)
        _, errors = self.finish(program, code=1)
        self.assertIn("checkpoints/iteration-00000006.safetensors", errors)
        self.assertIn("File too large", errors)
        self.assertEqual([file.name for file in (self.folder / "run" / "checkpoints").iterdir()], [before.name])
        self.assertEqual(before.read_bytes(), content)
        self.run_program(*job, "--iterations", 9, "--resume")

    def test_training_continues_without_checkpoints_if_asked(self):
        job = ["train", *SMALL, "--transport", "thread", "--iterations", 9]
        self.run_program(*job, "--run-dir", "undisturbed")
        job += ["--checkpoint-every", 3, "--checkpoint-errors", "continue"]
        full = self.start(*job, "--run-dir", "full", preexec_fn=small_files_only)
        _, errors = self.finish(full, code=0)
        self.assertEqual(re.findall(r"continues without this checkpoint: full/checkpoints/(.*): cannot write: File too large",
                                    errors), [f"iteration-0000000{number}.safetensors" for number in (3, 6, 9)])
        self.assertEqual(list((self.folder / "full" / "checkpoints").iterdir()), [])
        (self.folder / "closed").mkdir()
        (self.folder / "closed" / "checkpoints").touch()  # no folder can be made there, even by root
        _, errors = self.run_program(*job, "--run-dir", "closed")
        self.assertEqual(errors.count("continues without this checkpoint: closed/checkpoints: cannot make this folder"), 3)
        hashes = {json.loads((self.folder / run / "summary.json").read_text())["weights_sha256"]
                  for run in ["full", "closed", "undisturbed"]}
        self.assertEqual(len(hashes), 1)

    def test_a_state_that_cannot_be_saved_is_an_error(self):
        (self.folder / "run").mkdir()
        (self.folder / "run" / "checkpoints").touch()
        program = self.start("train", *ENDLESS, "--checkpoint-errors", "continue", "--run-dir", "run")
        self.wait_for(program, "iteration 5/")
        program.send_signal(signal.SIGINT)
        _, errors = self.finish(program, code=1)
        self.assertIn("run/checkpoints: cannot make this folder", errors)

    def test_workers_do_not_outlive_a_program_that_was_killed(self):
        program = self.start_training()
        workers = children_of(program.pid)
        self.assertEqual(len(workers), 4)
        ends = [os.pidfd_open(worker) for worker in workers]
        program.kill()
        program.wait()
        for end in ends:
            readable, _, _ = select.select([end], [], [], HANGS)
            self.assertTrue(readable, "a worker survives its parent")
            os.close(end)


if __name__ == "__main__":
    unittest.main(verbosity=2)
