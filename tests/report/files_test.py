"""`lockstep report --png` and `--pdf`: the files, and what happens without a browser or with one that fails."""
import os
import pathlib
import re
import signal
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import SMALL, ProgramTest, processes
from take_away_test import A4, png_of


class Files(ProgramTest):
    def setUp(self):
        super().setUp()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.run_program("train", *SMALL, "--workers", 2, "--epochs", 2, "--run-dir", "run")
        (self.folder / "run" / "report.html").unlink()

    def report(self, *arguments, code=0, path=None):
        variables = {"TMPDIR": str(self.temporary), **({"PATH": path} if path else {})}
        return self.finish(self.start("report", "run", *arguments, variables=variables), code)

    def expect_nothing_left(self):
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertFalse((self.folder / "run" / "report.html").exists())

    def install(self, script):
        """Makes a program that has the name of a browser; returns a PATH with it."""
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "chromium").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "chromium").chmod(0o755)
        return f"{folder}:/usr/bin:/bin"

    def test_every_chart_is_a_picture_and_the_page_a_pdf(self):
        output, errors = self.report("--png", "new/png", "--pdf", "run.pdf")
        self.assertEqual(errors, "")
        names = re.findall(r"(?m)^picture: new/png/(.*)\.png$", output)
        self.assertEqual(names, ["loss-over-iterations", "loss-over-epochs", "accuracy-over-epochs", "where-the-time-goes",
                                 "time-per-iteration", "bytes-per-iteration", "timeline-of-one-iteration-ddp"])
        for name in names:
            width, height, corner, _ = png_of(self.folder / "new" / "png" / f"{name}.png")
            self.assertIn(width, (2 * (960 + 48), 2 * (640 + 48)))
            self.assertGreater(height, 200)
            self.assertEqual(corner[:3], b"\xff\xff\xff")
        self.assertTrue(output.endswith("pdf: run.pdf\n"))
        pdf = (self.folder / "run.pdf").read_bytes()
        boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
        self.assertEqual({(round(float(width)), round(float(height))) for width, height in boxes}, {A4})
        self.expect_nothing_left()

    def test_without_a_browser_the_error_says_what_to_install(self):
        for option, to in (("--png", "png"), ("--pdf", "run.pdf")):
            output, errors = self.report(option, to, code=2, path=str(self.temporary))
            self.assertEqual(output, "")
            self.assertIn("need Chromium or Chrome, and none is in PATH: install the package chromium", errors)
            self.assertFalse((self.folder / to).exists())
        self.report("--csv", "csv", path=str(self.temporary))

    def test_a_browser_that_fails_is_named(self):
        path = self.install("echo first >&2; echo 'no room for the profile' >&2; exit 3")
        _, errors = self.report("--pdf", "run.pdf", code=1, path=path)
        self.assertIn("bin/chromium failed with code 3", errors)
        self.assertIn("no room for the profile", errors)
        self.assertFalse((self.folder / "run.pdf").exists())
        self.expect_nothing_left()

    def test_an_interrupt_leaves_no_process_and_no_file(self):
        path = self.install("sleep 1000 & echo > started; sleep 1000")
        program = self.start("report", "run", "--png", "png", variables={"TMPDIR": str(self.temporary), "PATH": path})
        for _ in iter(lambda: (self.folder / "started").exists(), True):
            self.assertIsNone(program.poll())
            time.sleep(0.02)
        os.kill(program.pid, signal.SIGINT)
        _, errors = self.finish(program, 1)
        self.assertEqual(errors, "lockstep report: interrupted\n")
        self.assertEqual([process for process, *_ in processes() if self.is_left(process)], [])
        self.expect_nothing_left()

    def is_left(self, process):
        try:
            return os.readlink(f"/proc/{process}/cwd") == str(self.folder)
        except (FileNotFoundError, PermissionError):
            return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
