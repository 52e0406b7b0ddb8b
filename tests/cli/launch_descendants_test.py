"""What workers start ends with the run, however the run ends."""
import os
import signal
import subprocess
import time
import unittest

from program import BINARY, HANGS, ProgramTest, clean_environment, stat_of

# Behind: in the background, in a session of its own, of a parent that has ended, and without the environment.
LEAVES_PROCESSES = """
sleep 1000 & echo $! >> pids
setsid sleep 1000 & echo $! >> pids
(setsid sh -c 'echo $$ >> pids; exec sleep 1000' &)
sh -c 'sleep 1000 & echo $! >> pids'
trap '' TERM; sleep 1000 & echo $! >> pids; trap - TERM
"""
LEFT = 5


def runs(process):
    stat = stat_of(process)
    return stat is not None and stat[0] != "Z"


class Descendants(ProgramTest):
    def pids(self, count):
        for _ in range(100 * HANGS):
            path = self.folder / "pids"
            pids = [int(word) for word in path.read_text().split()] if path.exists() else []
            if len(pids) >= count:
                return pids
            time.sleep(0.01)
        self.fail("the workers never started")

    def wait_until_gone(self, pids):
        for _ in range(100 * HANGS):
            if not any(map(runs, pids)):
                return
            time.sleep(0.01)
        self.fail("processes outlived the run")

    def launch(self, script, *options):
        return self.start("launch", *options, "--", "sh", "-c", script)

    def test_end_with_a_run_that_ends_well(self):
        program = self.launch(LEAVES_PROCESSES, "--workers", 2)
        self.finish(program, 0)
        pids = self.pids(2 * LEFT)
        self.assertEqual([pid for pid in pids if runs(pid)], [])

    def test_end_with_a_run_that_fails(self):
        self.finish(self.launch(LEAVES_PROCESSES + "exit 7", "--workers", 1), 7)
        self.assertEqual([pid for pid in self.pids(LEFT) if runs(pid)], [])

    def test_even_without_the_environment(self):
        self.finish(self.launch("(env -i setsid sh -c 'echo $$ >> pids; exec sleep 1000' &) ; sleep 0.1", "--workers", 1), 0)
        self.assertEqual([pid for pid in self.pids(1) if runs(pid)], [])

    def test_end_with_a_launcher_that_is_killed(self):
        program = self.launch(LEAVES_PROCESSES + "echo $$ >> pids; sleep 1000", "--workers", 2)
        pids = self.pids(2 * (LEFT + 1))
        program.kill()
        self.wait_until_gone(pids)

    def test_end_though_their_worker_ended_before_the_launcher_was_killed(self):
        program = self.launch("[ $RANK = 0 ] && { setsid sleep 1000 & echo $! >> pids; exit 0; }\n"
                              "echo $$ >> pids; sleep 1000", "--workers", 2)
        pids = self.pids(2)
        program.kill()
        self.wait_until_gone(pids)

    def test_end_with_the_outer_of_two_launchers(self):
        (self.folder / "worker.sh").write_text(LEAVES_PROCESSES + "echo $$ >> pids; sleep 1000")
        program = self.start("launch", "--workers", 1, "--", BINARY, "launch", "--workers", 1, "--", "sh", "worker.sh")
        pids = self.pids(LEFT + 1)
        program.kill()
        self.wait_until_gone(pids)

    def test_have_a_moment_to_finish_their_work(self):
        self.finish(self.launch("(sleep 0.3; echo done > finished) &", "--workers", 1), 0)
        self.assertEqual((self.folder / "finished").read_text(), "done\n")

    def test_spares_what_was_there_before(self):
        script = f"set -m; sleep 1000 & echo $! > pids; exec {BINARY} launch --workers 1 -- true"
        program = subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=clean_environment(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end, program)
        self.assertEqual(program.wait(HANGS), 0)
        (kept,) = self.pids(1)
        self.assertTrue(runs(kept))
        os.kill(kept, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main(verbosity=2)
