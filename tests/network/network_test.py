"""Ranks on several hosts that are connected only by a network: the hosts are namespaces (hosts.py)."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import hosts

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from program import BINARY, HANGS, children_of  # noqa: E402  (found by the line above)

WHY_NOT = hosts.why_not()
ENDLESS = ["--sizes", "1M", "--repeat", 1000000]


@unittest.skipIf(WHY_NOT is not None, WHY_NOT)
class NetworkTest(unittest.TestCase):
    """One cluster per test, with launchers on its hosts that run `lockstep bench`."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-network-"))
        self.addCleanup(shutil.rmtree, self.folder)
        subprocess.run([BINARY, "launch", "--new-token", self.folder / "token"], check=True, capture_output=True)

    def launch(self, workers, *bench):
        """Starts one launcher per host, with these numbers of workers."""
        self.cluster = hosts.Cluster(len(workers))
        self.addCleanup(self.cluster.close)
        self.launchers = [self.cluster.start(
            host, [BINARY, "launch", "--nnodes", len(workers), "--node-rank", host, "--workers", count,
                   "--master-addr", self.cluster.address(0), "--token-file", self.folder / "token", "--prefix",
                   "--", BINARY, "bench", "--json", self.folder / "result.json", *bench],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for host, count in enumerate(workers)]
        for program in self.launchers:
            self.addCleanup(program.stdout.close)
            self.addCleanup(program.stderr.close)

    def finish(self, host):
        """The launcher's exit code, and the standard error of the launcher and its workers."""
        program = self.launchers[host]
        _, errors = program.communicate(timeout=HANGS)
        return program.returncode, errors

    def results(self):
        for host in range(len(self.launchers)):
            code, errors = self.finish(host)
            self.assertEqual((code, errors), (0, ""))
        return json.loads((self.folder / "result.json").read_text())["results"]

    def wait_until_data_flow(self):
        """Waits until the network has carried more bytes than the ranks need to connect."""
        for _ in range(10 * HANGS):
            counter = self.cluster.call(0, ["cat", "/sys/class/net/eth0/statistics/tx_bytes"])
            if int(counter) > 20e6:
                return
            time.sleep(0.1)
        self.fail("the ranks never started to exchange data")

    def expect_named_by(self, survivors, lost):
        """Expects that all survivors name one of the lost ranks."""
        for host, ranks in survivors.items():
            code, errors = self.finish(host)
            self.assertNotEqual(code, 0)
            for rank in ranks:
                self.assertRegex(errors, rf"(?m)^\[{rank}\] .*: rank {lost} \(pid \d+ on \S+\) died")


class Results(NetworkTest):
    def test_all_algorithms_are_correct_over_gloo(self):
        self.launch([1, 1, 1, 1], "--transport", "gloo", "--algorithm", "all", "--sizes", "4,12K,1M,5M", "--repeat", 1)
        results = self.results()
        self.assertEqual({row["algorithm"] for row in results}, {"ring", "halving-doubling", "tree", "star"})
        self.assertEqual({(row["transport"], row["workers"], row["wrong"]) for row in results}, {("gloo", 4, 0)})

    def test_hierarchical_is_correct_with_unequal_hosts(self):
        self.launch([2, 1, 2], "--algorithm", "all", "--sizes", "4,12K,1M", "--repeat", 1)
        results = self.results()
        self.assertIn("hierarchical", {row["algorithm"] for row in results})
        self.assertEqual({(row["transport"], row["workers"], row["wrong"]) for row in results}, {("shm+gloo", 5, 0)})

    def test_hierarchical_is_correct_with_equal_hosts(self):
        self.launch([2, 2], "--algorithm", "hierarchical,auto", "--sizes", "4,12K,1M", "--repeat", 1)
        self.assertEqual({(row["transport"], row["workers"], row["wrong"]) for row in self.results()},
                         {("shm+gloo", 4, 0)})

    def test_one_rank_per_host_uses_gloo(self):
        self.launch([1, 1], "--sizes", "4K", "--algorithm", "auto", "--repeat", 1)
        self.assertEqual([row["transport"] for row in self.results()], ["gloo"])


class LostRanks(NetworkTest):
    def test_killed_rank_is_named_by_all_hosts(self):
        self.launch([2, 1, 2], *ENDLESS)
        self.wait_until_data_flow()
        launcher, = children_of(self.launchers[1].pid)
        victim, = children_of(launcher)
        os.kill(victim, signal.SIGKILL)
        code, errors = self.finish(1)
        self.assertEqual(code, 128 + signal.SIGKILL, errors)
        self.assertRegex(errors, r"rank 2 \(pid \d+ on \S+\) was ended by signal 9")
        self.expect_named_by({0: [0, 1], 2: [3, 4]}, "2")

    def test_disconnected_host_is_named_by_the_others(self):
        self.launch([2, 1, 2], *ENDLESS)
        self.wait_until_data_flow()
        self.cluster.disconnect(2)
        self.expect_named_by({0: [0, 1], 1: [2]}, "[34]")

    def test_disconnected_rendezvous_host_is_named_by_the_others(self):
        self.launch([2, 1, 2], *ENDLESS)
        self.wait_until_data_flow()
        self.cluster.disconnect(0)
        self.expect_named_by({1: [2], 2: [3, 4]}, "[01]")


class Cleanup(NetworkTest):
    def test_signal_leaves_no_namespaces(self):
        script = ("import hosts; hosts.close_when_told_to_end(); cluster = hosts.Cluster(2); "
                  "cluster.start(1, ['sleep', 1000]); print('made', flush=True); cluster.processes[0].wait()")
        for number in (signal.SIGTERM, signal.SIGINT):
            program = subprocess.Popen([sys.executable, "-B", "-c", script], text=True, cwd=HERE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.addCleanup(program.stdout.close)
            self.assertEqual(program.stdout.readline(), "made\n")
            self.assertEqual(len(hosts.namespaces_of(program.pid)), 3)
            program.send_signal(number)
            self.assertNotEqual(program.wait(), 0)
            self.assertEqual(hosts.namespaces_of(program.pid), [])

    def test_leftovers_of_a_killed_process_are_removed(self):
        script = "import hosts; cluster = hosts.Cluster(1); print('made', flush=True); input()"
        program = subprocess.Popen([sys.executable, "-B", "-c", script], cwd=HERE, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.stdin.close)
        self.assertEqual(program.stdout.readline(), "made\n")
        program.kill()
        program.wait()
        self.assertEqual(len(hosts.namespaces_of(program.pid)), 2)
        hosts.remove_leftovers()
        self.assertEqual(hosts.namespaces_of(program.pid), [])


if __name__ == "__main__":
    hosts.close_when_told_to_end()
    unittest.main(verbosity=2)
