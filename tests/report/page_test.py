"""The report page in a real browser: it opens from disk, shows its data and makes no requests."""
import unittest

import sample
from page_case import PageTest


class Contents(PageTest):
    def test_every_canvas_is_drawn(self):
        self.show(sample.page())
        self.expect_drawn(canvases=10)

    def test_a_scaling_study_has_its_charts(self):
        self.show(sample.page(("2 x 32", "4 x 32"), kind="scale", scaling=sample.scaling()))
        self.expect_drawn(canvases=13)
        self.assertIn("more threads than cores", self.text("#scaling"))

    def test_one_run_shows_its_ranks(self):
        self.show({**sample.page(("ddp",)), "kind": "train"})
        self.expect_drawn(canvases=7)
        self.assertEqual(self.count(".legend"), 0, "one curve needs no legend")

    def test_head_has_job_machine_verdict_and_command(self):
        self.show(sample.page())
        for part in ("A page that was made up", "LeNet-5", "MNIST, 100 images", "Compute-bound: all is well.",
                     "A processor", "4 cores", "16.0 GB", "lockstep compare --epochs 10"):
            self.assertIn(part, self.text("header"))

    def test_a_unit_stays_with_its_number(self):
        self.show(sample.page(notes=["It takes 3 ms, 5 % of 7 samples.", "Compute-bound: all is well."]))
        notes = self.browser.run("return [...document.querySelectorAll('.notes li')].map((note) => note.textContent);")
        self.assertEqual(notes, ["It takes 3\u00a0ms, 5\u00a0% of 7 samples."], "the verdict is not repeated")

    def test_missing_data_are_left_out(self):
        self.show(sample.bare())
        self.assertEqual(self.count("canvas"), 0)
        self.assertEqual(self.count("section"), 0)
        self.assertEqual(self.text("h1"), "Bare")

    def test_an_incomplete_run_says_how_far_it_came(self):
        self.show(sample.stopped())
        self.assertEqual(self.text(".verdict.failed h2"), "What happened")
        self.assertEqual(self.text("main").count("stopped or killed"), 1, "it is said once")
        self.expect_drawn(canvases=4)

    def test_a_run_that_is_still_running_is_no_warning(self):
        data = sample.stopped()
        data["runs"][0]["stopped"].update(running=True, why="The run is still running.")
        self.show(data)
        self.assertEqual((self.text(".verdict h2"), self.count(".failed")), ("So far", 0))

    def test_a_failed_run_has_a_post_mortem(self):
        data = {**sample.page(("ddp",)), "kind": "train"}
        data["runs"][0]["post_mortem"] = sample.post_mortem()
        self.show(data)
        self.expect_drawn(canvases=8)
        self.expect_readable()
        self.assertIn("rank 2 (pid 4711) was ended by signal 9 (Killed) in step 17", self.text("#post-mortem .notes"))
        self.assertEqual(self.first_section(), "post-mortem")
        self.assertEqual(len(self.table("Ranks at the end of the run")), 5)
        self.assertEqual(self.text("#post-mortem-range"), "-1000.00 to 80.00 ms")
        self.browser.click("#post-mortem .zoom button")
        self.assertEqual(self.text("#post-mortem-range"), "-730.00 to -190.00 ms")
        self.assertEqual(self.text("#timeline-range"), "0.00 to 1.20 ms", "each timeline has its own view")

    def test_a_run_that_failed_leads_with_its_post_mortem_and_does_not_repeat_it(self):
        data = sample.stopped()
        data["verdict"] = "Rank 2 (pid 4711) was ended by signal 9 (Killed) in step 17. It is recorded up to iteration 32."
        data["runs"][0]["post_mortem"] = sample.post_mortem()
        self.show(data)
        self.assertIn("in step 17", self.text(".verdict.failed"))
        self.assertEqual(self.text("main").count("was ended by signal 9 (Killed) in step 17"), 1)
        self.assertEqual(self.first_section(), "post-mortem")
        self.assertEqual(len(self.table("Ranks at the end of the run")), 5)

    def first_section(self):
        return self.browser.run("return document.querySelector('section').id;")

    def test_a_diverged_run_leads_with_that(self):
        data = {**sample.page(("ddp",)), "kind": "train", "verdict": "Diverged: the training loss is 900 in iteration 3."}
        data["runs"][0]["summary"]["bottleneck"] = {"kind": "diverged", "share": 0, "gain": 1, "iteration": 3}
        self.show(data)
        self.assertIn("Diverged", self.text(".verdict.failed"))

    def test_the_bars_have_the_same_parts_as_the_tables(self):
        self.show({**sample.page(("ddp",)), "kind": "train"})
        for part in ("compute", "exposed transfer", "waiting for other ranks", "data"):
            self.assertIn(part, self.text("#time"))
        self.assertIn("Exposed transfer15.0 %", self.text("#figures"), "25 % exposed, 10 % of it waiting")

    def test_a_malformed_post_mortem_affects_nothing_else(self):
        data = {**sample.page(("ddp", "ring")), "kind": "side-by-side"}
        data["runs"][0]["post_mortem"] = {"verdict": [sample.HOSTILE]}
        data["runs"][1]["post_mortem"] = {**sample.post_mortem(), "verdict": None}
        self.show(data)
        self.expect_drawn(canvases=11)
        self.assertIn(sample.HOSTILE, self.text("#post-mortem .notes"))

    def test_hostile_text_stays_text(self):
        self.show(sample.hostile())
        self.assertEqual(self.browser.run("return document.title;"), " ".join(sample.HOSTILE.split()))
        self.assertEqual(self.count("img, b"), 0)
        for selector in ("h1", ".verdict", ".machine", "#command", ".notes", ".method", "#configuration",
                         "tbody"):
            self.assertIn(sample.HOSTILE, self.text(selector), selector)

    def test_coinciding_curves_are_named(self):
        data = sample.page(("ring", "ddp", "p2p"))
        for record in data["runs"][0]["iterations"]:
            record["loss"] = data["runs"][1]["iterations"][0]["loss"]
        self.show(data)
        self.assertIn("Coinciding curves, drawn with alternating dashes: ring and ddp.", self.text("#learning figcaption"))

    def test_a_diverged_loss_is_cut_off_and_named(self):
        self.show(sample.diverged())
        self.assertRegex(self.text("#learning figcaption"), r"Diverged and cut off above 4\.\d+: sum")
        ends = self.browser.run("const {x, y} = Chart.getChart(document.querySelector('#learning canvas')).scales; "
                                "return [x.min, x.max, y.max];")
        self.assertEqual(ends[:2], [1, 100], "cut off above, not at the sides")
        self.assertLess(ends[2], 5)

    def test_times_beyond_the_axis_are_counted(self):
        data = sample.page()
        data["runs"][2]["iterations"][0]["seconds"][0] = 7.5
        self.show(data)
        self.assertRegex(self.text("#time"), r"1 of 300 points lie above the axis, up to 1\.88 s")  # mean over 4 ranks
        self.browser.click("#time .caption button:not(.small)")
        self.assertNotIn("above the axis", self.text("#time"))


class Weight(PageTest):
    def test_ten_runs_of_eight_ranks(self):
        file = self.show(sample.page([f"run {number}" for number in range(10)], ranks=8, points=500))
        self.assertLess(file.stat().st_size, 5e6)
        self.expect_drawn(canvases=10)

    def test_makes_no_requests(self):
        self.expect_no_requests(self.show(sample.page()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
