"""trace.json of a run follows the rules of Chrome's trace event format, which Perfetto reads too: required fields, nested
spans, and matching begins and ends."""
import collections
import json
import numbers
import unittest

from program import ProgramTest

ROUNDING = 0.002  # microseconds: times have three digits after the point
ITERATIONS = 3


class TraceFormat(ProgramTest):
    def trace_of(self, *options):
        self.run_program("train", "--limit", 100, "--batch", 16, "--iterations", 5, "--trace", ITERATIONS, "--workers", 2,
                         "--threads", 1, "--run-dir", "run", *options)
        return json.loads((self.folder / "run" / "trace.json").read_text())

    def expect_fields(self, events):
        for event in events:
            self.assertIsInstance(event["name"], str, event)
            self.assertIn(event["ph"], "MXibe", event)
            for field in ("pid", "tid"):
                self.assertIsInstance(event[field], int, event)
            self.assertIsInstance(event["ts"], numbers.Real, event)
            self.assertGreaterEqual(event["ts"], 0, event)
            if event["ph"] == "M":
                self.assertIsInstance(event["args"]["name"], str, event)
            else:
                self.assertTrue(event["cat"], event)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0, event)
            if event["ph"] == "i":
                self.assertIn(event["s"], "gpt", event)

    def expect_nested(self, events):
        """Two spans of a row are nested or disjoint."""
        rows = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                rows[event["pid"], event["tid"]].append(event)
        self.assertEqual(sorted(rows), [(rank, row) for rank in (0, 1) for row in (0, 1)])
        for spans in rows.values():
            open_ends = []
            for span in sorted(spans, key=lambda span: (span["ts"], -span["dur"])):
                while open_ends and open_ends[-1] <= span["ts"] + ROUNDING:
                    open_ends.pop()
                end = span["ts"] + span["dur"]
                if open_ends:
                    self.assertLessEqual(end, open_ends[-1] + ROUNDING, span)
                open_ends.append(end)

    def expect_pairs(self, events):
        """Checks that every begin has a later end with its category and id. Returns their number."""
        begins = {(event["cat"], event["id"]): event for event in events if event["ph"] == "b"}
        ends = {(event["cat"], event["id"]): event for event in events if event["ph"] == "e"}
        self.assertEqual(begins.keys(), ends.keys())
        self.assertEqual(2 * len(begins), sum(event["ph"] in "be" for event in events), "ids are used once")
        for key, begin in begins.items():
            self.assertGreaterEqual(ends[key]["ts"], begin["ts"])
            self.assertEqual((ends[key]["name"], ends[key]["pid"]), (begin["name"], begin["pid"]))
        return len(begins)

    def expect_clocks(self, trace):
        clocks = trace["otherData"]["clock_offsets_us"]
        self.assertEqual([clock["rank"] for clock in clocks], [0, 1])
        self.assertEqual([(clock["offset"], clock["uncertainty"]) for clock in clocks], [(0, 0)] * 2, "one host, one clock")

    def expect_sound(self, trace):
        events = trace["traceEvents"]
        self.expect_fields(events)
        self.expect_nested(events)
        self.expect_clocks(trace)
        return self.expect_pairs(events)

    def test_holds_for_every_transport_and_method(self):
        for transport, sync in [("shm", "ddp"), ("thread", "ring"), ("gloo", "ddp"), ("shm", "gather-scatter")]:
            with self.subTest(transport=transport, sync=sync):
                self.expect_sound(self.trace_of("--transport", transport, "--sync", sync))

    def test_holds_for_messages_that_overlap(self):
        for sync in ("p2p", "coordinator"):
            with self.subTest(sync=sync):
                self.assertGreater(self.expect_sound(self.trace_of("--sync", sync)), 0)

    def test_shows_every_part_of_an_iteration(self):
        events = self.trace_of()["traceEvents"]
        for rank in (0, 1):
            names = collections.Counter(event["name"] for event in events
                                        if event["pid"] == rank and event.get("cat") in ("part", "iteration"))
            self.assertEqual(names, dict.fromkeys(["iteration", "data", "forward", "backward", "synchronise",
                                                   "optimizer"], ITERATIONS))

    def test_shows_when_each_bucket_was_ready_began_and_ended(self):
        events = self.trace_of("--bucket-mb", 0.01, "--first-bucket-mb", 0.01, "--slow", "1:5")["traceEvents"]
        for rank in (0, 1):
            ready, reduced = ([event for event in events if event["pid"] == rank and event.get("cat") == category
                               and "bucket" in event["args"]] for category in ("bucket", "collective"))
            buckets = sorted({event["args"]["bucket"] for event in ready})
            self.assertGreater(len(buckets), 2)
            self.assertEqual(buckets, list(range(len(buckets))))
            # Once an iteration, in order; each is reduced after it was ready.
            self.assertEqual([event["args"]["bucket"] for event in reduced], buckets * ITERATIONS)
            for bucket in buckets:
                moments, begins = (sorted(event["ts"] for event in some if event["args"]["bucket"] == bucket)
                                   for some in (ready, reduced))
                self.assertEqual(len(moments), ITERATIONS)
                for moment, begin in zip(moments, begins):
                    self.assertLessEqual(moment, begin + ROUNDING)
            self.assertEqual({event["name"] for event in ready}, {f"bucket {bucket} ready" for bucket in buckets})
        waits = [event for event in events if event.get("cat") == "wait" and event["pid"] == 0]
        self.assertTrue(waits, "rank 0 waits for the slow one")


if __name__ == "__main__":
    unittest.main(verbosity=2)
