"""--elastic: a run goes on without workers that die, lets others join, and ends as one that nothing happened to."""
import collections
import json
import os
import signal
import socket
import unittest

from program import BINARY, ENDLESS, SMALL, ProgramTest, children_of

COMMON = [*SMALL, "--momentum", 0.9, "--log-every", 1, "--trace", 0, "--shards", 4, "--iterations"]
JOB = [*COMMON, 200]
LONG = [*COMMON, 2000]
RESNET = ["--model", "resnet18", "--data", "cifar10", "--limit", 8, "--batch", 4, "--iterations", 6, "--patience", 2,
          "--epochs", 3, "--shards", 4, "--log-every", 1, "--trace", 0, "--conv", "direct"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Elastic(ProgramTest):
    def summary(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())

    def outcome(self, run):
        summary = self.summary(run)
        return [summary[name] for name in ("weights_sha256", "buffers_sha256", "test_loss", "test_accuracy", "iterations")]

    def undisturbed(self, *job):
        self.run_program("train", *job, "--workers", 2, "--run-dir", "undisturbed")
        return self.outcome("undisturbed")

    def kill(self, program, number, *, after):
        self.wait_for(program, f"iteration {after}/")
        os.kill(children_of(program.pid)[number], signal.SIGKILL)

    def metrics(self, run):
        return [json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]

    def expect_every_image_once(self, run, batch):
        images = collections.Counter()
        for line in self.metrics(run):
            if line["kind"] == "iteration":
                images[line["iteration"]] += line["samples"]
        self.assertEqual(images, {iteration + 1: batch for iteration in range(self.summary(run)["iterations"])})

    def test_no_bit_depends_on_who_dies(self):
        expected = self.undisturbed(*JOB)
        for transport, victims in [("shm", [3]), ("shm", [0, 0, 1]), ("gloo", [1, 0])]:
            run = f"{transport}-{len(victims)}"
            program = self.start("train", *JOB, "--slow", "0:5", "--elastic", "--workers", 4, "--transport", transport,
                                 "--run-dir", run)
            for order, victim in enumerate(victims):
                self.kill(program, victim, after=30 * (order + 1))
            _, errors = self.finish(program, code=0)
            self.assertRegex(errors, rf"lockstep: rank {victims[0]} was ended by signal 9 \(Killed\): going on after iteration "
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

    def test_with_too_few_it_ends_and_can_be_resumed(self):
        expected = self.undisturbed(*JOB)
        program = self.start("train", *JOB, "--slow", "0:5", "--elastic", "--min-workers", 2, "--workers", 2,
                             "--run-dir", "run")
        self.kill(program, 0, after=50)
        _, errors = self.finish(program, code=1)
        self.assertIn("1 worker is left, and the run was to end with fewer than 2. run/checkpoints/iteration-000000", errors)
        self.run_program("train", *JOB, "--workers", 4, "--resume", "--run-dir", "run")
        self.assertEqual(self.outcome("run"), expected)
        told = {line["iteration"] for line in self.metrics("run") if line["kind"] == "iteration"}
        self.assertEqual(told, set(range(1, 201)), "those that nobody had written down are there, too")

    def test_a_stop_is_one(self):
        program = self.start("train", *ENDLESS, "--shards", 4, "--elastic", "--workers", 4, "--run-dir", "run")
        self.kill(program, 2, after=10)
        self.wait_for(program, "iteration 60/")
        program.send_signal(signal.SIGINT)
        _, errors = self.finish(program, code=1)
        self.assertIn("stopped after iteration", errors)

    def launch(self, *options, job, **settings):
        return self.start("launch", *options, "--token-file", "token", "--", BINARY, "train", *job, "--elastic", "--run-dir",
                          "run", **settings)

    def test_others_join_and_wait_for_room(self):
        expected = self.undisturbed(*LONG)
        job = [*LONG, "--slow", "0:3"]
        self.run_program("launch", "--new-token", "token")
        port = free_port()
        program = self.launch("--elastic", "--workers", 4, "--master-port", port, job=job)
        self.wait_for(program, "iteration 5/")
        spare = self.launch("--join", f"127.0.0.1:{port}", "--workers", 1, job=job)  # there is no room yet
        self.kill(program, 0, after=30)
        with self.subTest("the spare takes the place of the one that died"):
            self.finish(spare, code=0)
        output, errors = self.finish(program, code=0)
        self.assertRegex(errors, r"rank 0 was ended by signal 9 \(Killed\)(, rank 4 has joined)?: going on after iteration")
        self.assertIn("rank 4 has joined", errors)
        self.assertIn("the run is recorded in run", output)
        self.assertRegex(errors, r"lockstep launch: rank 0 \(pid \d+ on \S+\) was ended by signal 9 \(Killed\); the others went on")
        self.assertEqual(self.outcome("run"), expected)
        self.assertEqual(self.summary("run")["workers"], 4)
        self.expect_every_image_once("run", 16)

    def test_who_joins_must_fit(self):
        self.run_program("launch", "--new-token", "token")
        port = free_port()
        job = [*ENDLESS, "--shards", 4]
        program = self.launch("--elastic", "--workers", 2, "--master-port", port, job=job)
        self.wait_for(program, "iteration 5/")
        other = self.launch("--join", f"127.0.0.1:{port}", "--workers", 1, job=[*job, "--momentum", 0.5])
        _, errors = self.finish(other, code=2)
        self.assertIn("the run has momentum 0.0, and this worker 0.5: start it with the same options", errors)
        lost = self.launch("--join", f"127.0.0.1:{port}", "--workers", 1, job=[*job, "--data-dir", "nowhere"])
        self.assertIn("nowhere", self.finish(lost, code=1)[1])
        self.wait_for(program, ": 2 workers")  # it was let in, and the others go on without
        stranger = self.start("launch", "--join", f"127.0.0.1:{port}", "--", "true")
        self.assertIn("joining a run needs its token", self.finish(stranger, code=2)[1])

    def test_where_it_makes_no_sense(self):
        for arguments, words in [("train --elastic", "--elastic needs --shards"),
                                 ("train --elastic --workers 2 --shards 2 --sync sharded", "--sync sharded keeps each part"),
                                 ("train --elastic --workers 2 --shards 2 --sync server", "--sync server keeps the weights"),
                                 ("train --elastic --workers 2 --shards 2 --min-workers 3", "--min-workers is 3"),
                                 ("launch --elastic --nnodes 2 --node-rank 0 --master-addr 127.0.0.1 true",
                                  "let the others join with --join"),
                                 ("launch --join 127.0.0.1:1 --elastic true", "leave out --elastic")]:
            self.expect_refused(arguments, words)
        _, errors = self.run_program("launch", "--workers", 2, "--", BINARY, "train", *SMALL, "--shards", 2, "--elastic", code=2)
        self.assertIn("give --elastic to lockstep launch, too", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
