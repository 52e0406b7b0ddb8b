"""Ranks on several hosts, between which there is nothing but a network: the hosts are namespaces (hosts.py)."""
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
    """A cluster a test, and launchers on its hosts that run `lockstep bench`."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-network-"))
        self.addCleanup(shutil.rmtree, self.folder)
        subprocess.run([BINARY, "launch", "--new-token", self.folder / "token"], check=True, capture_output=True)

    def launch(self, workers, *bench):
        """One launcher a host, with so many workers each."""
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
        """The launcher's code, and what it and its workers said to standard error."""
        program = self.launchers[host]
        _, errors = program.communicate(timeout=HANGS)
        return program.returncode, errors

    def results(self):
        for host in range(len(self.launchers)):
            code, errors = self.finish(host)
            self.assertEqual((code, errors), (0, ""))
        return json.loads((self.folder / "result.json").read_text())["results"]

    def wait_until_data_flow(self):
        """The ranks are in the middle of their work once the network has carried more than they say before it."""
        for _ in range(10 * HANGS):
            counter = self.cluster.call(0, ["cat", "/sys/class/net/eth0/statistics/tx_bytes"])
            if int(counter) > 20e6:
                return
            time.sleep(0.1)
        self.fail("the ranks never began to work")

    def expect_named_by(self, survivors, lost):
        """All survivors name one of the ranks that are lost."""
        for host, ranks in survivors.items():
            code, errors = self.finish(host)
            self.assertNotEqual(code, 0)
            for rank in ranks:
                self.assertRegex(errors, rf"(?m)^\[{rank}\] .*: rank {lost} \(pid \d+ on \S+\) died")


class Results(NetworkTest):
    def test_of_all_algorithms_are_right_over_gloo(self):
        self.launch([1, 1, 1, 1], "--transport", "gloo", "--algorithm", "all", "--sizes", "4,12K,1M,5M", "--repeat", 1)
        results = self.results()
        self.assertEqual({row["algorithm"] for row in results}, {"ring", "halving-doubling", "tree", "star"})
        self.assertEqual({(row["transport"], row["workers"], row["wrong"]) for row in results}, {("gloo", 4, 0)})

    def test_of_hierarchical_are_right_where_hosts_have_unequally_many_ranks(self):
        self.launch([2, 1, 2], "--algorithm", "all", "--sizes", "4,12K,1M", "--repeat", 1)
        results = self.results()
        self.assertIn("hierarchical", {row["algorithm"] for row in results})
        self.assertEqual({(row["transport"], row["workers"], row["wrong"]) for row in results}, {("shm+gloo", 5, 0)})

    def test_of_hierarchical_are_right_on_lanes(self):
        self.launch([2, 2], "--algorithm", "hierarchical,auto", "--sizes", "4,12K,1M", "--repeat", 1)
        self.assertEqual({(row["transport"], row["workers"], row["wrong"]) for row in self.results()},
                         {("shm+gloo", 4, 0)})

    def test_are_gloos_where_every_host_has_one_rank(self):
        self.launch([1, 1], "--sizes", "4K", "--algorithm", "auto", "--repeat", 1)
        self.assertEqual([row["transport"] for row in self.results()], ["gloo"])


class Losses(NetworkTest):
    def test_a_rank_that_is_killed_is_named_by_all_hosts(self):
        self.launch([2, 1, 2], *ENDLESS)
        self.wait_until_data_flow()
        launcher, = children_of(self.launchers[1].pid)
        victim, = children_of(launcher)
        os.kill(victim, signal.SIGKILL)
        code, errors = self.finish(1)
        self.assertEqual(code, 128 + signal.SIGKILL, errors)
        self.assertRegex(errors, r"rank 2 \(pid \d+ on \S+\) was ended by signal 9")
        self.expect_named_by({0: [0, 1], 2: [3, 4]}, "2")

    def test_a_host_that_vanishes_without_a_word_is_named_by_the_others(self):
        self.launch([2, 1, 2], *ENDLESS)
        self.wait_until_data_flow()
        self.cluster.pull_the_plug(2)
        self.expect_named_by({0: [0, 1], 1: [2]}, "[34]")

    def test_so_is_the_host_of_the_rendezvous(self):
        self.launch([2, 1, 2], *ENDLESS)
        self.wait_until_data_flow()
        self.cluster.pull_the_plug(0)
        self.expect_named_by({1: [2], 2: [3, 4]}, "[01]")


class TakingDown(NetworkTest):
    def test_nothing_is_left_after_a_signal(self):
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

    def test_what_a_killed_one_left_goes_with_the_next(self):
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
