"""launch --elastic and --join: workers of other launchers join a run, which survives its first workers."""
import os
import signal
import unittest

from elastic.elastic_runs import LONG, ElasticTest
from other_data import FIRST_LABEL, LABELS, copy_with_other_byte
from program import ENDLESS, children_of, free_port


class ElasticJoin(ElasticTest):
    def setUp(self):
        super().setUp()
        self.run_program("launch", "--new-token", "token")
        self.port = free_port()

    def begin(self, workers, job):
        program = self.launch("--elastic", "--workers", workers, "--master-port", self.port, job=job)
        self.wait_for(program, "iteration 5/")
        return program

    def join(self, workers, job):
        return self.launch("--join", f"127.0.0.1:{self.port}", "--workers", workers, job=job)

    def test_workers_join_and_wait_for_room(self):
        expected = self.undisturbed(*LONG)
        job = [*LONG, "--slow", "0:5"]
        program = self.begin(4, job)
        spare = self.join(1, job)  # there is no room yet
        self.kill(program, 0, after=30)
        with self.subTest("the spare takes the place of the one that died"):
            self.finish(spare, code=0)
        output, errors = self.finish(program, code=0)
        self.assertRegex(errors, r"rank 0 was ended by signal 9 \(Killed\)(, rank 4 has joined)?: continuing after iteration")
        self.assertIn("rank 4 has joined", errors)
        self.assertIn("the run is recorded in run", output)
        self.assertRegex(errors, r"lockstep launch: rank 0 \(pid \d+ on \S+\) was ended by signal 9 \(Killed\); the other workers continued")
        self.assertEqual(self.outcome("run"), expected)
        self.assertEqual(self.summary("run")["workers"], 4)
        self.expect_every_image_once("run", 16)

    def expect_unlike_first(self, joining, rank, usual, found, what):
        """Either of the two initial workers may be the first."""
        _, errors = self.finish(joining, code=2)
        self.assertRegex(errors, f"lockstep train: rank [01] had {usual}; {rank} had {found}: start all workers "
                                 f"with the same {what}")

    def test_a_worker_with_other_options_or_data_cannot_join(self):
        job = [*ENDLESS, "--shards", 4]
        program = self.begin(2, job)
        other = self.join(1, [*job, "--momentum", 0.5])
        self.expect_unlike_first(other, "rank 2", "momentum 0.0", "momentum 0.5", "options")
        lost = self.join(1, [*job, "--data-dir", "nowhere"])
        self.assertIn("nowhere", self.finish(lost, code=1)[1])
        copy_with_other_byte(self.folder / "other", LABELS, FIRST_LABEL)
        liar = self.join(1, [*job, "--data-dir", "other"])
        labels = "training labels of checksum [0-9a-f]+"
        self.expect_unlike_first(liar, "rank 4", labels, labels, "data")
        mute = self.join(1, [*job, "--transport", "gloo"])
        self.expect_unlike_first(mute, "rank 5", "transport auto", "transport gloo", "program, options and environment")
        self.wait_for(program, "iteration ")  # no worker was admitted, and the run continues
        stranger = self.start("launch", "--join", f"127.0.0.1:{self.port}", "--", "true")
        self.assertIn("joining a run needs its token", self.finish(stranger, code=2)[1])

    def begin_and_join(self, job):
        """A run of two workers, which two more have joined."""
        program = self.begin(2, job)
        joined = self.join(2, job)
        self.wait_for(program, ": 4 workers")
        return program, joined

    def wait_for_spare(self, spare):
        for line in spare.stderr:
            if "waits to be admitted to the run" in line:
                return
        self.fail("the spare never waited")

    def kill_workers_of(self, program):
        for worker in children_of(program.pid):
            os.kill(worker, signal.SIGKILL)

    def test_joined_workers_survive_all_initial_ones(self):
        expected = self.undisturbed(*LONG)
        job = [*LONG, "--slow", "0:4"]
        program, lost = self.begin_and_join(job)
        lost.kill()  # as if its host were gone: it cannot tell what became of its workers
        self.wait_for(program, ": 2 workers")
        joined = self.join(2, job)
        self.wait_for(program, ": 4 workers")
        self.kill_workers_of(program)
        output, _ = self.finish(joined, code=0)
        self.assertIn("the run is recorded in run", output)
        _, errors = self.finish(program, code=0)
        self.assertIn("rank 2 is lost with its launcher, rank 3 is lost with its launcher: continuing after", errors)
        for rank in (0, 1):
            self.assertRegex(errors, rf"rank {rank} \(pid \d+ on \S+\) was ended by signal 9 \(Killed\); the other workers continued")
        self.assertEqual(self.outcome("run"), expected)
        self.expect_every_image_once("run", 16)

    def test_a_launcher_without_workers_stops_joined_workers(self):
        job = [*ENDLESS, "--shards", 4]
        program, joined = self.begin_and_join(job)
        self.kill_workers_of(program)
        self.wait_for(joined, ": 2 workers")
        program.send_signal(signal.SIGINT)
        self.assertIn("stopped after iteration", self.finish(joined, code=128 + signal.SIGTERM)[1])
        self.finish(program, code=128 + signal.SIGINT)
        self.assertEqual(len(list((self.folder / "run" / "checkpoints").iterdir())), 1)

    def test_a_launcher_without_workers_ends_with_the_last_joined_worker(self):
        program, joined = self.begin_and_join([*ENDLESS, "--shards", 4])
        self.kill_workers_of(program)
        self.wait_for(joined, ": 2 workers")
        joined.kill()
        _, errors = self.finish(program, code=128 + signal.SIGKILL)
        self.assertRegex(errors, r"rank [01] \(pid \d+ on \S+\) was ended by signal 9")

    def test_a_waiting_worker_can_be_stopped_and_ends_with_the_last_worker_that_has_the_state(self):
        job = [*ENDLESS, "--shards", 2]
        program = self.begin(2, job)
        stopped, left = self.join(1, job), self.join(1, job)
        self.wait_for_spare(stopped)
        self.wait_for_spare(left)
        stopped.send_signal(signal.SIGINT)
        _, errors = self.finish(stopped, code=128 + signal.SIGINT)
        self.assertRegex(errors, "rank [23] was asked to stop while it waited to join")
        self.wait_for(program, "iteration ")  # which does not care
        self.kill_workers_of(program)
        self.finish(program, code=128 + signal.SIGKILL)
        _, errors = self.finish(left, code=1)
        self.assertRegex(errors, "all workers that had the state of the run are lost|"
                                 "the run has probably ended while rank [23] waited to join")


if __name__ == "__main__":
    unittest.main(verbosity=2)
