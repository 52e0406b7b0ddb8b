"""The page of `lockstep bench --example` in a real browser: the program writes it, a reader steps through it."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "report"))
from page_case import PageTest

BINARY = os.environ["LOCKSTEP_BINARY"]
SHOWN = """
    return [...document.querySelectorAll('.state')].filter((its) => its.checkVisibility())
        .map((its) => its.querySelector('h3').textContent);"""
ROWS = """
    return [...document.querySelectorAll('.state.shown tbody tr')]
        .map((row) => [...row.querySelectorAll('b')].map((cell) => cell.textContent));"""
RECEIVED = """
    return [...document.querySelectorAll('.state.shown .received')].map((cell) => cell.textContent);"""


class ExamplePage(PageTest):
    def make(self, *arguments):
        file = self.folder / "example.html"
        subprocess.run([BINARY, "bench", "--example", *arguments, "--html", file], check=True,
                       stdout=subprocess.DEVNULL)
        self.open(file)
        return file

    def test_steps_through_the_ring(self):
        self.expect_no_requests(self.make("ring"))
        self.assertEqual(self.browser.run(SHOWN), ["Start"])
        self.assertEqual(self.browser.run(ROWS)[1], ["5", "6", "7", "8"])
        self.browser.click("#step")
        self.assertEqual(self.browser.run(SHOWN), ["Step 1 of 6, scatter-reduce: receivers add the chunk to their own"])
        self.assertEqual(self.browser.run(RECEIVED), ["204 + 16", "65 + 1", "1610 + 6", "2615 + 11"])
        self.browser.keys("body", "\ue012")  # left arrow
        self.assertEqual(self.text("#step-number"), "step 0 of 6")
        self.browser.keys("body", "\ue014")  # right arrow
        self.assertEqual(self.text("#step-number"), "step 1 of 6")
        self.browser.run("""const slider = document.querySelector('#slider');
            slider.value = 4;
            slider.dispatchEvent(new Event('input'));""")
        self.assertEqual(self.browser.run(RECEIVED),
                         ["28from rank 3", "32from rank 0", "36from rank 1", "40from rank 2"])
        self.browser.click("#last")
        self.assertEqual(self.browser.run(ROWS), [["28", "32", "36", "40"]] * 4)
        self.assertEqual(self.count(".state.shown .complete"), 16)
        self.assertEqual(self.table("Sent by each rank")[1:], [[str(rank), "6", "24"] for rank in range(4)])

    def test_paper_has_all_steps(self):
        self.browser.size(690, 1000)  # A4 without its margins
        self.make("ring", "--workers", "16", "--elements", "32")
        self.browser.media("print")
        self.assertEqual(len(self.browser.run(SHOWN)), 31)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth;"), 690)

    def test_looks(self):
        for theme in ("light", "dark"):
            self.browser.media("screen", prefers_color_scheme=theme)
            self.make("halving-doubling", "--elements", "8")
            self.browser.click("#last")
            self.expect_readable()
        self.browser.size(360, 740, 3, mobile=True)
        self.make("ring", "--workers", "16")
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth;"), 360)


if __name__ == "__main__":
    unittest.main(verbosity=2)
