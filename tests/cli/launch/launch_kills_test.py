"""Launchers of two nodes, killed at any moment: no process hangs, and none is left behind."""
import os
import random
import signal
import time
import unittest

from program import BINARY, HANGS, ProgramTest, free_port, processes

ROUNDS = 30


def segments():
    """Lockstep's files in /dev/shm, which other programs may use too."""
    return {name for name in os.listdir("/dev/shm") if "lockstep" in name}


class RandomKills(ProgramTest):
    def node(self, rank, port):
        return self.start("launch", "--nnodes", 2, "--node-rank", rank, "--master-addr", "127.0.0.1", "--master-port",
                          port, "--token-file", "token", "--rendezvous-timeout", 20, "--workers", 2, "--grace", 5,
                          "--transport", "shm+gloo", "--", BINARY, "bench", "--sizes", "64K", "--repeat", 1000000)

    def expect_nothing_left(self, programs, before):
        """Waits for the workers of a killed launcher, which end a moment after it."""
        sessions = {program.pid for program in programs}
        for _ in range(10 * HANGS):
            left = [process for process, _, session, _ in processes() if session in sessions]
            if not left:
                break
            time.sleep(0.1)
        self.assertEqual(left, [], "processes outlived their launcher")
        self.assertEqual(segments() - before, set())

    def test_long_leave_nothing_behind(self):
        seed = int(os.environ.get("LOCKSTEP_TEST_SEED", random.randrange(10**6)))
        chance = random.Random(seed)
        self.run_program("launch", "--new-token", "token")
        for round_number in range(ROUNDS):
            with self.subTest(seed=seed, round=round_number):
                before = segments()
                port = free_port()
                nodes = [self.node(rank, port) for rank in (0, 1)]
                time.sleep(chance.uniform(0, 2))
                victim = chance.choice(nodes)
                victim.send_signal(chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
                for node in nodes:
                    node.communicate(timeout=HANGS)
                    self.assertNotEqual(node.returncode, 0)
                self.expect_nothing_left(nodes, before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
