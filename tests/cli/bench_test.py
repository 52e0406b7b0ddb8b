"""lockstep bench: its table and its JSON."""
import json
import pathlib
import shutil
import unittest

from program import BINARY, ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Bench(ProgramTest):
    SMALL = ["bench", "--sizes", "4,4K", "--workers", "1,2,3", "--repeat", 3]

    def test_every_result_is_right(self):
        output, _ = self.run_program(*self.SMALL, "--json", "-")
        results = json.loads(output)["results"]
        seen = {(row["transport"], row["workers"], row["algorithm"], row["bytes"]) for row in results}
        self.assertEqual(seen, {(transport, workers, algorithm, size) for transport in ["shm", "thread"]
                                for workers in [1, 2, 3] for algorithm in {row["algorithm"] for row in results}
                                for size in [4, 4096]})
        self.assertLessEqual({"direct", "ring", "star"}, {row["algorithm"] for row in results})
        for row in results:
            self.assertEqual(set(row), {"op", "transport", "algorithm", "workers", "type", "bytes", "seconds",
                                        "algbw_gbs", "busbw_gbs", "wrong"})
            self.assertEqual((row["op"], row["type"], row["wrong"]), ("all-reduce", "float32", 0))
            self.assertGreater(row["seconds"], 0)
            self.assertAlmostEqual(row["algbw_gbs"], row["bytes"] / row["seconds"] / 1e9)
            self.assertAlmostEqual(row["busbw_gbs"],
                                   row["algbw_gbs"] * 2 * (row["workers"] - 1) / row["workers"])

    def test_broadcasts(self):
        output, _ = self.run_program(*self.SMALL, "--op", "broadcast", "--json", "-")
        results = json.loads(output)["results"]
        self.assertGreaterEqual(len(results), 12)
        for row in results:
            self.assertEqual((row["op"], row["wrong"]), ("broadcast", 0))
            self.assertEqual(row["busbw_gbs"], row["algbw_gbs"])

    def test_every_operation_is_right_in_every_type(self):
        for op in ["all-reduce", "reduce", "broadcast", "reduce-scatter", "all-gather", "gather", "scatter",
                   "send-recv"]:
            for kind in ["float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8"]:
                output, _ = self.run_program("bench", "--op", op, "--type", kind, "--sizes", "8,4K", "--workers", 3,
                                             "--repeat", 1, "--transport", "thread", "--json", "-")
                results = json.loads(output)["results"]
                self.assertGreaterEqual(len(results), 2)
                for row in results:
                    self.assertEqual((row["op"], row["type"], row["wrong"]), (op, kind, 0))

    def test_barriers_have_no_sizes(self):
        output, _ = self.run_program("bench", "--op", "barrier", "--workers", "1,2", "--repeat", 3, "--json", "-")
        self.assertEqual([(row["workers"], row["bytes"]) for row in json.loads(output)["results"]],
                         [(1, 0), (2, 0), (1, 0), (2, 0)])

    def test_prints_a_line_per_result(self):
        output, errors = self.run_program("bench", "--sizes", "4K", "--workers", 2, "--repeat", 3, "--transport",
                                          "thread", "--algorithm", "ring,star", "--json", "result.json")
        header, *rows = output.splitlines()
        self.assertIn("busbw GB/s", header)
        self.assertEqual([row.split()[:5] for row in rows],
                         [["all-reduce", "thread", "ring", "2", "4096"], ["all-reduce", "thread", "star", "2", "4096"]])
        self.assertEqual(len(json.loads((self.folder / "result.json").read_text())["results"]), 2)
        self.assertEqual(errors, "")


class AutoTable(ProgramTest):
    SMALL = ["bench", "--sizes", "4K,1K", "--workers", "2,3", "--repeat", 3, "--transport", "thread"]

    def test_names_an_algorithm_for_every_world_and_size(self):
        output, _ = self.run_program(*self.SMALL, "--table", "-")
        header, *rows = [line.split() for line in output.splitlines()]
        self.assertEqual(header, ["#", "transport", "ranks", "bytes", "algorithm"])
        self.assertEqual({(row[0], row[1]) for row in rows}, {("thread", "2"), ("thread", "any")})
        for ranks in ["2", "any"]:
            sizes = [row[2] for row in rows if row[1] == ranks]
            self.assertIn(sizes, [["any"], ["1K", "any"]])

    def test_is_written_beside_the_results(self):
        output, _ = self.run_program(*self.SMALL, "--table", "fast.table")
        self.assertIn("busbw GB/s", output)
        self.assertTrue((self.folder / "fast.table").read_text().startswith("# transport"))

    def test_is_refused_before_any_work_if_it_cannot_be_written(self):
        output, errors = self.run_program(*self.SMALL, "--table", "nowhere/fast.table", code=1)
        self.assertEqual(output, "")
        self.assertIn("nowhere", errors)


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class BenchUnderMpirun(ProgramTest):
    SMALL = ["bench", "--sizes", "4,4K", "--repeat", 3, "--transport", "mpi,shm+mpi"]

    def test_starts_itself_under_mpirun(self):
        output, errors = self.run_program(*self.SMALL, "--workers", "1,2", "--algorithm", "ring,auto", "--json", "-")
        results = json.loads(output)["results"]
        self.assertEqual([(row["transport"], row["workers"], row["algorithm"], row["bytes"]) for row in results],
                         [(transport, workers, algorithm, size) for transport in ["mpi", "shm+mpi"]
                          for workers in [1, 2] for size in [4, 4096] for algorithm in ["ring", "auto"]])
        self.assertEqual({row["wrong"] for row in results}, {0})
        self.assertEqual(errors, "")

    def test_reports_a_missing_feature_once(self):
        output, errors = self.run_program(*self.SMALL, "--workers", 3, "--algorithm", "direct", code=2)
        self.assertEqual(output, "")
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertIn("algorithm 'direct' needs ranks that share memory", errors)


