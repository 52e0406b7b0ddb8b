"""lockstep scale: its table, its files and its errors."""
import json
import os
import subprocess
import unittest

from program import BINARY, HANGS, ProgramTest, clean_environment

SMALL = ["--limit", 256, "--epochs", 2, "--run-dir", "run"]
TRAIN = ["--model", "--data", "--data-dir", "--limit", "--threads", "--transport", "--algorithm", "--epochs",
         "--iterations", "--lr", "--seed", "--run-dir", "--log-every", "--json"]


def cells(output):
    """The rows of the table, split into cells."""
    return [line.split() for line in output.splitlines() if line[:1].isdigit() and line.split()[1].isdigit()]


class Scale(ProgramTest):
    def run_scale(self, *arguments):
        output, errors = self.run_program("scale", *SMALL, *arguments)
        self.assertEqual(errors, "")
        return output, json.loads((self.folder / "run" / "summary.json").read_text())

    def test_shows_every_world_size_with_every_batch(self):
        output, result = self.run_scale("--workers", "1,2", "--batches", "16,32")
        self.assertEqual([line for line in output.splitlines() if line.startswith("[")],
                         ["[1/4] 1 worker, 16 each", "[2/4] 2 workers, 16 each",
                          "[3/4] 1 worker, 32 each", "[4/4] 2 workers, 32 each"])
        self.assertIn(result["verdict"], output)
        self.assertEqual((result["format"], result["kind"]), (1, "scale"))
        self.assertIn("scale --limit 256", result["command"])
        self.assertIn('"scaling"', (self.folder / "run" / "report.html").read_text())
        runs = result["runs"]
        self.assertEqual([run["name"] for run in runs], ["w1-b16", "w2-b16", "w1-b32", "w2-b32"])
        table = result["tables"][0]
        self.assertEqual(cells(output), table["rows"] + result["tables"][1]["rows"])
        self.assertLessEqual(set(table["explain"]), set(table["columns"]))
        for run, row in zip(runs, result["tables"][1]["rows"]):
            self.assertEqual(row[4:], [f"{run['train_loss']:.4f}", f"{100 * run['train_accuracy']:.1f}",
                                       f"{100 * run['test_accuracy']:.1f}"])
            self.assertGreater(min(float(cell) for cell in row[2:4]), 0, "both epochs are timed")
            folder = self.folder / "run" / run["folder"]
            alone = json.loads((folder / "summary.json").read_text())
            self.assertEqual(alone["weights_sha256"], run["weights_sha256"])
            self.assertEqual(run["global_batch"], run["batch"] * run["workers"])
            self.assertEqual(run["iterations"], 2 * 256 // run["global_batch"])
            self.assertEqual(run["threads"], runs[0]["threads"], "every worker has the same number of threads")

    def test_several_servers_are_at_most_as_many_as_workers(self):
        self.run_scale("--sync", "server", "--servers", 2, "--workers", "1,2", "--batches", 64)
        servers = [json.loads((self.folder / "run" / run / "config.json").read_text())["servers"]
                   for run in ("w1-b64", "w2-b64")]
        self.assertEqual(servers, [1, 2])
        _, errors = self.run_program("scale", "--sync", "server", "--servers", 3, "--workers", "1,2", code=2)
        self.assertIn("--servers is 3: it must be from 1 to 2, the number of workers", errors)

    def test_speedup_and_efficiency_follow_from_the_times(self):
        _, result = self.run_scale("--workers", "1,2", "--batches", "32")
        one, two = result["scaling"]["points"]
        self.assertEqual((one["speedup"], one["efficiency"]), (1, 1))
        self.assertAlmostEqual(two["speedup"], one["seconds_per_epoch"] / two["seconds_per_epoch"])
        self.assertAlmostEqual(two["efficiency"], two["speedup"] / 2)
        self.assertIsNone(one["bandwidth_share"])
        self.assertIsNone(one["bandwidth_mbs"])
        self.assertGreater(two["bandwidth_share"], 0)
        run = result["runs"][1]
        self.assertAlmostEqual(run["bandwidth_mbs"] / run["bench_bandwidth_mbs"], run["bandwidth_share"])
        for part in ("compute", "communication"):
            self.assertAlmostEqual(two[f"{part}_seconds"], run[f"{part}_share"] * two["seconds_per_epoch"])

    def test_weak_keeps_the_images_of_each_worker(self):
        _, result = self.run_scale("--workers", "1,2", "--batches", "32", "--weak", "--transport", "thread")
        self.assertTrue(result["scaling"]["weak"])
        self.assertEqual([run["images"] for run in result["runs"]], [128, 256])
        self.assertEqual([run["iterations"] for run in result["runs"]], [8, 8])
        one, two = result["scaling"]["points"]
        self.assertAlmostEqual(two["efficiency"], one["seconds_per_epoch"] / two["seconds_per_epoch"])

    def test_oversubscribed_runs_are_marked(self):
        cores = len(os.sched_getaffinity(0))
        output, result = self.run_scale("--workers", f"1,{cores + 1}", "--batches", "8", "--threads", 1)
        self.assertEqual([row[0] for row in cells(output.replace("*", ""))][:2], ["1", str(cores + 1)])
        self.assertIn(f"\n{cores + 1}*", output)
        self.assertEqual([run["oversubscribed"] for run in result["runs"]], [False, True])
        self.assertIn("overhead, not speed-up", result["verdict"])

    def test_all_methods_share_the_run_of_one_worker(self):
        output, result = self.run_scale("--workers", "1,2", "--batches", "32", "--methods", "ring,ddp+topk:0.1")
        self.assertEqual([run["name"] for run in result["runs"]], ["w1-b32", "w2-b32-ring", "w2-b32-ddp+topk:0.1"])
        self.assertIn("[2/3] 2 workers, 32 each, ring", output)
        self.assertEqual([(point["workers"], point["method"]) for point in result["scaling"]["points"]],
                         [(1, "ring"), (1, "ddp+topk:0.1"), (2, "ring"), (2, "ddp+topk:0.1")])
        _, ring, compressed = result["runs"]
        self.assertGreater(ring["bandwidth_share"], 0)
        self.assertIsNone(compressed["bandwidth_share"])  # bench does not compress
        self.assertLess(compressed["bytes_per_iteration"], ring["bytes_per_iteration"] / 4)

    def test_without_one_worker_the_fewest_workers_are_the_baseline(self):
        output, result = self.run_scale("--workers", "3,2", "--batches", "16", "--transport", "thread")
        self.assertEqual([(run["workers"], run["speedup"] == 1) for run in result["runs"]], [(2, True), (3, False)])
        self.assertIn("relative to 2 workers", output)

    def test_the_time_of_an_epoch_is_extrapolated_from_iterations(self):
        output, errors = self.run_program("scale", "--workers", 1, "--batches", 10, "--limit", 100, "--iterations", 4,
                                          "--run-dir", "run", "--json", "-")
        run, = json.loads(output)["runs"]
        self.assertEqual(run["iterations"], 4)
        times = run["seconds_per_iteration"]
        self.assertAlmostEqual(run["seconds_per_epoch"], (3 * times["mean"] + times["p50"]) * 100 / 40)
        self.assertEqual(errors, "")

    def test_a_failed_run_fails_the_study(self):
        _, errors = self.run_program("scale", *SMALL, "--workers", 2, "--batches", 8, "--init", "nowhere",
                                     code=1)
        self.assertIn("nowhere", errors)
        self.assertFalse((self.folder / "run" / "summary.json").exists())


class Usage(ProgramTest):
    def test_help_names_the_options(self):
        self.expect_help("scale", [*TRAIN, "--workers", "--batches", "--methods", "--sync", "--weak", "--hosts", "--bandwidth",
                                     "--latency"])
        self.assertNotRegex(self.run_program("scale", "--help")[0], r"(?m)^  --batch ")

    def test_invalid_options_are_refused(self):
        for arguments, part in {"--workers 0": "--workers has 0", "--workers 1,2,1": "--workers names 1 twice",
                                "--workers 1,two": "--workers", "--batches 3,x": "--batches", "--batches 0": "--batches has 0",
                                "--batches 8,8": "--batches names 8 twice", "--methods ddp,snail": "snail", "--methods ring+float16": "leave it out with --sync ring",
                                "--methods ring --sync ddp": "leave one of them out",
                                "--model vgg11 --data mnist": "use data like cifar10",
                                "--sync ring --algorithm tree": "contradicts", "--epochs 0": "nothing to train"}.items():
            self.expect_refused(f"scale {arguments}", part)

    def test_invalid_hosts_are_refused(self):
        for arguments, part in {"--hosts 0": "--hosts", "--hosts 2 --bandwidth 1gb": "--bandwidth is '1gb': write a number and",
                                "--hosts 2 --latency 5": "--latency is '5'", "--bandwidth 1gbit": "applies to the links between hosts: give --hosts",
                                "--hosts 2 --transport shm": "leave out --transport",
                                "--hosts 2 --workers 1,4": "--workers has 4, but --hosts is 2"}.items():
            self.expect_refused(f"scale {arguments}", part)

    def test_hosts_are_for_root_only(self):
        if os.geteuid() != 0:
            return self.expect_refused("scale --hosts 2", "only root may create hosts")
        os.chmod(self.folder, 0o777)
        done = subprocess.run([BINARY, "scale", "--hosts", "2"], cwd=self.folder, env=clean_environment(), user=65534,
                              capture_output=True, text=True, timeout=HANGS)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("only root may create hosts", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_too_few_images_are_an_error_with_a_remedy(self):
        self.expect_refused("scale --workers 1,4 --batches 512 --limit 2000",
                            "4 workers with 512 images each need 2048 images per step, but an epoch has 2000. Use smaller")
        self.expect_refused("scale --workers 1,4 --batches 512 --model resnet18 --data cifar10",
                            "--data synthetic:3x32x32,train=2048")


if __name__ == "__main__":
    unittest.main(verbosity=2)
