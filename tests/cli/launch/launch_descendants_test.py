"""Processes that workers start end with the run, however the run ends."""
import contextlib
import os
import pathlib
import signal
import subprocess
import time
import unittest

from program import BINARY, HANGS, ProgramTest, children_of, clean_environment, runs, stat_of

# Behind: in the background, in a session of its own, of a parent that has ended, and without the environment.
LEAVES_PROCESSES = """
sleep 1000 & echo $! >> pids
setsid sleep 1000 & echo $! >> pids
(setsid sh -c 'echo $$ >> pids; exec sleep 1000' &)
sh -c 'sleep 1000 & echo $! >> pids'
trap '' TERM; sleep 1000 & echo $! >> pids; trap - TERM
"""
LEFT = 5


# As root of a machine does; others may not be allowed to.
NO_PROC = ["unshare", "--mount", "sh", "-c", 'umount -l /proc; exec "$0" "$@"']
AS_FIRST_PROCESS = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


def can(command):
    """Whether this user may run programs in this way."""
    return subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode == 0


def kill_if_there(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


class DescendantsTest(ProgramTest):
    def start_by(self, command):
        """Starts a command that becomes or starts the program, in a session that ends with the test."""
        program = subprocess.Popen(command, cwd=self.folder, env=clean_environment(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end, program)
        return program

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


class Descendants(DescendantsTest):
    def test_end_with_a_run_that_succeeds(self):
        program = self.launch(LEAVES_PROCESSES, "--workers", 2)
        self.finish(program, 0)
        pids = self.pids(2 * LEFT)
        self.assertEqual([pid for pid in pids if runs(pid)], [])

    def test_end_with_a_run_that_fails(self):
        self.finish(self.launch(LEAVES_PROCESSES + "exit 7", "--workers", 1), 7)
        self.assertEqual([pid for pid in self.pids(LEFT) if runs(pid)], [])

    def test_end_without_the_environment(self):
        self.finish(self.launch("(env -i setsid sh -c 'echo $$ >> pids; exec sleep 1000' &) ; sleep 0.1", "--workers", 1), 0)
        self.assertEqual([pid for pid in self.pids(1) if runs(pid)], [])

    def test_end_with_a_launcher_that_is_killed(self):
        program = self.launch(LEAVES_PROCESSES + "echo $$ >> pids; sleep 1000", "--workers", 2)
        pids = self.pids(2 * (LEFT + 1))
        program.kill()
        self.wait_until_gone(pids)

    def test_end_if_their_worker_ended_before_the_launcher_was_killed(self):
        program = self.launch("[ $RANK = 0 ] && { setsid sleep 1000 & echo $! >> pids; exit 0; }\n"
                              "echo $$ >> pids; sleep 1000", "--workers", 2)
        pids = self.pids(2)
        program.kill()
        self.wait_until_gone(pids)

    def test_end_if_only_the_process_group_of_an_ended_worker_identifies_them(self):
        program = self.launch("[ $RANK = 0 ] && { env -i sleep 1000 & echo $$ > zero; echo $! >> pids; exit 0; }\n"
                              "echo $$ >> pids; sleep 1000", "--workers", 2)
        pids = self.pids(2)
        while stat_of(int((self.folder / "zero").read_text())):  # until the launcher has collected rank 0
            time.sleep(0.01)
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

    @unittest.skipUnless(can(NO_PROC), "needs a mount namespace")
    def test_end_without_proc(self):
        script = "sleep 1000 & echo $! >> pids; [ $RANK = 0 ] || sleep 1000"
        self.finish(self.start_by([*NO_PROC, BINARY, "launch", "--workers", "1", "--", "sh", "-c", script]), 0)
        self.assertEqual([pid for pid in self.pids(1) if runs(pid)], [])
        program = self.start_by([*NO_PROC, BINARY, "launch", "--workers", "2", "--", "sh", "-c", script])
        pids = self.pids(3)
        program.kill()
        self.wait_until_gone(pids)


class Others(DescendantsTest):
    """Processes that a launcher sees, but that do not belong to its run."""

    def expect_spared(self, process):
        self.addCleanup(kill_if_there, process)
        self.assertTrue(runs(process))

    def test_earlier_processes_are_spared(self):
        script = f"set -m; sleep 1000 & echo $! > pids; exec {BINARY} launch --workers 1 -- true"
        self.assertEqual(self.start_by(["bash", "-c", script]).wait(HANGS), 0)
        self.expect_spared(*self.pids(1))

    def test_orphans_of_earlier_processes_are_spared(self):
        script = ("set -m; (while [ ! -e ready ]; do sleep 0.01; done; setsid sleep 1000 & echo $! > pids) & "
                  f"exec {BINARY} launch --workers 1 -- sh -c "
                  "'setsid sleep 1000 & echo $! > left; touch ready; while [ ! -s pids ]; do sleep 0.01; done'")
        self.assertEqual(self.start_by(["bash", "-c", script]).wait(HANGS), 0)
        self.expect_spared(*self.pids(1))
        self.assertFalse(runs(int((self.folder / "left").read_text())), "a worker has left it")

    @unittest.skipUnless(can(AS_FIRST_PROCESS), "needs a process namespace")
    def test_processes_that_enter_the_launchers_container_are_spared(self):
        script = ("setsid sleep 1000 & [ -n \"$LOCKSTEP_RESTART\" ] && { echo again > again; sleep 1000; }; touch ready; "
                  "while [ ! -s pids ]; do sleep 0.01; done; exit 5")
        outside = self.start_by([*AS_FIRST_PROCESS, BINARY, "launch", "--workers", "1", "--restarts", "1", "--", "sh", "-c",
                                 script])
        while not (self.folder / "ready").exists():
            time.sleep(0.01)
        (launcher,) = children_of(outside.pid)
        subprocess.run(["nsenter", "--target", str(launcher), "--pid", "sh", "-c",
                        "(setsid sleep 1000 & echo $! > pids.new); mv pids.new pids"], cwd=self.folder, check=True)
        while not (self.folder / "again").exists():
            self.assertIsNone(outside.poll())
            time.sleep(0.01)
        inside = pathlib.Path(f"/proc/{launcher}/root/proc/{self.pids(1)[0]}/cmdline")
        self.assertEqual(inside.read_bytes(), b"sleep\x001000\x00")

    def test_processes_that_only_quote_the_mark_are_spared(self):
        program = self.launch("echo $LOCKSTEP_LAUNCHERS > mark; echo $$ >> pids; sleep 1000", "--workers", 1)
        pids = self.pids(1)
        mark = (self.folder / "mark").read_text().strip()
        quoting = subprocess.Popen(["sleep", "1000"], env={**clean_environment(), "NOTE": f"LOCKSTEP_LAUNCHERS={mark}"})
        marked = subprocess.Popen(["sleep", "1000"], env={**clean_environment(), "LOCKSTEP_LAUNCHERS": f"outer:{mark}"})
        self.addCleanup(quoting.wait)
        self.addCleanup(quoting.kill)
        self.addCleanup(marked.kill)
        program.kill()
        self.wait_until_gone([*pids, marked.pid])
        marked.wait()
        self.assertIsNone(quoting.poll())


class NestedLaunch(ProgramTest):
    def inner(self, *options, script="echo restart ${LOCKSTEP_RESTART:-none}, elastic ${LOCKSTEP_ELASTIC:-none}"):
        return self.run_program("launch", "--workers", 1, *options, "--", "sh", "-c",
                                '[ -e again ] || [ "$0" = elastic ] || { touch again; exit 3; }; '
                                f'exec {BINARY} launch --workers 1 -- sh -c "$1"', options[0].strip("-"), script)[0]

    def test_does_not_report_the_outer_one(self):
        for options in (["--restarts", 1], ["--elastic"]):
            self.assertEqual(self.inner(*options), "restart none, elastic none\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
