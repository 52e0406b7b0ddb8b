"""lockstep launch: the output of the workers."""
import time
import unittest

from program import HANGS, ProgramTest, children_of


class Output(ProgramTest):
    def sh(self, script, *options, workers=2, code=0):
        return self.run_program("launch", "--workers", workers, *options, "--", "sh", "-c", script, code=code)

    def wait_until(self, condition):
        for _ in range(10 * HANGS):
            if condition():
                return
            time.sleep(0.1)
        self.fail("it never came")

    def test_keeps_its_stream(self):
        output, errors = self.sh("echo to output; echo to error >&2")
        self.assertEqual((output, errors), ("to output\n" * 2, "to error\n" * 2))

    def test_is_forwarded_byte_for_byte(self):
        output, _ = self.sh("printf 'no end'", workers=1)
        self.assertEqual(output, "no end")
        output, _ = self.sh("seq 200000", workers=1)
        self.assertEqual(output, "".join(f"{n}\n" for n in range(1, 200001)))

    def test_with_prefix_lines_stay_whole(self):
        output, _ = self.sh("i=0; while [ $i -lt 2000 ]; do echo line $i of $LOCKSTEP_RANK; i=$((i + 1)); done",
                            "--prefix", workers=4)
        lines = output.splitlines()
        for rank in range(4):
            mine = [line for line in lines if line.startswith(f"[{rank}] ")]
            self.assertEqual(mine, [f"[{rank}] line {i} of {rank}" for i in range(2000)])
        self.assertEqual(len(lines), 8000)

    def test_with_prefix_the_last_line_is_terminated(self):
        output, errors = self.sh("printf begun; printf problem >&2", "--prefix", workers=1)
        self.assertEqual((output, errors), ("[0] begun\n", "[0] problem\n"))

    def test_is_forwarded_before_its_line_ends(self):
        program = self.start("launch", "--workers", 1, "--", "sh", "-c", "printf 'are you there? '; exec sleep 1000")
        self.assertEqual(program.stdout.read(15), "are you there? ")
        program.terminate()
        self.finish(program, 128 + 15)

    def test_is_kept_in_logs(self):
        output, errors = self.sh("echo out $LOCKSTEP_RANK; echo err $LOCKSTEP_RANK >&2", "--log-dir", "a/logs",
                                 "--prefix")
        self.assertEqual(sorted(output.splitlines()), ["[0] out 0", "[1] out 1"])
        self.assertEqual(sorted(errors.splitlines()), ["[0] err 0", "[1] err 1"])
        for rank in (0, 1):
            log = (self.folder / "a" / "logs" / f"rank-{rank}.log").read_text()
            self.assertEqual(sorted(log.splitlines()), [f"err {rank}", f"out {rank}"])

    def test_its_last_lines_end_the_report_of_a_failure(self):
        _, errors = self.sh("if [ $LOCKSTEP_RANK = 1 ]; then seq 30; echo it broke >&2; exit 5; fi", code=5)
        self.assertRegex(errors, r"rank 1 \(pid \d+ on \S+\) exited with code 5\n")
        report = errors.split("the last lines of rank 1:\n")[1].splitlines()
        self.assertEqual(len(report), 10)
        self.assertIn("  | it broke", report)
        self.assertIn("  | 30", report)

    def test_may_go_directly_to_the_terminal(self):
        output, errors = self.sh("readlink /proc/$$/fd/1; exit 5", "--no-capture", workers=1, code=5)
        self.assertRegex(output, r"^pipe:")
        self.assertNotIn("last lines", errors)

    def test_of_a_process_that_outlives_its_worker_does_not_delay_the_launcher(self):
        program = self.start("launch", "--workers", 1, "--", "sh", "-c", "sleep 1000 & echo done")
        self.assertEqual(program.wait(timeout=HANGS), 0)
        self.assertEqual(program.stdout.readline(), "done\n")

    def test_of_a_process_that_outlives_its_worker_is_cut_off(self):
        program = self.start("launch", "--workers", 1, "--", "sh", "-c", "yes & sleep 0.2")
        while program.stdout.read(100000):
            pass
        self.assertEqual(program.wait(timeout=HANGS), 0)

    def test_whose_reader_is_gone_does_not_end_the_run(self):
        program = self.start("launch", "--workers", 2, "--log-dir", "logs", "--", "sh", "-c",
                             "while [ ! -e closed ]; do sleep 0.1; done; seq 100000; "
                             "if [ $LOCKSTEP_RANK = 1 ]; then exit 9; fi")
        program.stdout.close()
        (self.folder / "closed").write_text("")
        self.assertEqual(program.wait(timeout=HANGS), 9)
        self.assertIn("exited with code 9", program.stderr.read())
        self.assertTrue((self.folder / "logs" / "rank-0.log").read_text().endswith("\n100000\n"))

    def test_with_a_slow_reader_does_not_stall_supervision(self):
        program = self.start("launch", "--workers", 2, "--grace", 0.1, "--", "sh", "-c",
                             "if [ $LOCKSTEP_RANK = 0 ]; then exec seq 10000000; fi; sleep 1; exit 3")
        self.wait_until(lambda: len(children_of(program.pid)) == 2)
        self.wait_until(lambda: not children_of(program.pid))
        output, errors = self.finish(program, 3)
        self.assertIn("rank 1", errors)
        lines = output.splitlines()[:-1]
        self.assertEqual(lines, [str(n) for n in range(1, len(lines) + 1)])
        self.assertGreater(len(lines), 10000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
