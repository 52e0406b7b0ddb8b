"""lockstep predict on the command line: tables, JSON, the page, fits, simulations, and usage errors."""
import json
import pathlib
import re
import time
import unittest

from program import ProgramTest, children_of, stat_of

OPTIONS = ["--fit", "--run", "--network", "--workers", "--methods", "--bucket-mb", "--ranks-per-host", "--worth",
           "--slow-rank", "--jitter", "--simulate", "--topology", "--simulate-up-to", "--slow-link", "--check", "--op", "--sizes",
           "--html", "--json"]
FIELDS = {"workers", "method", "sync", "algorithm", "network", "seconds_per_iteration", "exposed_communication",
          "efficiency", "simulated"}
VGG16 = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results" / "horovod" / "vgg16.json"


class Predict(ProgramTest):
    def record(self):
        """The folder of a run of one worker."""
        self.run_program("train", "--workers", 1, "--threads", 1, "--limit", 64, "--batch", 16, "--run-dir", "run")

    def predictions(self, *arguments):
        output, errors = self.run_program("predict", *arguments, "--json", "-")
        self.assertEqual(errors, "")
        return json.loads(output)["predictions"]

    def test_help_names_every_option(self):
        self.expect_help("predict", OPTIONS)

    def test_a_recorded_run_becomes_a_curve(self):
        self.record()
        output, errors = self.run_program("predict", "--run", "run", "--network", "1gbit", "--workers", "1,2,1024",
                                          "--json", "found.json")
        self.assertEqual(errors, "")
        self.assertRegex(output, r"(?m)^ddp +1024 +formula ")
        self.assertIn("workers over 1gbit, ", output)
        found = json.loads((self.folder / "found.json").read_text())
        rows = found["predictions"]
        self.assertEqual({row["method"] for row in rows} >= {"gather-scatter", "ring", "tree", "ddp", "ddp+float16"}, True)
        for row in rows:
            self.assertLessEqual(FIELDS, set(row))
            self.assertFalse(row["simulated"])
            if row["workers"] == 1:
                self.assertAlmostEqual(row["efficiency"], 1)
                self.assertEqual(row["exposed_communication"], 0)
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        alone = next(row["seconds_per_iteration"] for row in rows if row["workers"] == 1)
        self.assertLess(alone, 3 * summary["seconds_per_iteration"]["p90"] + 1e-3)
        page = (self.folder / "run" / "predict.html").read_text()
        self.assertIn('"predictions"', page)
        self.assertIn("Crossovers between methods", page)

    def test_a_described_step_replaces_a_run(self):
        rows = self.predictions("--run", VGG16, "--network", "25gbit", "--workers", "1,512", "--methods", "ring,ddp")
        by_method = {row["method"]: row for row in rows if row["workers"] == 512}
        self.assertLess(by_method["ddp"]["seconds_per_iteration"], by_method["ring"]["seconds_per_iteration"])
        self.assertTrue((self.folder / "predict.html").exists())

    def test_simulations_stand_beside_the_formulas(self):
        rows = self.predictions("--run", VGG16, "--network", "10gbit", "--workers", "4,16", "--methods", "tree,p2p",
                                "--simulate", "--simulate-up-to", 4)
        simulated = [row for row in rows if row["simulated"]]
        self.assertEqual([(row["method"], row["workers"]) for row in simulated], [("tree", 4)])
        formula = next(row for row in rows if row["method"] == "tree" and row["workers"] == 4)
        self.assertAlmostEqual(simulated[0]["seconds_per_iteration"] / formula["seconds_per_iteration"], 1, delta=0.05)

    def test_an_interrupted_simulation_leaves_no_process(self):
        room = self.folder / "tmp"
        room.mkdir()
        program = self.start("predict", "--run", VGG16, "--workers", "1024", "--methods", "ring", "--simulate",
                             variables={"TMPDIR": str(room)})
        while not (simulation := children_of(program.pid)):
            self.assertIsNone(program.poll())
        program.terminate()
        program.communicate()
        self.assertEqual(list(room.iterdir()), [])
        for _ in range(3000):
            if (stat_of(simulation[0]) or "Z")[0] == "Z":
                return
            time.sleep(0.01)
        self.fail("the simulation was not interrupted")

    def test_collectives_alone(self):
        output, _ = self.run_program("predict", "--network", "alpha=20us,bandwidth=8gbit", "--workers", "8",
                                     "--sizes", "64K")
        self.assertRegex(output, r"(?m)^8 +64K +halving-doubling ")
        self.assertIn("naive:", output)

    def test_every_collective_has_its_table(self):
        for op, algorithms in [("reduce", "tree star"), ("broadcast", "tree star"), ("all-gather", "ring"), ("gather", "auto"),
                               ("reduce-scatter", "ring halving-doubling"), ("scatter", "auto"), ("barrier", "auto")]:
            output, _ = self.run_program("predict", "--op", op, "--workers", "4,4", "--sizes", "1M")
            self.assertEqual(re.findall(r"(?m)^4 +(?:1M|0) +(\S+) +[0-9.]+$", output), algorithms.split(), op)
            self.assertNotIn("naive", output)

    def test_hosts_with_several_ranks_can_be_hierarchical(self):
        output, _ = self.run_program("predict", "--workers", "8", "--ranks-per-host", 4, "--sizes", "36M")
        seconds = dict(re.findall(r"(?m)^8 +36M +(\S+) +([0-9.]+)", output))
        self.assertLess(float(seconds["hierarchical"]), float(seconds["ring"]))
        for used in re.findall(r"(?m)^8 +36M +\S+ +[0-9.]+ +([0-9.]+)", output):
            self.assertLessEqual(float(used), 100)
        output, _ = self.run_program("predict", "--workers", "4", "--ranks-per-host", 4, "--sizes", "36M")
        self.assertRegex(output, r"(?m)^4 +36M +ring +[0-9.]+ +- +- +-")

    def test_methods_by_an_algorithm(self):
        rows = self.predictions("--run", VGG16, "--workers", "64", "--methods", "ddp:tree,ddp:ring,ddp:ring+float16")
        seconds = {row["method"]: row["seconds_per_iteration"] for row in rows}
        self.assertEqual([row["algorithm"] for row in rows], ["tree", "ring", "ring"])
        self.assertLess(seconds["ddp:ring"], seconds["ddp:tree"])
        self.assertLess(seconds["ddp:ring+float16"], seconds["ddp:ring"])

    def test_a_fit_is_kept_and_used(self):
        output, _ = self.run_program("predict", "--fit", "thread")
        self.assertRegex(output, r"(?m)^all_reduce +direct +4 +1M ")
        self.assertIn("median error", output)
        output, _ = self.run_program("predict", "--network", "thread", "--workers", "2", "--sizes", "1M")
        self.assertRegex(output, r"(?m)^2 +1M +direct +[0-9.]+ +- +- +-")

    def test_bad_usage_is_refused(self):
        for arguments, part in [
                ("--network 3gbit", "choose from 1gbit, 10gbit"),
                ("--network alpha=20us,bandwidth=0gbit", "more than 0"),
                ("--network alpha=20us,bandwidth=-10gbit", "more than 0"),
                ("--network gloo", "--fit gloo"),
                ("--run nowhere", "not the folder of a run"),
                ("--json -", "--run"),
                ("--fit thread --json -", "--run"),
                ("--simulate", "--run"),
                ("--methods ddp", "--run"),
                ("--worth 0.2", "--run"),
                ("--slow-rank 2", "--run"),
                ("--fit thread --workers 4", "--fit"),
                ("--check --json -", "--check"),
                ("--check --workers 4", "--check"),
                ("--check --run x --slow-rank 2", "--check"),
                ("--network shm --ranks-per-host 4", "one host"),
                ("--check --sizes 1M", "--check"),
                ("--op send", "all_reduce"),
                ("--workers 6 --ranks-per-host 4", "6 workers do not fill hosts of 4"),
                (f"--run {VGG16} --sizes 1M", "--run"),
                (f"--run {VGG16} --methods p2p:tree", "p2p"),
                (f"--run {VGG16} --methods ddp:magic", "magic"),
                (f"--run {VGG16} --ranks-per-host 0", "--ranks-per-host"),
                ("--fit pigeons", "pigeons"),
                ("--slow-link 2", "--simulate"),
                ("--topology torus", "--simulate"),
                (f"--run {VGG16} --workers 2 --simulate --topology torus", "torus"),
                (f"--run {VGG16} --workers 6 --ranks-per-host 4", "6 workers do not fill hosts of 4"),
                (f"--run {VGG16} --workers 0", "--workers has 0"),
                (f"--run {VGG16} --methods magic", "magic"),
                (f"--run {VGG16} --worth 2", "--worth"),
                (f"--run {VGG16} --jitter 2", "--jitter"),
                (f"--run {VGG16} --workers 4096 --methods ddp --simulate --simulate-up-to 4096 --topology dragonfly "
                 "--html p.html", "places for 1024")]:
            with self.subTest(arguments=arguments):
                self.expect_refused(f"predict {arguments}", part)


if __name__ == "__main__":
    unittest.main()
