"""lockstep compare and lockstep bench: their tables and their JSON."""
import json
import unittest

from program import ProgramTest

METHODS = {"gather-scatter", "p2p", "all-reduce", "ring", "ddp"}


class Compare(ProgramTest):
    def test_shows_that_all_methods_end_with_the_weights_of_one_worker(self):
        output, errors = self.run_program("compare", "--epochs", 2, "--workers", 2, "--run-dir", "run")
        rows = {line.split()[0]: line.split() for line in output.splitlines() if line.endswith(" equal")}
        workers = {name: row[1] for name, row in rows.items()}
        self.assertEqual(workers.pop("alone"), "1")
        self.assertLessEqual(METHODS, set(workers))
        self.assertEqual(set(workers.values()), {"2"})
        self.assertIn("All methods end with the same weights as one worker alone", output)
        self.assertEqual(errors, "")

        runs = json.loads((self.folder / "run" / "summary.json").read_text())["runs"]
        self.assertEqual([run["method"] for run in runs], ["ddp", *workers])
        for run in runs:
            self.assertEqual(run["iterations"], 14)
            self.assertLess(run["weights_difference"], 1e-6)
        for name in rows:
            self.assertTrue((self.folder / "run" / name / "summary.json").is_file(), name)

    def test_writes_nothing_but_json_when_asked_to(self):
        output, errors = self.run_program("compare", "--epochs", 1, "--workers", 2, "--methods", "p2p,ddp", "--run-dir",
                                          "run", "--transport", "thread", "--json", "-")
        self.assertEqual([run["method"] for run in json.loads(output)["runs"]], ["ddp", "p2p", "ddp"])
        self.assertEqual(errors, "")

    def test_a_run_that_fails_fails_the_comparison(self):
        output, errors = self.run_program("compare", "--workers", 2, "--data-dir", "nowhere", "--run-dir", "run",
                                          code=1)
        self.assertIn("nowhere", errors)
        self.assertFalse((self.folder / "run" / "summary.json").exists())


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

    def test_broadcasts_too(self):
        output, _ = self.run_program(*self.SMALL, "--op", "broadcast", "--json", "-")
        results = json.loads(output)["results"]
        self.assertGreaterEqual(len(results), 12)
        for row in results:
            self.assertEqual((row["op"], row["wrong"]), ("broadcast", 0))
            self.assertEqual(row["busbw_gbs"], row["algbw_gbs"])

    def test_prints_a_line_a_result(self):
        output, errors = self.run_program("bench", "--sizes", "4K", "--workers", 2, "--repeat", 3, "--transport",
                                          "thread", "--algorithm", "ring,star", "--json", "result.json")
        header, *rows = output.splitlines()
        self.assertIn("busbw GB/s", header)
        self.assertEqual([row.split()[:5] for row in rows],
                         [["all-reduce", "thread", "ring", "2", "4096"], ["all-reduce", "thread", "star", "2", "4096"]])
        self.assertEqual(len(json.loads((self.folder / "result.json").read_text())["results"]), 2)
        self.assertEqual(errors, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
