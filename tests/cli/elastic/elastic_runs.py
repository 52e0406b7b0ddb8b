"""Elastic runs and their expected results."""
import collections
import json
import os
import signal

from program import BINARY, SMALL, ProgramTest, children_of

COMMON = [*SMALL, "--momentum", 0.9, "--log-every", 1, "--trace", 0, "--shards", 4, "--iterations"]
JOB = [*COMMON, 200]
LONG = [*COMMON, 1200]
UNDISTURBED = {}


class ElasticTest(ProgramTest):
    def summary(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())

    def outcome(self, run):
        summary = self.summary(run)
        return [summary[name] for name in ("weights_sha256", "buffers_sha256", "test_loss", "test_accuracy", "iterations")]

    def undisturbed(self, *job):
        """The result of an undisturbed run; computed once."""
        if job not in UNDISTURBED:
            self.run_program("train", *job, "--workers", 2, "--run-dir", "undisturbed")
            UNDISTURBED[job] = self.outcome("undisturbed")
        return UNDISTURBED[job]

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

    def launch(self, *options, job, **settings):
        return self.start("launch", *options, "--token-file", "token", "--", BINARY, "train", *job, "--elastic", "--run-dir",
                          "run", **settings)
