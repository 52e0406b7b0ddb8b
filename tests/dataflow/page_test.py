"""The pages of `lockstep dataflow` in a real browser: the program writes them, a reader steps and plays."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "report"))
from page_case import PageTest

BINARY = os.environ["LOCKSTEP_BINARY"]
COUNTERS = ("macs", "filter", "ifmap", "hops", "psumReads", "writes")
PIXELS = "return document.querySelector('#array-canvas').toDataURL();"


class DataflowPage(PageTest):
    def make(self, *arguments):
        """Opens the page that the program writes for these arguments."""
        file = self.folder / "dataflow.html"
        subprocess.run([BINARY, "dataflow", *arguments, "--html", file], check=True, stdout=subprocess.DEVNULL)
        self.open(file)
        return file

    def counters(self):
        return tuple(int(self.text(f"#counter-{name}").replace(",", "")) for name in COUNTERS)

    def output(self):
        return self.browser.run("return [...document.querySelectorAll('.matrix tr')].map((row) => "
                                "[...row.children].map((cell) => cell.textContent));")

    def expect_no_complaints(self):
        self.assertEqual([entry["message"] for entry in self.browser.logs("browser")], [])


class Player(DataflowPage):
    def test_steps_through_the_example(self):
        file = self.make("--example")
        self.expect_no_requests(file)
        self.expect_drawn(canvases=1)
        self.assertEqual(self.text("#cycle-number"), "cycle 1 of 6")
        self.assertEqual(self.counters(), (4, 4, 6, 0, 0, 0))
        self.assertEqual(self.output(), [["·", "·"], ["·", "·"]])
        first = self.browser.run(PIXELS)
        for _ in range(3):
            self.browser.click("#step")
        self.assertNotEqual(self.browser.run(PIXELS), first, "the array is drawn again")
        self.assertEqual(self.text("#cycle-number"), "cycle 4 of 6")
        self.assertEqual(self.counters(), (16, 4, 9, 2, 0, 2))
        self.assertEqual(self.output(), [["37", "·"], ["67", "·"]])
        self.assertIn("row 1, column 1: 37", self.text("#now"))
        self.browser.click("#back")
        self.assertIn("PE2 → PE1: 37", self.text("#now"))
        self.assertEqual(self.output(), [["·", "·"], ["·", "·"]])
        self.browser.click("#last")
        self.assertEqual(self.output(), [["37", "47"], ["67", "77"]])
        self.assertEqual(self.counters(), (16, 4, 9, 4, 0, 4))
        self.browser.click("#first")
        self.assertEqual(self.browser.run(PIXELS), first)
        self.expect_no_complaints()

    def test_plays_to_the_end_and_from_the_start_again(self):
        self.make("--example")
        self.browser.run("""const speed = document.querySelector('.player select');
            speed.value = '30';
            speed.dispatchEvent(new Event('change'));""")
        self.browser.click("#play")
        self.browser.wait_until("return document.querySelector('#cycle-number').textContent === 'cycle 6 of 6';")
        self.browser.wait_until("return document.querySelector('#play').textContent === 'Play';")
        self.browser.run("""const cycle = document.querySelector('#cycle-number');
            window.played = [];
            new MutationObserver(() => window.played.push(cycle.textContent)).observe(cycle, {childList: true});""")
        self.browser.click("#play")
        self.browser.wait_until("return window.played.includes('cycle 6 of 6');")
        self.assertEqual(self.browser.run("return window.played;"), [f"cycle {n} of 6" for n in range(1, 7)])

    def test_keys_and_slider(self):
        self.make("--example")
        self.browser.keys("#array-canvas", "\ue014")  # right arrow
        self.assertEqual(self.text("#cycle-number"), "cycle 2 of 6")
        self.browser.keys("#array-canvas", "\ue012")  # left arrow
        self.assertEqual(self.text("#cycle-number"), "cycle 1 of 6")
        self.browser.run("""const slider = document.querySelector('#slider');
            slider.value = 4;
            slider.dispatchEvent(new Event('input'));""")
        self.assertEqual(self.text("#cycle-number"), "cycle 5 of 6")

    def test_one_element_at_a_time(self):
        self.make("--filter=-1,2;0,1", "--input", "1,3,9;2,4,5;0,1,7", "--mac-width", "2", "--serial")
        self.assertEqual(self.text("#cycle-number"), "cycle 1 of 10")
        self.assertIn("1 element multiplies", self.text("#now"))
        rows = self.table("All cycles")
        self.assertEqual(rows[1], ["1", "PE1", "multiply", "1·(-1)+3·2", "5", "(1,1)"])
        self.assertEqual(rows[9], ["6", "PE1", "multiply", "3·(-1)+9·2", "15", "(1,2)"])
        self.assertEqual(len(rows), 1 + 16)
        self.browser.media("print")
        self.assertTrue(self.browser.run("return [...document.querySelectorAll('#tables tr')].every((row) => "
                                         "row.checkVisibility() && row.getBoundingClientRect().right <= innerWidth);"))

    def test_channels_filters_images_and_strips(self):
        self.make("--random", "--size", "6", "--kernel", "3", "--channels", "3", "--filters", "2", "--batch", "2",
                  "--mapping", "2,1,2,2,1,2,1", "--mac-width", "3")
        self.expect_drawn(canvases=1)
        self.assertEqual(self.count("[aria-label$='as PNG']"), 1)
        self.assertIn("pass 1 of 8", self.text("#cycle-number"))
        self.browser.click("#last")
        macs, _, _, hops, reads, writes = self.counters()
        self.assertEqual((macs, reads, writes), (2 * 2 * 16 * 27, 64, 128))
        self.assertEqual(hops, 64 * (5 + 2))  # two channels of three rows, then one
        self.assertEqual(self.count(".plane"), 4)
        self.assertNotIn("·", [cell for row in self.output() for cell in row])
        self.expect_no_complaints()

    def test_looks(self):
        for theme in ("light", "dark"):
            self.browser.media("screen", prefers_color_scheme=theme)
            self.make("--example")
            self.assertEqual(self.browser.run("return document.documentElement.dataset.theme;"), theme)
            self.browser.click("#last")
            self.expect_readable(least=25)
        self.browser.size(360, 740, 3, mobile=True)
        self.make("--example")
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth;"), 360)


class Layers(DataflowPage):
    def test_bars_of_every_layer(self):
        file = self.make("--model", "alexnet", "--mapping", "published")
        self.expect_no_requests(file)
        self.expect_drawn(canvases=4)
        labels = self.browser.run("return Chart.getChart(document.querySelector('canvas')).data.labels;")
        self.assertEqual(labels, ["C1", "C2", "C3", "C4", "C5"])
        stacked = self.browser.run("""return Chart.getChart(document.querySelector('canvas')).data.datasets
            .map((set) => [set.label, set.data[1]]);""")
        self.assertEqual([label for label, _ in stacked], ["ALU", "registers", "between elements", "buffer", "DRAM"])
        self.assertAlmostEqual(stacked[0][1], 0.8958, places=3)  # 10⁹ multiply-accumulates
        rows = self.table("Mapping and time")
        self.assertEqual(rows[1][:9], ["C1", "2 × 11×7", "96", "1", "7", "16", "1", "1", "2"])
        self.assertEqual(self.table("Compared with measurements of the chip")[-1][3:5], ["100.2", "103.5"])
        self.assertIn("148", self.text("#figures"))

    def test_dataflows_and_passes_side_by_side(self):
        self.make("--model", "lenet5", "--dataflow", "all")
        self.expect_drawn(canvases=5)
        self.assertIn("C1 · weight-stationary",
                      self.browser.run("return Chart.getChart(document.querySelectorAll('canvas')[1]).data.labels;"))
        self.make("--model", "lenet5", "--training")
        self.assertEqual(self.browser.run("return Chart.getChart(document.querySelector('canvas')).data.labels;"),
                         ["forward", "weight gradient", "input gradient"])

    def test_looks(self):
        for theme in ("light", "dark"):
            self.browser.media("screen", prefers_color_scheme=theme)
            self.make("--model", "alexnet")
            self.expect_readable()
            self.expect_drawn(canvases=4)
        self.browser.size(360, 740, 3, mobile=True)
        self.make("--model", "alexnet")
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth;"), 360)

    def test_paper(self):
        self.browser.media("screen", prefers_color_scheme="dark")
        self.make("--model", "alexnet")
        self.browser.run("window.dispatchEvent(new Event('beforeprint'));")
        self.assertEqual(self.browser.run("return document.documentElement.dataset.theme;"), "light")
        self.expect_no_complaints()


if __name__ == "__main__":
    unittest.main(verbosity=2)
