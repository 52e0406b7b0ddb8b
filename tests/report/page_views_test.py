"""Views of the report page: columns that fit, colours of methods, legends, and the timeline that opens first."""
import itertools
import math
import unittest

import sample
from page_case import PageTest

METHODS = ("alone", "gather-scatter", "p2p", "coordinator", "all-reduce", "ring", "tree", "halving-doubling", "ddp", "sharded",
           "server", "local-sgd")

# Columns of a table that are on the screen, and whether its box must be scrolled.
SHOWN = """const box = document.querySelector('#tables .scroll');
    return {columns: [...box.querySelectorAll('thead tr:last-child th')].map((cell) => cell.textContent.replace(/\\u00a0/g, ' ')),
            fits: box.scrollWidth <= box.clientWidth};"""
SWITCH = "#tables .actions [aria-pressed]"

# By method: its colour as #rrggbb, and the class with its pattern.
SWATCHES = """return Object.fromEntries([...document.querySelectorAll('#tables tbody th')].map((cell) => {
    const its = cell.querySelector('.swatch');
    const name = its.style.getPropertyValue('--colour').slice(4, -1);
    const colour = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    return [cell.textContent, [colour, [...its.classList].find((one) => one.startsWith('pattern-'))]];
}));"""

# How readers with protanopia, deuteranopia and tritanopia see linear red, green and blue: Machado, Oliveira and Fernandes
# (2009), severity 1.
BLINDNESS = (((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
             ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
             ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)))


def linear(colour):
    values = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    return [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]


def seen(rgb, blindness):
    return [min(1, max(0, sum(a * b for a, b in zip(row, rgb)))) for row in blindness]


def oklab(rgb):
    """Oklab, in which distances are alike for the eye: https://bottosson.github.io/posts/oklab/."""
    rows = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005))
    l, m, s = (sum(a * b for a, b in zip(row, rgb)) ** (1 / 3) for row in rows)
    return (0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s, 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s)


class KeyFigures(PageTest):
    """The program decides which run is the fastest; the page shows it."""

    def figures(self, ranking, **more):
        self.show(sample.page(ranking=ranking, **more))
        return {label: self.text(f"#figures > div:nth-child({index + 1}) dd") for index, label in enumerate(
            self.browser.run("return [...document.querySelectorAll('#figures dt')].map((its) => its.textContent);"))}

    def entry(self, name, rate, repetitions=1):
        return {"name": name, "images_per_second": rate, "lowest": 0.9 * rate, "highest": 1.1 * rate, "repetitions": repetitions}

    def test_the_fastest_exact_method_and_one_that_is_not_exact(self):
        figures = self.figures({"fastest": "ddp", "exact": [self.entry("ddp", 5000, 3), self.entry("ring", 2500, 3)],
                                "inexact": [self.entry("local-sgd", 9000)]})
        self.assertEqual(figures["Fastest: ddp"], "5000 images/s4500 to 5500 in 3 repetitions")
        self.assertEqual(figures["Slowest: ring"], "2500 images/sddp is 2.00 times as fast")
        self.assertEqual(figures["Not exact: local-sgd"], "9000 images/strains differently")
        self.assertEqual(figures["Speed-up over one worker"], "1.25 ×ddp", "one worker trains 4000.5 images/s")

    def test_no_method_is_the_fastest_within_noise(self):
        figures = self.figures({"fastest": None, "exact": [self.entry("ddp", 5000), self.entry("ring", 4900)], "inexact": []})
        self.assertEqual(figures["Highest rate: ddp"], "5000 images/sothers are within noise")
        self.assertNotIn("Fastest: ddp", figures)

    def test_runs_of_different_batches_have_bars_of_images_per_second(self):
        titles = "return [...document.querySelectorAll('#by-method figure h3')].map((its) => its.textContent);"
        data = sample.page(("one", "two"), kind="side-by-side")
        self.show(data)
        self.assertIn("Time by method", self.browser.run(titles))
        data["runs"][0]["config"]["batch"] = 64
        self.show(data)
        self.assertIn("Images per second by method", self.browser.run(titles))
        self.assertNotIn("Time by method", self.browser.run(titles))


