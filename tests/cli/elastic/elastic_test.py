"""--elastic: a run survives workers that die, and ends with the weights of an undisturbed run."""
import collections
import os
import signal
import unittest

from elastic.elastic_runs import JOB, ElasticTest
from program import BINARY, ENDLESS, SMALL, children_of

RESNET = ["--model", "resnet18", "--data", "cifar10", "--limit", 8, "--batch", 4, "--iterations", 6, "--patience", 2,
          "--epochs", 3, "--shards", 4, "--log-every", 1, "--trace", 0, "--conv", "direct"]



class Elastic(ElasticTest):
    def test_bits_do_not_depend_on_the_lost_worker(self):
        expected = self.undisturbed(*JOB)
        for transport, victims in [("shm", [3]), ("shm", [0, 0, 1]), ("gloo", [1, 0])]:
            run = f"{transport}-{len(victims)}"
            program = self.start("train", *JOB, "--slow", "0:5", "--elastic", "--workers", 4, "--transport", transport,
                                 "--run-dir", run)
            for order, victim in enumerate(victims):
                self.kill(program, victim, after=30 * (order + 1))
            _, errors = self.finish(program, code=0)
            self.assertRegex(errors, rf"lockstep: rank {victims[0]} was ended by signal 9 \(Killed\): continuing after iteration "
                                     r"\d+ with 3 workers\n")
            self.assertEqual(self.outcome(run), expected, run)
            self.assertEqual(self.summary(run)["workers"], 4 - len(victims))
            self.expect_every_image_once(run, 16)

    def test_batch_norm_and_tests_between_epochs_survive(self):
        expected = self.undisturbed(*RESNET)
        for number, after in [(1, 2), (0, 3)]:
            run = f"run-{number}"
            program = self.start("train", *RESNET, "--elastic", "--workers", 4, "--checkpoint-every", 2, "--run-dir", run)
            self.kill(program, number, after=after)
            self.finish(program, code=0)
            self.assertEqual(self.outcome(run), expected, run)
            kinds = collections.Counter((line["kind"], line["iteration"]) for line in self.metrics(run)
                                        if line["kind"] == "test")
            self.assertEqual(kinds, {("test", 2): 1, ("test", 4): 1, ("test", 6): 1})
            self.expect_every_image_once(run, 4)

    def test_with_too_few_workers_it_ends_and_can_be_resumed(self):
        expected = self.undisturbed(*JOB)
        program = self.start("train", *JOB, "--slow", "0:5", "--elastic", "--min-workers", 2, "--workers", 2,
                             "--run-dir", "run")
        self.kill(program, 0, after=50)
        _, errors = self.finish(program, code=1)
        self.assertIn("1 worker is left, and the run needs at least 2. The state is saved in run/checkpoints/iteration-000000", errors)
        self.run_program("train", *JOB, "--workers", 4, "--resume", "--run-dir", "run")
        self.assertEqual(self.outcome("run"), expected)
        told = {line["iteration"] for line in self.metrics("run") if line["kind"] == "iteration"}
        self.assertEqual(told, set(range(1, 201)), "iterations that were not written yet are included")

    def start_and_stop_one(self):
        program = self.start("train", *JOB, "--slow", "0:10", "--elastic", "--workers", 4, "--hang-timeout", 5,
                             "--checkpoint-every", 20, "--run-dir", "run")
        self.wait_for(program, "iteration 30/")
        victim = children_of(program.pid)[0]
        os.kill(victim, signal.SIGSTOP)
        return program, victim

    def expect_the_others_to_have_ended_well(self, program, expected):
        _, errors = self.finish(program, code=0)
        self.assertRegex(errors, r"lockstep: rank 0 is lost: continuing after iteration \d+ with 3 workers\n")
        self.assertEqual(self.outcome("run"), expected)
        self.expect_every_image_once("run", 16)
        self.assertEqual(sorted(file.name for file in (self.folder / "run" / "checkpoints").glob("*.safetensors")),
                         ["iteration-00000180.safetensors", "iteration-00000200.safetensors"])
        return errors

    def test_a_late_worker_is_dropped(self):
        expected = self.undisturbed(*JOB)
        program, victim = self.start_and_stop_one()
        self.wait_for(program, ": 3 workers")
        os.kill(victim, signal.SIGCONT)
        errors = self.expect_the_others_to_have_ended_well(program, expected)
        self.assertIn("the other workers continued without rank 0, which arrived too late: workers 1, 2, 3 remain", errors)

    def test_a_worker_that_hangs_is_ended_after_the_run(self):
        expected = self.undisturbed(*JOB)
        program, _ = self.start_and_stop_one()
        self.expect_the_others_to_have_ended_well(program, expected)

    def test_a_stop_ends_all_workers(self):
        program = self.start("train", *ENDLESS, "--shards", 4, "--elastic", "--workers", 4, "--run-dir", "run")
        self.kill(program, 2, after=10)
        self.wait_for(program, "iteration 60/")
        program.send_signal(signal.SIGINT)
        _, errors = self.finish(program, code=1)
        self.assertIn("stopped after iteration", errors)

    def test_invalid_combinations_are_refused(self):
        for arguments, words in [("train --elastic", "--elastic needs --shards"),
                                 ("train --elastic --workers 2 --shards 2 --sync sharded", "--sync sharded keeps each part"),
                                 ("train --elastic --workers 2 --shards 2 --sync server", "--sync server keeps the weights"),
                                 ("train --elastic --workers 2 --shards 2 --min-workers 3", "--min-workers is 3"),
                                 ("train --elastic --workers 2 --shards 2 --hang-timeout 0", "--hang-timeout is 0"),
                                 ("train --hang-timeout 5", "--hang-timeout needs --elastic"),
                                 ("launch --elastic --nnodes 2 --node-rank 0 --master-addr 127.0.0.1 true",
                                  "launchers of other hosts join the run with --join"),
                                 ("launch --join 127.0.0.1:1 --elastic true", "leave out --elastic")]:
            self.expect_refused(arguments, words)
        _, errors = self.run_program("launch", "--workers", 2, "--", BINARY, "train", *SMALL, "--shards", 2, "--elastic", code=2)
        self.assertIn("pass --elastic to lockstep launch too", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
