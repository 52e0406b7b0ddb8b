"""Training over a slow network between hosts, which are namespaces (hosts.py)."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import hosts

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import BINARY, HANGS  # noqa: E402  (found by the line above)

WHY_NOT = hosts.why_not()
ELASTIC = ["--limit", 32, "--batch", 16, "--momentum", 0.9, "--trace", 0, "--shards", 4, "--threads", 1, "--transport", "gloo",
           "--iterations", 800]


@unittest.skipIf(WHY_NOT is not None, WHY_NOT)
class Training(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-network-"))
        self.addCleanup(shutil.rmtree, self.folder)
        subprocess.run([BINARY, "launch", "--new-token", self.folder / "token"], check=True, capture_output=True)

    def train(self, count, rate, *options):
        """Trains with one worker on each of `count` hosts; returns the run's summary."""
        with hosts.Cluster(count, rate) as cluster:
            launchers = [cluster.start(
                host, [BINARY, "launch", "--nnodes", count, "--node-rank", host, "--workers", 1, "--master-addr",
                       cluster.address(0), "--token-file", self.folder / "token", "--", BINARY, "train", "--threads", 1,
                       "--run-dir", self.folder / "run", *options],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for host in range(count)]
            for program in launchers:
                output, errors = program.communicate(timeout=HANGS)
                self.assertEqual((program.returncode, errors), (0, ""), output)
        return json.loads((self.folder / "run" / "summary.json").read_text())

    def test_slow_network_is_bound_by_bandwidth(self):
        summary = self.train(2, 2e6, "--limit", 100, "--batch", 16, "--iterations", 20)
        self.assertEqual(summary["transport"], "gloo")
        self.assertEqual(summary["bottleneck"]["kind"], "bandwidth", summary["verdict"])
        self.assertIn("Bandwidth-bound", summary["verdict"])
        self.assertIn("Twice the batch", summary["verdict"])
        self.assertNotIn("shm", summary["verdict"], "hosts share no memory")

    def elastic(self, cluster, host, *options):
        """Two workers on a host of an elastic run."""
        return cluster.start(host, [BINARY, "launch", *options, "--workers", 2, "--token-file", self.folder / "token", "--",
                                    BINARY, "train", *ELASTIC, "--slow", "0:4", "--elastic", "--log-every", 1, "--run-dir",
                                    self.folder / "run"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for(self, program, text):
        for line in program.stdout:
            if text in line:
                return
        self.fail(f"the program never wrote '{text}': {program.stderr.read()}")

    def hash_of(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())["weights_sha256"]

    def test_elastic_run_survives_a_lost_host(self):
        subprocess.run([BINARY, "train", *map(str, ELASTIC), "--workers", "2", "--run-dir", self.folder / "undisturbed"],
                       check=True, capture_output=True)
        with hosts.Cluster(2) as cluster:
            first = self.elastic(cluster, 0, "--elastic", "--master-addr", cluster.address(0), "--master-port", 29500)
            self.wait_for(first, "iteration 5/")
            gone = self.elastic(cluster, 1, "--join", f"{cluster.address(0)}:29500")
            self.wait_for(first, ": 4 workers")
            self.wait_for(first, "iteration ")
            cluster.disconnect(1)
            _, errors = first.communicate(timeout=HANGS)
            self.assertEqual(first.returncode, 0, errors)
            self.assertIn("rank 2 is lost with its launcher, rank 3 is lost with its launcher: continuing after", errors)
            self.assertEqual(self.hash_of("run"), self.hash_of("undisturbed"))
            output, errors = gone.communicate(timeout=HANGS)
            self.assertEqual(gone.returncode, 1, output)
            self.assertIn("lost the rendezvous", errors)


if __name__ == "__main__":
    hosts.close_when_told_to_end()
    unittest.main(verbosity=2)
