"""The verdict at the end of a training run: every kind of bottleneck is produced and must be named."""
import json
import os
import unittest

from program import SMALL, ProgramTest

CORES = os.cpu_count()


class Verdict(ProgramTest):
    def verdict_of(self, workers, *options, images=2, iterations=30):
        """Trains with `images` images per worker; returns the bottleneck and the verdict."""
        output, errors = self.run_program("train", "--limit", 100, "--batch", images * workers, "--iterations", iterations,
                                          "--workers", workers, "--threads", 1, "--run-dir", "run", *options)
        self.assertEqual(errors, "")
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertIn(summary["verdict"], output)
        self.assertGreaterEqual(summary["bottleneck"]["gain"], 1)
        return summary["bottleneck"], summary["verdict"]

    def test_one_worker_computes(self):
        bottleneck, verdict = self.verdict_of(1, images=64)
        self.assertEqual(bottleneck["kind"], "compute")
        self.assertNotIn("rank", bottleneck)
        self.assertIn("Compute-bound", verdict)
        self.assertNotIn("moving", verdict, "one worker does not communicate")

    def test_a_run_that_diverged_says_only_that(self):
        bottleneck, verdict = self.verdict_of(2, "--lr", 100, "--clip", 1e6, images=8, iterations=10)
        self.assertEqual((bottleneck["kind"], bottleneck["iteration"] > 1), ("diverged", True), verdict)
        self.assertRegex(verdict, r"^Diverged: the training loss went from 2\.\d+ in iteration 1 to .* \(--lr 10 instead of 100\)"
                                  r" and a warm-up \(--warmup 1\)\.$")

    def test_any_slow_rank_is_named(self):
        for rank, transport, sync in [(0, "shm", "ddp"), (1, "thread", "all-reduce"), (1, "gloo", "p2p")]:
            with self.subTest(rank=rank, transport=transport, sync=sync):
                bottleneck, verdict = self.verdict_of(2, "--slow", f"{rank}:50", "--transport", transport, "--sync", sync)
                self.assertEqual((bottleneck["kind"], bottleneck.get("rank")), ("straggler", rank), verdict)
                self.assertIn(f"Rank {rank} is a straggler", verdict)
                self.assertIn("If all ranks were equally fast", verdict)

    def test_a_slow_loader_is_named_and_loader_threads_hide_it(self):
        for workers in (1, 2):
            bottleneck, verdict = self.verdict_of(workers, "--slow-data", 80)
            self.assertEqual(bottleneck["kind"], "data", verdict)
            self.assertIn("Data loading limits this run", verdict)
            self.assertRegex(verdict, r"--loader-threads \d+ would load images")
        hidden, _ = self.verdict_of(1, "--slow-data", 80, "--loader-threads", 16)
        self.assertLess(hidden["share"] if hidden["kind"] == "data" else 0, bottleneck["share"])

    def test_many_small_buckets_over_tcp_are_bound_by_latency(self):
        bottleneck, verdict = self.verdict_of(2, "--transport", "gloo", "--bucket-mb", 0.001, "--first-bucket-mb", 0.001,
                                          iterations=100)
        self.assertEqual(bottleneck["kind"], "latency", verdict)
        self.assertIn("Latency-bound", verdict)
        self.assertRegex(verdict, r"is spent in \d+ collectives, each with a latency of")
        self.assertRegex(verdict, r"One bucket instead of \d+ ")

    def test_more_workers_than_cores_show_overhead(self):
        bottleneck, verdict = self.verdict_of(2 * CORES, images=16, iterations=60)
        self.assertEqual(bottleneck["kind"], "oversubscribed", verdict)
        self.assertIn(f"{2 * CORES} workers × 1 thread share {CORES} cores", verdict)
        self.assertIn(f"With {CORES} workers", verdict)

    def test_a_slow_rank_stands_out_among_more_workers_than_cores(self):
        bottleneck, verdict = self.verdict_of(2 * CORES, "--slow", "1:100")
        self.assertEqual((bottleneck["kind"], bottleneck.get("rank")), ("straggler", 1), verdict)


class Studies(ProgramTest):
    def test_options_that_slow_a_run_down_are_listed(self):
        output, _ = self.run_program("train", "--help")
        self.assertRegex(output, r"(?s)\nDeliberate faults:\n  --slow .*\n  --slow-data ")

    def test_a_slow_run_learns_the_same(self):
        weights = set()
        for options in ([], ["--slow", "1:1", "--slow-data", 1, "--loader-threads", 3]):
            self.run_program("train", *SMALL, "--workers", 2, "--run-dir", "run", *options)
            weights.add(json.loads((self.folder / "run" / "summary.json").read_text())["weights_sha256"])
        self.assertEqual(len(weights), 1)

    def test_invalid_values_are_named(self):
        for value in ["1", "1:", ":20", "one:20", "1:fast", "1:-5", "1:nan", "-1:5", "0:5:6"]:
            self.expect_refused(f"train --workers 2 --slow={value}", "--slow")
        self.expect_refused("train --workers 2 --slow 2:20", "there is no such rank among 2 workers")
        self.expect_refused("train --slow-data -1", "--slow-data is -1")
        self.expect_refused("train --loader-threads -1", "--loader-threads is -1")


if __name__ == "__main__":
    unittest.main(verbosity=2)
