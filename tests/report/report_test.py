"""The pages that the program writes, in a real browser: they show the content of the run folder."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from page_case import PageTest
from program import BINARY, ENDLESS, HANGS, SMALL, ProgramTest, clean_environment

MADE = re.compile(r'"made": ?"[^"]*"')


class Comparison(PageTest):
    """The page of one comparison."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        command = [BINARY, "compare", "--repeat", "1", "--methods", "ring,ddp", "--workers", "2", "--epochs", "3", "--run-dir", "runs"]
        subprocess.run(command, cwd=cls.folder, env=clean_environment(), check=True, timeout=HANGS,
                       stdout=subprocess.PIPE)
        cls.report = cls.folder / "runs" / "report.html"
        cls.summary = json.loads((cls.folder / "runs" / "summary.json").read_text())

    def setUp(self):
        super().setUp()
        self.open(self.report)

    def test_everything_is_drawn_without_requests(self):
        self.expect_no_requests(self.report)
        self.expect_drawn(canvases=10)

    def test_the_table_has_the_values_of_summary_json(self):
        table = self.summary["tables"][0]
        self.browser.run("document.querySelector('#tables .actions [aria-pressed]').click();")
        shown = self.table(table["title"])
        self.assertEqual(shown, [table["columns"], *table["rows"]])
        rows = {row[0]: dict(zip(shown[0], row)) for row in shown[1:]}
        self.assertEqual(list(rows), ["alone", "ring", "ddp"])
        for run in self.summary["runs"]:
            row = rows[run["name"]]
            self.assertEqual(row["workers"], str(run["workers"]))
            self.assertEqual(row["loss"], f"{run['train_loss']:.4f}")
            self.assertEqual(row["test %"], f"{100 * run['test_accuracy']:.1f}")
            mean = 1e3 * run["seconds_per_iteration"]["mean"]
            self.assertAlmostEqual(float(row["mean ms"]), mean, delta=0.01 * mean)

    def test_every_column_has_a_group(self):
        self.browser.run("document.querySelector('#tables .actions [aria-pressed]').click();")
        groups = self.browser.run("""return [...document.querySelectorAll('#tables .groups')].map((row) =>
            [...row.children].map((cell) => [cell.textContent, cell.colSpan]));""")
        self.assertEqual([name for name, _ in groups[0]], ["", "Speed", "Time", "Traffic", "Learning"])
        self.assertEqual(groups[0][0][1], 2, "method and workers")

    def test_copies_the_table_as_csv(self):
        self.browser.click("#tables [aria-label^=Copy]")
        self.browser.wait_until("return document.querySelector('#tables [aria-label^=Copy]').textContent === 'Copied';")
        subprocess.run([BINARY, "report", "runs", "--csv", "csv"], cwd=self.folder, env=clean_environment(), check=True,
                       timeout=HANGS, stdout=subprocess.PIPE)
        self.assertEqual(self.clipboard(), (self.folder / "csv" / "sync-methods.csv").read_bytes().decode())

    def test_head_and_findings_are_those_of_summary_json(self):
        self.assertIn(self.summary["verdict"], self.text(".verdict"))
        self.assertIn(self.summary["command"], self.text("#command"))
        self.assertIn(self.summary["machine"]["processor"], self.text(".machine"))
        for note in self.summary["notes"]:
            self.assertIn(note, self.text("#notes"))

    def test_says_that_the_curves_coincide(self):
        self.assertIn("All 3 curves coincide", self.text("#learning figcaption"))

    def test_methods_have_predicted_and_measured_cost(self):
        for name in ("ring", "ddp"):
            self.assertIn(name, self.text("#methods"))
        self.assertEqual(self.count(".method dt"), 6, "cost, predicted, measured of both")

    def test_dark_is_readable(self):
        self.browser.media("screen", prefers_color_scheme="dark")
        self.browser.wait_until("return document.documentElement.dataset.theme === 'dark';")
        self.expect_readable()

    def test_a_phone_never_scrolls_sideways(self):
        self.browser.size(360, 740, 3, mobile=True)
        self.open(self.report)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth;"), 360)

    def test_report_writes_the_same_page_again(self):
        again = self.folder / "again.html"
        subprocess.run([BINARY, "report", "runs", "--out", again], cwd=self.folder, env=clean_environment(), check=True,
                       timeout=HANGS, stdout=subprocess.PIPE)
        self.assertEqual(MADE.sub("", again.read_text()), MADE.sub("", self.report.read_text()))


class OtherPages(PageTest, ProgramTest):
    def test_one_run(self):
        self.run_program("train", *SMALL, "--workers", 2, "--epochs", 2, "--run-dir", "run")
        self.open(self.folder / "run" / "report.html")
        self.expect_drawn(canvases=7)
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertIn(summary["verdict"], self.text(".verdict"))
        self.browser.size(390, 844, mobile=True)
        self.open(self.folder / "run" / "report.html")
        self.browser.run("document.querySelectorAll('details').forEach((its) => { its.open = true; });")
        self.browser.wait_until("""return [...document.querySelectorAll('.scroll')].every((box) =>
            box.clientWidth > 0 && box.scrollWidth <= box.clientWidth);""")

    def test_a_killed_run_says_how_far_it_came(self):
        program = self.start("train", *ENDLESS, "--workers", 2, "--run-dir", "run")
        self.wait_for(program, "iteration 200/")
        self.kill_all(program)
        self.run_program("report", "run")
        self.open(self.folder / "run" / "report.html")
        found = re.search(r"killed\. It is recorded up to iteration (\d+) of \d+\. There is no checkpoint",
                          self.text(".verdict"))
        self.assertTrue(found, self.text(".verdict"))
        self.assertGreater(int(found[1]), 100, "the newest measurements may be lost")
        self.assertGreater(self.count("canvas"), 1)

    def test_runs_side_by_side(self):
        for method in ("ring", "ddp"):
            self.run_program("train", *SMALL, "--workers", 2, "--epochs", 2, "--sync", method, "--run-dir", method)
        self.run_program("report", "ring", "ddp", "--out", "both.html")
        self.open(self.folder / "both.html")
        self.assertIn("All 2 curves coincide", self.text("#learning figcaption"))
        self.assertEqual([row[0] for row in self.table("Runs")][1:], ["ring", "ddp"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
