"""lockstep launch on several nodes: several launchers on loopback."""
import os
import signal
import time
import unittest

from program import ProgramTest, children_of, free_port


class Nodes(ProgramTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.run_program("launch", "--new-token", "token")

    def node(self, rank, script, *options, workers=1, nodes=2, token="token"):
        return self.start("launch", "--nnodes", nodes, "--node-rank", rank, "--master-addr", "127.0.0.1",
                          "--master-port", self.port, "--token-file", token, "--workers", workers,
                          *options, "--", "sh", "-c", script)

    def test_ranks_are_numbered_across_nodes(self):
        script = ("echo $LOCKSTEP_RANK/$LOCKSTEP_WORLD_SIZE $LOCKSTEP_LOCAL_RANK/$LOCKSTEP_LOCAL_WORLD_SIZE "
                  "$GROUP_RANK $MASTER_ADDR:$MASTER_PORT $LOCKSTEP_RENDEZVOUS")
        nodes = [self.node(rank, script, workers=workers, nodes=3) for rank, workers in ((2, 1), (1, 3), (0, 2))]
        outputs = [self.finish(node, 0)[0] for node in nodes]
        lines = sorted(line.split() for output in outputs for line in output.splitlines())
        self.assertEqual([line[:3] for line in lines],
                         [["0/6", "0/2", "0"], ["1/6", "1/2", "0"], ["2/6", "0/3", "1"], ["3/6", "1/3", "1"],
                          ["4/6", "2/3", "1"], ["5/6", "0/1", "2"]])
        self.assertEqual(len({line[3] for line in lines}), 1, "all know one master")
        self.assertEqual({line[4] for line in lines}, {f"127.0.0.1:{self.port}"})
        self.assertNotEqual(lines[0][3], f"127.0.0.1:{self.port}")

    def test_a_failure_on_one_node_ends_all_and_is_named_by_all(self):
        zero = self.node(0, "exec sleep 1000", "--grace", 0.1, workers=2)
        one = self.node(1, "echo almost; kill -9 $$", "--grace", 0.1)
        for node in (zero, one):
            _, errors = self.finish(node, 128 + 9)
            self.assertRegex(errors, r"lockstep launch: rank 2 \(pid \d+ on \S+\) was ended by signal 9 \(Killed\)")
        self.assertIn("  | almost", errors)

    def test_a_failure_on_node_0_ends_the_others(self):
        one = self.node(1, "exec sleep 1000", "--grace", 0.1)
        zero = self.node(0, "exit 6", "--grace", 0.1)
        for node in (zero, one):
            _, errors = self.finish(node, 6)
            self.assertIn("rank 0 (pid", errors)

    def test_the_cause_is_reported_and_not_its_consequences(self):
        zero = self.node(0, "while [ ! -e dead ]; do sleep 0.01; done; exit 1")
        one = self.node(1, "touch dead; kill -9 $$")
        for node in (zero, one):
            self.assertIn("rank 1", self.finish(node, 128 + 9)[1])

    def test_all_nodes_restart_together(self):
        once = "echo round ${LOCKSTEP_RESTART:-0}; "
        zero = self.node(0, once + "[ ${LOCKSTEP_RESTART:-0} = 2 ] || exec sleep 1000", "--grace", 0.1, "--restarts", 2)
        one = self.node(1, once + "[ ${LOCKSTEP_RESTART:-0} = 2 ] || kill -9 $$", "--grace", 0.1, "--restarts", 2)
        for node in (zero, one):
            output, errors = self.finish(node, 0)
            self.assertEqual(output, "round 0\nround 1\nround 2\n")
            self.assertEqual(errors.count("was ended by signal 9 (Killed)"), 2)
            self.assertIn("starting all workers again (2 of 2)", errors)

    def test_a_launcher_that_returns_has_the_restart_count_of_the_others(self):
        script = "echo round ${LOCKSTEP_RESTART:-0} $LOCKSTEP_RUN; [ ${LOCKSTEP_RESTART:-0} = 1 ] && exit 7; exec sleep 1000"
        zero = self.node(0, script, "--grace", 0.1, "--restarts", 1)
        killed = self.node(1, script, "--grace", 0.1, "--restarts", 1)
        for node in (zero, killed):
            self.wait_for(node, "round 0")
        killed.kill()
        back = self.node(1, script, "--grace", 0.1, "--restarts", 1)
        after = [self.finish(node, 7) for node in (zero, back)]
        self.assertRegex(after[0][0], r"^round 1 [0-9a-f]{32}/1\n$")
        self.assertEqual(after[0][0], after[1][0], "one run, and one count")
        self.assertNotIn("starting all workers again", after[1][1], "there is no restart left")

    def test_a_launcher_killed_at_the_rendezvous_may_be_started_again(self):
        script = "echo $LOCKSTEP_RANK of $LOCKSTEP_WORLD_SIZE"
        zero, killed = (self.node(rank, script, nodes=3) for rank in (0, 1))
        self.assertIn("node 0 waits for node 2 of 3", zero.stderr.readline())  # so node 1 has come
        killed.kill()
        killed.wait()
        back = self.node(1, script, nodes=3)
        self.assertIn("node 1 waits for node 2 of 3", back.stderr.readline())  # so it has its place
        last = self.node(2, script, nodes=3)
        outputs = [self.finish(node, 0)[0] for node in (zero, back, last)]
        self.assertEqual(outputs, ["0 of 3\n", "1 of 3\n", "2 of 3\n"])

    def test_a_launcher_of_an_earlier_run_joins_no_other_run(self):
        zero = self.node(0, "echo here; exec sleep 1000", "--restarts", 5)
        behind = self.node(1, "echo here; exec sleep 1000", "--grace", 0.1, "--restarts", 5)
        for node in (zero, behind):
            self.wait_for(node, "here")
        zero.kill()
        following = self.node(0, "echo next; exec sleep 1000", "--grace", 0.1)
        _, errors = self.finish(behind, 1)
        self.assertRegex(errors, r"the rendezvous at 127.0.0.1:\d+ belongs to run [0-9a-f]{32}, but this process belongs to run "
                                 r"[0-9a-f]{32}, which has ended: a leftover process cannot join another run")
        fresh = self.node(1, "echo next; exec sleep 1000", "--grace", 0.1)
        for node in (following, fresh):
            self.wait_for(node, "next")
        following.send_signal(signal.SIGINT)
        for node in (following, fresh):
            self.finish(node, 128 + signal.SIGINT)

    def test_an_interrupt_ends_all_without_a_restart(self):
        zero = self.node(0, "echo ready; exec sleep 1000", "--grace", 0.1, "--restarts", 2)
        one = self.node(1, "echo ready; exec sleep 1000", "--grace", 0.1, "--restarts", 2)
        for node in (zero, one):
            self.wait_for(node, "ready")
        one.send_signal(signal.SIGINT)
        for node in (zero, one):
            self.assertNotIn("again", self.finish(node, 128 + signal.SIGINT)[1])

    def test_all_launchers_wait_until_all_are_done(self):
        zero = self.node(0, "echo early")
        one = self.node(1, "echo waiting; while [ ! -e go ]; do sleep 0.1; done")
        self.wait_for(zero, "early")
        self.wait_for(one, "waiting")
        self.assertIsNone(zero.poll())
        (self.folder / "go").write_text("")
        self.finish(zero, 0)
        self.finish(one, 0)

    def test_a_killed_launcher_is_named(self):
        zero = self.node(0, "echo here; exec sleep 1000", "--grace", 0.1)
        one = self.node(1, "echo here; exec sleep 1000")
        self.wait_for(zero, "here")
        self.wait_for(one, "here")
        one.kill()
        _, errors = self.finish(zero, 1)
        self.assertRegex(errors, r"lost the launcher of node 1 on \S+: it closed the connection")

    def test_nodes_that_lose_the_rendezvous_end_their_workers(self):
        zero = self.node(0, "echo here; exec sleep 1000")
        one = self.node(1, "echo here; exec sleep 1000", "--grace", 0.1)
        self.wait_for(zero, "here")
        self.wait_for(one, "here")
        zero.kill()
        _, errors = self.finish(one, 1)
        self.assertRegex(errors, "lost the launcher of node 0 at 127.0.0.1")

    def test_an_interrupt_on_one_node_ends_all(self):
        zero = self.node(0, "echo here; exec sleep 1000", "--grace", 0.1)
        one = self.node(1, "echo here; exec sleep 1000", "--grace", 0.1)
        self.wait_for(zero, "here")
        self.wait_for(one, "here")
        os.kill(zero.pid, signal.SIGINT)
        self.finish(zero, 128 + signal.SIGINT)
        _, errors = self.finish(one, 128 + signal.SIGINT)
        self.assertIn("signal 2", errors)

    def test_a_missing_node_is_named(self):
        zero = self.node(0, "true", "--rendezvous-timeout", 0.5)
        _, errors = self.finish(zero, 1)
        self.assertIn(f"node 1 of 2 did not reach the rendezvous at 127.0.0.1:{self.port} within 0.5 s", errors)
        self.assertIn("--node-rank 1", errors)
        self.assertEqual(children_of(zero.pid), [])

    def test_a_missing_master_is_named(self):
        one = self.node(1, "true", "--rendezvous-timeout", 0.5)
        _, errors = self.finish(one, 1)
        self.assertIn(f"127.0.0.1:{self.port}", errors)

    def test_a_wrong_token_is_refused(self):
        self.run_program("launch", "--new-token", "other")
        zero = self.node(0, "true", "--rendezvous-timeout", 5)
        one = self.node(1, "true", "--rendezvous-timeout", 5, token="other")
        _, errors = self.finish(one, 1)
        self.assertIn("token", errors)
        for name in ("token", "other"):
            self.assertNotIn((self.folder / name).read_text().strip(), errors)
        self.finish(zero, 1)

    def test_two_nodes_of_one_rank_are_refused(self):
        until_told = "while [ ! -e told ]; do sleep 0.01; done"  # the run lasts until one is refused
        ones = [self.node(1, until_told), self.node(1, until_told)]
        zero = self.node(0, until_told)
        while all(one.poll() is None for one in ones):
            time.sleep(0.01)
        (self.folder / "told").touch()
        self.finish(zero, 0)
        refused = [one for one in ones if one.wait() != 0]
        self.assertEqual(len(refused), 1)
        self.assertIn("two processes claim to be node 1", self.finish(refused[0], 2)[1])

    def test_launchers_with_different_numbers_of_nodes_are_refused(self):
        zero = self.node(0, "true", "--rendezvous-timeout", 3, nodes=3)
        one = self.node(1, "true", nodes=2)
        self.assertIn("node 0's launcher has --nnodes 3, this one (node 1) has 2", self.finish(one, 2)[1])
        self.finish(zero, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