class Columns(PageTest):
    def shown(self, width, mobile=False):
        self.browser.size(width, 900, mobile=mobile)
        self.show(sample.page(tables=[sample.wide_table()]))
        return self.browser.run(SHOWN)

    def test_the_table_fits_at_every_width(self):
        counts = []
        for width in (390, 768, 1120, 1920):
            shown = self.shown(width, mobile=width < 500)
            self.assertTrue(shown["fits"], width)
            self.assertIn("method", shown["columns"])
            for column in ("images/s", "test %"):
                self.assertIn(column, shown["columns"], f"important at {width}")
            counts.append(len(shown["columns"]))
        self.assertEqual(counts, sorted(counts))
        self.assertLess(counts[0], counts[-1])

    def test_the_switch_shows_all_columns_and_is_not_remembered(self):
        narrow = self.shown(768)["columns"]
        self.browser.click(SWITCH)
        self.assertEqual(self.browser.run(SHOWN)["columns"], sample.wide_table()["columns"])
        self.assertEqual(self.text(SWITCH), "Fewer columns")
        self.browser.click(SWITCH)
        self.assertEqual(self.browser.run(SHOWN)["columns"], narrow)
        self.browser.click(SWITCH)
        self.assertEqual(self.shown(768)["columns"], narrow)

    def test_a_wider_window_shows_more(self):
        narrow = self.shown(600)["columns"]
        self.browser.size(1120, 900)
        self.browser.wait_until(f"{SHOWN.replace('return {', 'return ({')[:-1]}).columns.length > {len(narrow)};")

    def test_columns_have_groups(self):
        self.shown(1920)
        self.browser.click(SWITCH)
        groups = self.browser.run("""return [...document.querySelectorAll('#tables .groups > *')].map((cell) =>
            [cell.textContent, cell.colSpan]);""")
        self.assertEqual([name for name, _ in groups], ["", "Speed", "Time", "Traffic", "Learning"])
        self.assertEqual(sum(span for _, span in groups), len(self.browser.run(SHOWN)["columns"]))

    def test_sorting_keeps_the_columns_that_fit(self):
        before = self.shown(768)["columns"]
        self.browser.click("#tables thead tr:last-child th:nth-child(2)")
        self.assertEqual(self.browser.run(SHOWN)["columns"], before)
        cells = self.browser.run("return document.querySelectorAll('#tables tbody tr:first-child > *').length;")
        self.assertEqual(cells, len(before))

    def test_the_order_stays_when_columns_change(self):
        self.shown(768)
        names = "return [...document.querySelectorAll('#tables tbody th')].map((cell) => cell.textContent);"
        before = self.browser.run(names)
        self.browser.click("#tables thead tr:last-child th")
        self.assertEqual(self.browser.run(names), sorted(before))
        self.browser.click(SWITCH)
        self.assertEqual(self.browser.run(names), sorted(before))
        self.browser.click("#tables thead tr:last-child th")
        self.assertEqual(self.browser.run(names), sorted(before, reverse=True))

    def test_long_tables_are_folded(self):
        rows = [[f"run {number}", "1"] for number in range(30)]
        long = {"title": "Ranks by method", "columns": ["method", "rank"], "rows": rows}
        self.show(sample.page(tables=[sample.wide_table(), long]))
        self.assertIn("30 rows", self.text("#tables"))
        self.assertEqual(self.count("#tables .table:last-of-type details[open]"), 0)


class Colours(PageTest):
    def swatches(self, theme):
        self.browser.media("screen", prefers_color_scheme=theme)
        self.show(sample.page(METHODS, ranks=2, points=5))
        return self.browser.run(SWATCHES)

    def test_twelve_methods_can_be_distinguished(self):
        for theme in ("light", "dark"):
            swatches = self.swatches(theme)
            self.assertEqual(set(swatches), set(METHODS))
            for (one, (colour, pattern)), (other, (colour_2, pattern_2)) in itertools.combinations(swatches.items(), 2):
                pair = f"{theme}: {one} {colour}, {other} {colour_2}"
                a, b = linear(colour), linear(colour_2)
                self.assertGreater(math.dist(oklab(a), oklab(b)), 0.1, pair)
                blind = min(math.dist(oklab(seen(a, its)), oklab(seen(b, its))) for its in BLINDNESS)
                self.assertGreater(blind, 0.09 if pattern == pattern_2 else 0.03, pair)

    def test_a_method_has_its_colour_on_every_page(self):
        alone = self.swatches("light")
        self.show(sample.page(("p2p", "tree", "ring")))
        few = self.browser.run(SWATCHES)
        self.assertEqual(few, {name: alone[name] for name in few})
        data = sample.page(("first", "second"), kind="side-by-side")
        for run, method in zip(data["runs"], ("ring", "tree")):
            run["config"]["sync"] = method
        self.show(data)
        named = self.browser.run(SWATCHES)
        self.assertEqual([named["first"], named["second"]], [alone["ring"], alone["tree"]], "folders of other names")

    def test_lines_are_dashed_and_bars_are_hatched(self):
        self.show(sample.page(("ddp", "gather-scatter", "all-reduce", "coordinator")))
        dashes = self.browser.run("""return Chart.getChart(document.querySelector('#learning canvas')).data.datasets
            .map((set) => set.borderDash.join());""")
        self.assertEqual(len(set(dashes)), 4)
        fills = self.browser.run("""return Chart.getChart(document.querySelector('#by-method canvas')).data.datasets[0]
            .backgroundColor.map((fill) => (fill instanceof CanvasPattern ? 'hatched' : 'plain'));""")
        self.assertEqual(fills, ["plain", "hatched", "hatched", "hatched"])


