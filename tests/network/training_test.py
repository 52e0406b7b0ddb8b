"""A training between hosts, whose network is what limits it: the hosts are namespaces (hosts.py)."""
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

    def test_over_a_slow_network_is_bound_by_bandwidth(self):
        summary = self.train(2, 2e6, "--limit", 100, "--batch", 16, "--iterations", 20)
        self.assertEqual(summary["transport"], "gloo")
        self.assertEqual(summary["bottleneck"]["kind"], "bandwidth", summary["verdict"])
        self.assertIn("Bound by bandwidth", summary["verdict"])
        self.assertIn("Twice the batch", summary["verdict"])
        self.assertNotIn("shm", summary["verdict"], "hosts share no memory")


if __name__ == "__main__":
    hosts.close_when_told_to_end()
    unittest.main(verbosity=2)
