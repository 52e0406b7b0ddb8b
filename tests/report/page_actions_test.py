"""Actions on the report page: copying, sorting, choosing curves, moving in the timeline."""
import csv
import io
import unittest

import sample
from page_case import PageTest


class Actions(PageTest):
    def test_copies_a_table_as_csv(self):
        data = sample.page()
        self.show(data)
        self.browser.click("#tables [aria-label^=Copy]")
        self.browser.wait_until("return document.querySelector('#tables [aria-label^=Copy]').textContent === 'Copied';")
        rows = list(csv.reader(io.StringIO(self.clipboard())))
        self.assertEqual(rows, [data["tables"][0]["columns"], *data["tables"][0]["rows"]])

    def test_copies_without_the_clipboard_api(self):
        self.show(sample.page())
        self.browser.run("navigator.clipboard.writeText = () => Promise.reject(new Error('closed'));")
        self.browser.click(".command button")
        self.browser.wait_until("return document.querySelector('.command button').textContent === 'Copied';")
        self.assertEqual(self.clipboard(), "lockstep compare --epochs 10")

    def test_sorts_a_table_by_its_numbers(self):
        data = sample.page()
        for row, value in zip(data["tables"][0]["rows"], ("10.5", "–", "9.25")):
            row[1] = value
        self.show(data)
        first = lambda: [row[0] for row in self.table("Methods")][1:]
        self.browser.click("#tables th[title]")
        self.assertEqual(first(), ["ddp", "alone", "ring"])
        self.browser.click("#tables th[title]")
        self.assertEqual(first(), ["alone", "ddp", "ring"])

    def test_legend_hides_a_curve_in_every_chart(self):
        self.show(sample.page())
        visible = """return [...document.querySelectorAll('#learning canvas')].map((canvas) =>
            Chart.getChart(canvas).data.datasets.filter((set) => set.showLine !== false).map((set) => set.label));"""
        self.assertEqual(self.browser.run(visible), [["alone", "ring", "ddp"]] * 3)
        self.browser.click("#learning .legend button:nth-child(2)")
        self.assertEqual(self.browser.run(visible), [["alone", "ddp"]] * 3)
        self.assertEqual(self.count(".legend button[aria-pressed=false]"), 3, "all legends show it")

    def test_every_rank_can_have_its_own_curve(self):
        self.show(sample.page())
        self.browser.run("""const list = document.querySelector('#learning select');
            list.value = 'every';
            list.dispatchEvent(new Event('change'));""")
        curves = self.browser.run("return Chart.getChart(document.querySelector('#learning canvas')).data.datasets.length;")
        self.assertEqual(curves, 9)


class Timeline(PageTest):
    def setUp(self):
        super().setUp()
        self.show(sample.page())
        self.whole = self.range()
        self.assertEqual(self.whole, (0, 1.2))
        self.browser.run("document.querySelector('#timeline').scrollIntoView();")

    def test_wheel_zooms_about_the_pointer_after_a_click(self):
        self.browser.wheel("#timeline-canvas", 0, 0, -120)
        self.assertEqual(self.range(), self.whole, "before a click the wheel scrolls the page")
        self.browser.click("#timeline-canvas")
        self.browser.wheel("#timeline-canvas", 0, 0, -120)
        start, end = self.range()
        self.assertLess(end - start, 1.0)
        self.assertGreater(start, 0)
        self.assertLess(end, 1.2)

    def test_buttons_keys_drag_and_double_click(self):
        self.browser.click(".zoom button")
        zoomed = self.range()
        self.assertEqual(zoomed, (0.3, 0.9))
        self.browser.drag("#timeline-canvas", 100)
        dragged = self.range()
        self.assertLess(dragged[0], zoomed[0])
        self.assertAlmostEqual(dragged[1] - dragged[0], 0.6, places=1)
        self.browser.keys("#timeline-canvas", "+")
        self.assertLess(self.range()[1] - self.range()[0], 0.5)
        self.browser.run("document.querySelector('#timeline-canvas').dispatchEvent(new MouseEvent('dblclick'));")
        self.assertEqual(self.range(), self.whole)

    def test_two_fingers_zoom(self):
        self.browser.pinch("#timeline-canvas", 40, 200)
        start, end = self.range()
        self.assertLess(end - start, 0.6)

    def test_the_tooltip_names_the_span(self):
        self.browser.run("""const canvas = document.querySelector('#timeline-canvas');
            const x = 112 + (canvas.clientWidth - 112) * 0.5;
            canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: x + canvas.getBoundingClientRect().left,
                clientY: canvas.getBoundingClientRect().top + 40}));""")
        self.assertIn("backward", self.text(".tip"))
        self.assertIn("600 µs", self.text(".tip"))

    def test_says_how_much_backward_hides(self):
        self.assertIn("Backward hides 51 % of the time in collectives", self.text("#timeline"))  # 200 of 390 µs
        self.assertIn("Backward hides 51 %", self.browser.run(
            "return document.querySelector('#timeline-canvas').getAttribute('aria-label');"))

    def test_messages_count_where_there_are_no_collectives(self):
        data = sample.page(("p2p",))
        lanes = data["runs"][0]["timeline"]["lanes"]
        for span in (span for lane in lanes for span in lane["spans"] if span["kind"] == "collective"):
            span["kind"] = "message"
        self.show(data)
        self.assertIn("Backward hides 51 % of the time in messages", self.text("#timeline"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
