"""Signals: a hang-up requests a stop, a second request is announced, and programs that wait end at once."""
import os
import pty
import shutil
import signal
import subprocess
import time
import unittest

from program import BINARY, ENDLESS, HANGS, SMALL, ProgramTest, children_of, clean_environment, free_port

ANNOUNCED = "lockstep: stopping after the current step, with a checkpoint; a second signal ends the run at once, without one\n"
HURRIED = "lockstep: ending at once, without a checkpoint\n"


def ignore(number):
    """Ignores the signal as a parent process would; the program inherits this."""
    return lambda: signal.signal(number, signal.SIG_IGN)


class SignalsTest(ProgramTest):
    def checkpoints(self, run):
        folder = self.folder / run / "checkpoints"
        return list(folder.iterdir()) if folder.exists() else []

    def training(self, *options, launched=False, **more):
        start = ["launch", "--workers", 2, "--", BINARY, "train"] if launched else ["train", "--workers", 2]
        program = self.start(*start, *ENDLESS, *options, "--run-dir", "run", **more)
        self.wait_for(program, "iteration 5/")
        return program


class HangUp(SignalsTest):
    def test_stops_a_training_with_a_checkpoint_and_a_message(self):
        for launched, code in [(False, 1), (True, 128 + signal.SIGHUP)]:
            program = self.training(launched=launched)
            program.send_signal(signal.SIGHUP)
            _, errors = self.finish(program, code)
            self.assertRegex(errors, r"stopped after iteration \d+ .*--resume")
            self.assertEqual(len(self.checkpoints("run")), 1)
            shutil.rmtree(self.folder / "run")

    def test_a_closed_terminal_is_not_an_error(self):
        master, slave = pty.openpty()
        program = subprocess.Popen([BINARY, "train", "--workers", "2", *map(str, ENDLESS), "--run-dir", "run"],
                                   cwd=self.folder, env=clean_environment(), stdin=slave, stdout=slave, stderr=slave,
                                   preexec_fn=self.take_terminal(slave))
        os.close(slave)
        shown = b""
        while b"iteration 5/" not in shown:
            shown += os.read(master, 1 << 16)
        os.close(master)
        self.assertEqual(program.wait(HANGS), 1)
        self.assertEqual(len(self.checkpoints("run")), 1)

    @staticmethod
    def take_terminal(slave):
        def take():
            import fcntl
            import termios
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        return take

    def test_ends_any_other_program(self):
        program = self.start("launch", "--workers", 2, "--", "sh", "-c", "echo ready; exec sleep 1000")
        self.wait_for(program, "ready")
        program.send_signal(signal.SIGHUP)
        self.finish(program, 128 + signal.SIGHUP)

    def test_is_ignored_under_nohup(self):
        program = self.training(preexec_fn=ignore(signal.SIGHUP))
        program.send_signal(signal.SIGHUP)
        for _ in range(3):
            self.wait_for(program, "iteration ")
        program.send_signal(signal.SIGTERM)
        self.finish(program, 1)
        program = self.start("launch", "--workers", 1, "--", "sh", "-c", "echo ready; while [ ! -e go ]; do sleep 0.1; done",
                             preexec_fn=ignore(signal.SIGHUP))
        self.wait_for(program, "ready")
        program.send_signal(signal.SIGHUP)
        (self.folder / "go").write_text("")
        self.finish(program, 0)


class IgnoredSigchld(ProgramTest):
    def test_does_not_change_the_exit_code(self):
        program = self.start("launch", "--workers", 2, "--", "sh", "-c", "exit $((5 * RANK))", preexec_fn=ignore(signal.SIGCHLD))
        self.finish(program, 5)


class Twice(SignalsTest):
    def test_within_a_second_counts_as_one(self):
        program = self.training()
        program.send_signal(signal.SIGINT)
        program.send_signal(signal.SIGINT)
        _, errors = self.finish(program, 1)
        self.assertIn(ANNOUNCED, errors)
        self.assertNotIn(HURRIED, errors)
        self.assertEqual(len(self.checkpoints("run")), 1)

    def test_is_announced(self):
        for launched, code in [(False, 1), (True, 128 + signal.SIGINT)]:
            program = self.training(launched=launched)
            os.kill(children_of(program.pid)[1], signal.SIGSTOP)  # the step under way never ends
            program.send_signal(signal.SIGINT)
            while (line := program.stderr.readline()) != ANNOUNCED:
                self.assertNotEqual(line, "", "the program ended")
            time.sleep(1.5)
            program.send_signal(signal.SIGINT)
            _, errors = self.finish(program, code)
            self.assertEqual(errors.count(HURRIED), 1)
            self.assertEqual(self.checkpoints("run"), [])
            shutil.rmtree(self.folder / "run")


