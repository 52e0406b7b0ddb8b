"""The page of `lockstep predict` in a real browser: curves, tables and texts."""
import os
import pathlib
import subprocess
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "report"))
from page_case import PageTest

BINARY = os.environ["LOCKSTEP_BINARY"]
STEP = TESTS.parent / "docs" / "results" / "horovod" / "vgg16.json"


class PredictPage(PageTest):
    def test_draws_a_curve_per_method(self):
        file = self.folder / "predict.html"
        subprocess.run([BINARY, "predict", "--run", STEP, "--network", "10gbit", "--workers", "1,4,16,256",
                        "--methods", "ring,tree,ddp", "--html", file], check=True, stdout=subprocess.DEVNULL)
        self.open(file)
        self.expect_no_requests(file)
        self.expect_drawn(canvases=4)
        self.assertIn("vgg16 over 10gbit", self.text("h1"))
        self.assertIn("256 workers", self.text(".verdict"))
        titles = self.browser.run("return [...document.querySelectorAll('.table h3')].map((its) => its.textContent);")
        self.assertEqual([title for title in titles if title != "Crossovers between methods"],
                         ["Fastest method by workers", "Iterations"])
        rows = self.browser.run("return [...document.querySelectorAll('.table:last-of-type tbody tr')].length;")
        self.assertGreaterEqual(rows, 12)
        self.assertEqual([entry["message"] for entry in self.browser.logs("browser")], [])


if __name__ == "__main__":
    unittest.main()
