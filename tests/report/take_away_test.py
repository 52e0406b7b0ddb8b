"""What a reader takes away from the report page: pictures, tables as files, and paper."""
import base64
import csv
import io
import re
import struct
import unittest
import zlib

import sample
from page_case import PageTest

A4 = (595, 842)  # points

# For every table on paper: its width in CSS pixels, and whether a number is broken into lines.
PAPER_TABLES = """return [...document.querySelectorAll('.table .scroll table')].map((table) => ({
    title: table.closest('.table').querySelector('h3').textContent,
    width: table.getBoundingClientRect().width,
    heads: [...table.querySelectorAll('thead tr:last-child th')].map((cell) => cell.textContent.replace(/\\u00a0/g, ' ')),
    broken: [...table.querySelectorAll('td.number')].filter((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
    }).map((cell) => cell.textContent) }));"""


def png_of(file):
    """Width, height and the unfiltered bytes of the first row of a PNG file with 8 bits per channel."""
    data = file.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8
    at, compressed = 8, b""
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        compressed += data[at + 8:at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    return width, height, zlib.decompress(compressed)[1:1 + {2: 3, 6: 4}[kind]], len(compressed)


class Saving(PageTest):
    def setUp(self):
        super().setUp()
        self.downloads = self.folder / "downloads"
        self.downloads.mkdir(exist_ok=True)
        self.browser.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    def saved(self, name, button):
        """The file that pressing this button saves."""
        file = self.downloads / name
        file.unlink(missing_ok=True)
        self.browser.run("document.querySelector(arguments[0]).click();", button)
        self.wait_until_true(file.exists)
        return file

    def test_a_chart_as_png_in_light_colours(self):
        self.browser.media("screen", prefers_color_scheme="dark")
        self.show(sample.page())
        button = '#learning .actions [aria-label*="Loss over iterations"]'
        width, height, corner, size = png_of(self.saved("loss-over-iterations.png", button))
        self.assertEqual(width, 2 * (960 + 48))
        self.assertGreater(height, 2 * 300)
        self.assertEqual(corner[:3], b"\xff\xff\xff")
        self.assertGreater(size, 20000, "an empty picture is small")
        self.assertEqual(self.browser.run("return document.documentElement.dataset.theme;"), "dark", "as before")
        self.expect_drawn(canvases=10)

    def test_the_timeline_as_png(self):
        self.show(sample.page())
        button = "#timeline .tools [aria-label*=PNG]"
        width, _, _, size = png_of(self.saved("timeline-of-one-iteration.png", button))
        self.assertEqual(width, 2 * (960 + 48))
        self.assertGreater(size, 10000)

    def test_every_chart_and_table_has_its_buttons(self):
        self.show(sample.page(scaling=sample.scaling(), kind="scale"))
        self.assertEqual(self.count("[aria-label$='as PNG']"), self.count("canvas"))
        for kind in ("Copy", "Save"):
            self.assertGreaterEqual(self.count(f".table [aria-label^={kind}]"), self.count(".table"))

    def test_a_table_as_csv_with_one_number_per_cell(self):
        self.show(sample.page(tables=[sample.unclean_table()]))
        file = self.saved("by-batch.csv", '[aria-label="Save the table “By batch” as CSV"]')
        rows = list(csv.reader(io.StringIO(file.read_bytes().decode(), newline="")))
        self.assertEqual(rows, [["workers", "32 s", "32 ×"], ["1", "0.250", "1.00"], ["2", "", ""]])

    def test_a_table_as_markdown(self):
        self.show(sample.page(tables=[{"title": "A | table", "columns": ["run", "loss"], "rows": [["a_b", "0.5"], ["c", "–"]],
                                        "explain": {"loss": "in the last epoch"}}]))
        text = self.saved("a-table.md", '[aria-label="Save the table “A | table” as Markdown"]').read_text()
        self.assertEqual(text, "## A \\| table\n\n| run | loss |\n| --- | ---: |\n| a\\_b | 0.5 |\n| c | |\n\n"
                               "- loss: in the last epoch\n")


class Paper(PageTest):
    def to_paper(self):
        self.browser.size(688, 900)
        self.browser.run("window.dispatchEvent(new Event('beforeprint'));")
        self.browser.media("print")

    def test_wide_tables_are_printed_in_parts(self):
        table = sample.wide_table()
        self.show(sample.page(tables=[table]))
        self.to_paper()
        parts = [its for its in self.browser.run(PAPER_TABLES) if its["title"] == table["title"]]
        self.assertGreater(len(parts), 1)
        for part in parts:
            self.assertLessEqual(part["width"], 688)
            self.assertEqual(part["heads"][:2], ["method", "workers"], "every part names its rows")
            self.assertEqual(part["broken"], [])
        self.assertEqual([head for part in parts for head in part["heads"][2:]], table["columns"][2:])

    def test_no_table_is_wider_than_the_paper(self):
        for data in (sample.page(), sample.page(("2 x 32", "4 x 32"), kind="scale", scaling=sample.scaling())):
            self.show(data)
            self.to_paper()
            tables = self.browser.run(PAPER_TABLES)
            self.assertGreater(len(tables), 2)
            self.assertEqual([its["title"] for its in tables if its["width"] > 688.5 or its["broken"]], [])

    def test_after_printing_the_table_is_whole_again(self):
        self.show(sample.page(tables=[sample.wide_table()]))
        before = self.browser.run("return document.querySelector('#tables .scroll').innerHTML;")
        self.browser.run("window.dispatchEvent(new Event('beforeprint'));")
        self.assertNotEqual(self.browser.run("return document.querySelector('#tables .scroll').innerHTML;"), before)
        self.browser.run("window.dispatchEvent(new Event('afterprint'));")
        self.assertEqual(self.browser.run("return document.querySelector('#tables .scroll').innerHTML;"), before)

    def test_the_pdf_is_a4_and_sections_begin_pages(self):
        self.show(sample.page(tables=[sample.wide_table()]))
        pdf = base64.b64decode(self.browser.devtools("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
        boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
        self.assertEqual({(round(float(width)), round(float(height))) for width, height in boxes}, {A4})
        self.assertGreaterEqual(len(boxes), 6, "results, methods, learning, time, timeline, configuration")


if __name__ == "__main__":
    unittest.main(verbosity=2)