class Together(SignalsTest):
    """A parent and its workers, all signalled at once: by a batch system, by systemd, by pkill."""

    def expect_one_request(self, program, code, number):
        for process in [program.pid, *children_of(program.pid)]:
            os.kill(process, number)
        _, errors = self.finish(program, code)
        self.assertNotIn(HURRIED, errors)
        self.assertRegex(errors, r"stopped after iteration \d+ .*--resume")
        self.assertEqual(len(self.checkpoints("run")), 1)
        shutil.rmtree(self.folder / "run")

    def test_is_one_request(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.expect_one_request(self.training(), 1, number)
        self.expect_one_request(self.training("--shards", 2, "--elastic"), 1, signal.SIGTERM)
        self.expect_one_request(self.training(launched=True), 128 + signal.SIGTERM, signal.SIGTERM)


class WhileReportIsWritten(SignalsTest):
    def test_a_second_request_reaches_all_workers(self):
        for pause in (0.02, 0.05, 0.08, 0.12, 0.16):
            program = self.training()
            program.send_signal(signal.SIGINT)
            time.sleep(pause)
            program.send_signal(signal.SIGINT)
            output, errors = self.finish(program, 1)
            self.assertIn("report: run/report.html", output)
            self.assertEqual(len(self.checkpoints("run")), 1, errors)
            shutil.rmtree(self.folder / "run")


class Grace(ProgramTest):
    def test_of_an_interrupt_is_longer_than_that_of_a_failure(self):
        script = "trap 'sleep 2; echo saved; exit 0' INT; echo ready; while :; do sleep 0.1; done"
        program = self.start("launch", "--workers", 2, "--grace", 0.1, "--", "sh", "-c", script)
        for _ in range(2):
            self.wait_for(program, "ready")
        program.send_signal(signal.SIGINT)
        output, _ = self.finish(program, 128 + signal.SIGINT)
        self.assertEqual(output, "saved\nsaved\n")

    def test_is_that_of_a_failure_after_a_second_interrupt(self):
        script = "trap '' INT; echo ready; while :; do sleep 0.1; done"
        program = self.start("launch", "--workers", 2, "--grace", 0.1, "--", "sh", "-c", script)
        for _ in range(2):
            self.wait_for(program, "ready")
        program.send_signal(signal.SIGINT)
        time.sleep(1.5)  # within a second it would be one with the first
        program.send_signal(signal.SIGINT)
        self.finish(program, 128 + signal.SIGINT)


class LostTerminal(ProgramTest):
    """A terminal that closes while the hang-up signal is ignored or not delivered."""

    def start_on_terminal(self, *arguments):
        master, slave = pty.openpty()
        program = subprocess.Popen([BINARY, *map(str, arguments)], cwd=self.folder, env=clean_environment(), stdin=slave,
                                   stdout=slave, stderr=slave, start_new_session=True, preexec_fn=ignore(signal.SIGHUP))
        os.close(slave)
        return program, master

    def test_does_not_fail_a_run(self):
        for transport in ("shm", "thread"):
            program, terminal = self.start_on_terminal("train", *SMALL, "--epochs", 100, "--workers", 2, "--transport",
                                                       transport, "--log-every", 1, "--run-dir", transport)
            shown = b""
            while b"iteration 5/" not in shown:
                shown += os.read(terminal, 1 << 16)
            os.close(terminal)
            self.assertEqual(program.wait(HANGS), 0)
            for name in ("summary.json", "report.html"):
                self.assertTrue((self.folder / transport / name).exists(), name)

    def test_does_not_hide_bad_usage(self):
        program, terminal = self.start_on_terminal("train", "--resume")
        os.close(terminal)
        self.assertEqual(program.wait(HANGS), 2)


class Waiting(ProgramTest):
    def rank(self, rank, *arguments):
        variables = {"RANK": str(rank), "WORLD_SIZE": "3", "MASTER_PORT": str(self.port)}
        return self.start(*(arguments or ("train", *ENDLESS, "--run-dir", "run")), variables=variables)

    def setUp(self):
        super().setUp()
        self.port = free_port()

    def test_ranks_name_the_missing_peer_and_end_at_once(self):
        for rank, waits_for in [(1, f"waits for the rendezvous at 127.0.0.1:{self.port}"),
                           (0, "waits for ranks 1 and 2 to reach the rendezvous")]:
            program = self.rank(rank)
            self.assertIn(f"lockstep train: rank {rank} of 3 {waits_for}", program.stderr.readline())
            program.send_signal(signal.SIGTERM)
            self.finish(program, -signal.SIGTERM)

    def test_launchers_name_the_missing_peer_and_end_at_once(self):
        self.run_program("launch", "--new-token", "token")
        for node, waits_for in [(0, "node 1 of 2"), (1, "node 0's launcher at")]:
            program = self.start("launch", "--nnodes", 2, "--node-rank", node, "--master-addr", "127.0.0.1", "--master-port",
                                 self.port, "--token-file", "token", "--", "true")
            self.assertIn(f"lockstep launch: node {node} waits for {waits_for}", program.stderr.readline())
            program.send_signal(signal.SIGTERM)
            self.finish(program, -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main(verbosity=2)