class Legends(PageTest):
    def test_pressing_a_part_of_the_time_hides_it(self):
        self.show(sample.page())
        self.browser.click("#time .keys button:nth-child(2)")
        self.assertEqual(self.browser.run("""return Chart.getChart(document.querySelector('#time canvas')).data.datasets
            .filter((set) => set.hidden).map((set) => set.label);"""), [self.text("#time .keys button:nth-child(2)")])
        self.browser.click("#time .keys button:nth-child(2)")
        self.assertEqual(self.browser.run("""return Chart.getChart(document.querySelector('#time canvas')).data.datasets
            .filter((set) => set.hidden).length;"""), 0)

    def test_pressing_a_line_of_a_scaling_chart_hides_it(self):
        self.show(sample.page(("2 x 32", "4 x 32"), kind="scale", scaling=sample.scaling()))
        visible = """return Chart.getChart(document.querySelector('#scaling canvas')).getVisibleDatasetCount();"""
        before = self.browser.run(visible)
        self.browser.click("#scaling .keys button")
        self.assertEqual(self.browser.run(visible), before - 1)

    def test_pressing_a_name_in_the_timeline_hides_its_boxes(self):
        self.show(sample.page())
        pixels = "return document.querySelector('#timeline-canvas').toDataURL();"
        before = self.browser.run(pixels)
        self.browser.click("#timeline .keys button:nth-child(2)")
        self.assertNotEqual(self.browser.run(pixels), before)
        self.browser.click("#timeline .keys button:nth-child(2)")
        self.assertEqual(self.browser.run(pixels), before)

    def test_a_hidden_run_leaves_the_bars(self):
        self.show(sample.page())
        labels = "return Chart.getChart(document.querySelector('#by-method canvas')).data.labels;"
        self.assertEqual(self.browser.run(labels), ["alone", "ring", "ddp"])
        self.browser.click("#learning .legend button:nth-child(2)")
        self.assertEqual(self.browser.run(labels), ["alone", "ddp"])


class Charts(PageTest):
    def test_the_timeline_opens_on_the_run_that_loses_most_to_communication(self):
        data = sample.page(("alone", "p2p", "ring", "ddp"))
        for run, exposed in zip(data["runs"], (0, 0.003, 0.001, 0.0001)):
            run["parts"]["exposed"] = exposed
        self.show(data)
        self.assertEqual(self.browser.run("return document.querySelector('#timeline select').value;"), "p2p")

    def test_bars_of_time_loss_and_accuracy(self):
        data = sample.page()
        self.show(data)
        bars = self.browser.run("""return [...document.querySelectorAll('#by-method canvas')].map((canvas) =>
            Chart.getChart(canvas).data.datasets[0].data);""")
        expected = [[1e3 * run["summary"]["seconds_per_iteration"]["mean"] for run in data["runs"]],
                    [run["summary"]["train_loss"] for run in data["runs"]],
                    [100 * run["summary"]["test_accuracy"] for run in data["runs"]]]
        for shown, known in zip(bars, expected, strict=True):
            self.assertEqual([round(value, 6) for value in shown], [round(value, 6) for value in known])

    def test_time_per_iteration_over_workers(self):
        scaling = sample.scaling(batches=(32,))
        points = [{**point, "method": method} for point in scaling["points"] for method in ("ring", "ddp")]
        self.show(sample.page(("2 x 32", "4 x 32"), kind="scale", scaling={"weak": False, "points": points}))
        lines = self.browser.run("""const figure = [...document.querySelectorAll('#scaling figure')].find((its) =>
                its.querySelector('h3').textContent === 'Time per iteration over workers');
            return Chart.getChart(figure.querySelector('canvas')).data.datasets.map((set) => [set.label, set.borderColor,
                set.data.map((point) => [point.x, point.y])]);""")
        colours = self.browser.run("""const style = getComputedStyle(document.documentElement);
            return [6, 1].map((slot) => style.getPropertyValue(`--series-${slot}`).trim());""")
        known = [[1, 100], [2, 50], [4, 25]]
        self.assertEqual([[label, colour, [[x, round(y, 6)] for x, y in data]] for label, colour, data in lines],
                         [["batch 32 per worker, ring", colours[0], known], ["batch 32 per worker, ddp", colours[1], known]])


if __name__ == "__main__":
    unittest.main(verbosity=2)