class Example(ProgramTest):
    def test_the_documented_ring(self):
        output, errors = self.run_program("bench", "--example", "ring", "--workers", 4)
        self.assertEqual(errors, "")
        documented = (ROOT / "docs" / "algorithms.md").read_text()
        self.assertIn(output.split("\n* the sum")[0], documented)

    def test_json_has_every_step(self):
        output, _ = self.run_program("bench", "--example", "halving-doubling", "--elements", 8, "--json", "-")
        found = json.loads(output)
        self.assertEqual((found["algorithm"], found["workers"], found["elements"]), ("halving-doubling", 4, 8))
        self.assertEqual([chunk["count"] for chunk in found["chunks"]], [2, 2, 2, 2])
        self.assertEqual([step["phase"] for step in found["steps"]], ["scatter-reduce"] * 2 + ["all-gather"] * 2)
        self.assertEqual(found["start"]["arrays"][1], list(range(9, 17)))
        self.assertEqual(found["steps"][0]["messages"][0],
                         {"from": 0, "to": 1, "first": 4, "elements": [5, 6, 7, 8], "added": True})
        sums = [sum(column) for column in zip(*found["start"]["arrays"])]
        self.assertEqual(found["steps"][-1]["arrays"], [sums] * 4)
        self.assertEqual(found["steps"][-1]["summed_ranks"], [[4] * 8] * 4)

    def test_trees_and_stars_send_whole_arrays(self):
        for algorithm, steps in [("tree", "2 of reduce and 2 of broadcast"), ("star", "3 of reduce and 3 of broadcast")]:
            output, _ = self.run_program("bench", "--example", algorithm, "--elements", 1)
            self.assertIn(f"4 workers sum their arrays of 1 number (4 bytes) in {2 * int(steps[0])} steps: {steps}.", output)

    def test_what_an_example_cannot_do_is_refused(self):
        for arguments, part in [
                ("--example direct", "halving-doubling"),
                ("--example ring --sizes 4K --op barrier", "omit --op and --sizes"),
                ("--example ring --transport shm", "omit --transport"),
                ("--example ring --workers 1", "one number of workers, from 2 to 16"),
                ("--example ring --workers 2,4", "one number of workers"),
                ("--example ring --workers 17", "from 2 to 16"),
                ("--example ring --elements 65", "1 to 64"),
                ("--elements 4", "add --example ring"),
                ("--html page.html", "add --example ring"),
                ("--example ring --html no/such/page.html", "no/such")]:
            with self.subTest(arguments):
                output, errors = self.run_program("bench", *arguments.split(), code=1 if "such" in arguments else 2)
                self.assertEqual(output, "")
                self.assertIn(part, errors)
        _, errors = self.run_program("launch", "--workers", 2, "--", BINARY, "bench", "--example", "ring", code=2)
        self.assertIn("without a launcher", errors)


class LaunchedBench(ProgramTest):
    LAUNCH = ["launch", "--workers", 3, "--", BINARY, "bench", "--sizes", "4K", "--repeat", 3]

    def test_is_one_worker_of_the_launchers_world(self):
        output, errors = self.run_program(*self.LAUNCH, "--algorithm", "ring,auto", "--json", "-")
        self.assertEqual([(row["transport"], row["workers"], row["algorithm"], row["wrong"])
                          for row in json.loads(output)["results"]],
                         [("shm", 3, "ring", 0), ("shm", 3, "auto", 0)])
        self.assertEqual(errors, "")

    def test_options_that_contradict_the_launcher_are_refused(self):
        _, errors = self.run_program(*self.LAUNCH, "--workers", 3, code=2)
        self.assertIn("--workers contradicts the launcher", errors)
        _, errors = self.run_program(*self.LAUNCH, "--transport", "thread", code=2)
        self.assertIn("give one, other than thread", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
