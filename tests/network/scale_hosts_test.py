"""lockstep scale --hosts: a study on emulated hosts, which are removed afterwards."""
import json
import os
import pathlib
import signal
import sys
import time
import unittest

import hosts

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import HANGS, ProgramTest, children_of, processes  # noqa: E402  (found by the line above)

WHY_NOT = hosts.why_not()
JOB = ["scale", "--hosts", 2, "--bandwidth", "100mbit", "--run-dir", "run", "--limit", 256, "--batches", 32]


def namespace_of(process):
    """None if the process is gone or belongs to another user."""
    try:
        return os.readlink(f"/proc/{process}/ns/net")
    except OSError:
        return None


def devices():
    """The network devices of this machine, outside of the emulated hosts."""
    return {path.name for path in pathlib.Path("/sys/class/net").iterdir()}


@unittest.skipIf(WHY_NOT is not None, WHY_NOT)
class Hosts(ProgramTest):
    def setUp(self):
        super().setUp()
        self.before = devices()

    def tearDown(self):
        self.assertEqual(devices(), self.before)

    def start_endless(self):
        """A running study with its workers on their hosts, and the hosts' namespaces."""
        program = self.start(*JOB, "--workers", 2, "--epochs", 10**9)
        for _ in range(10 * HANGS):
            spaces = {namespace_of(worker) for worker in children_of(program.pid)} - {None, namespace_of(program.pid)}
            if len(spaces) == 2 and (self.folder / "run" / "w2-b32" / "metrics.jsonl").exists():
                return program, spaces
            time.sleep(0.1)
        self.fail("the workers never started on their hosts")

    def expect_left(self, spaces):
        """Expects that no process is on these hosts any more, which removes them."""
        for _ in range(10 * HANGS):
            if not spaces & {namespace_of(process) for process, *_ in processes()}:
                return
            time.sleep(0.1)
        self.fail("a process is still there")

    def test_a_study_is_as_slow_as_the_links(self):
        output, errors = self.run_program(*JOB, "--methods", "ddp,ring", "--epochs", 2)
        self.assertEqual(errors, "")
        self.assertIn("links of 100 Mbit/s in each direction", output)
        result = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertEqual([run["name"] for run in result["runs"]], ["w1-b32", "w2-b32-ddp", "w2-b32-ring"])
        self.assertEqual(result["scaling"]["hosts"], {"count": 2, "bits_per_second": 10**8, "latency_us": 0})
        for run in result["runs"][1:]:
            self.assertEqual(run["transport"], "gloo")
            # The burst size of a link is 16 KiB, a fifteenth of these gradients.
            self.assertLess(run["bandwidth_mbs"], 12.5 * 1.1)
            self.assertLess(run["bench_bandwidth_mbs"], 12.5 * 1.1)

    def test_latency_is_applied_or_rejected(self):
        program = self.start(*JOB, "--workers", 2, "--latency", "20ms", "--epochs", 1)
        output, errors = program.communicate(timeout=HANGS)
        if program.returncode == 2:
            self.assertIn("this kernel cannot delay packets", errors)
            self.skipTest("this kernel cannot delay packets")
        run, = json.loads((self.folder / "run" / "summary.json").read_text())["runs"]
        self.assertGreater(run["seconds_per_iteration"]["p50"], 0.04, "there and back")

    def test_interrupt_leaves_no_hosts(self):
        program, spaces = self.start_endless()
        program.send_signal(signal.SIGINT)
        _, errors = self.finish(program, 1)
        self.assertIn("interrupted", errors)
        self.expect_left(spaces)

    def test_killed_worker_ends_the_study_and_is_named(self):
        program, spaces = self.start_endless()
        os.kill(children_of(program.pid)[1], signal.SIGKILL)
        _, errors = self.finish(program, 1)
        self.assertRegex(errors, r"rank 1 .* was ended by signal 9")
        self.expect_left(spaces)

    def test_kill_leaves_no_hosts(self):
        program, spaces = self.start_endless()
        program.kill()
        program.wait()
        self.expect_left(spaces)


if __name__ == "__main__":
    unittest.main(verbosity=2)
