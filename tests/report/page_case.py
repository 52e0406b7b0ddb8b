"""Base class of tests of the report page: a browser, generated pages, and checks of the shown page."""
import json
import pathlib
import shutil
import tempfile
import time
import unittest

from assemble import assemble
from browser import HANGS, Browser

# Colours of text and of its background, as [red, green, blue] from 0 to 255. Canvases are not included.
TEXTS = """
    // Mixed colours are "color(srgb r g b)", from 0 to 1.
    const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map((part, at) =>
        Number(part) * (text.startsWith('color(') && at < 3 ? 255 : 1));
    const behind = (node) => {
        for (let its = node; its; its = its.parentElement) {
            const colour = parse(getComputedStyle(its).backgroundColor);
            if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3);
        }
        return [255, 255, 255];
    };
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !node.checkVisibility()) continue;
        found.push({text: walker.currentNode.textContent.slice(0, 40), behind: behind(node),
                    colour: parse(getComputedStyle(node).color).slice(0, 3)});
    }
    return found;"""

# How many different colours a canvas shows; 1 is a blank one.
COLOURS = """
    return [...document.querySelectorAll('canvas')].map((canvas) => {
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const seen = new Set();
        for (let at = 0; at < data.length; at += 4) seen.add(data.slice(at, at + 4).join());
        return {label: canvas.getAttribute('aria-label'), colours: seen.size};
    });"""

TABLE = """
    const clean = (text) => text.replace(/\\u00a0/g, ' ');
    const table = [...document.querySelectorAll('.table')]
        .find((its) => its.querySelector('h3').textContent === arguments[0]);
    return [...table.querySelectorAll('tr:not(.groups)')].map((row) => [...row.children].map((cell) => clean(cell.textContent)));"""


def luminance(colour):
    channels = [value / 255 for value in colour]
    parts = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    """The contrast ratio of the Web Content Accessibility Guidelines, which require 4.5 for text."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-page-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.browser = cls.enterClassContext(Browser())

    def setUp(self):
        super().setUp()
        self.browser.media()
        self.browser.size(1280, 900)

    def show(self, data):
        """Opens a page with these data."""
        file = self.folder / "page.html"
        file.write_text(assemble(data))
        self.open(file)
        return file

    def open(self, file):
        self.browser.open(file)
        self.assertEqual([entry["message"] for entry in self.browser.logs("browser")], [], "messages in the console")

    def text(self, selector):
        """The text of an element, with plain instead of non-breaking spaces."""
        text = self.browser.run("return document.querySelector(arguments[0]).textContent;", selector)
        return text.replace("\u00a0", " ")

    def count(self, selector):
        return self.browser.run("return document.querySelectorAll(arguments[0]).length;", selector)

    def expect_drawn(self, canvases):
        drawn = self.browser.run(COLOURS)
        self.assertEqual([entry["label"] for entry in drawn if entry["colours"] < 4], [], "blank")
        self.assertEqual(len(drawn), canvases, drawn)

    def expect_readable(self, least=50):
        """Checks the contrast of all texts, of which there must be more than `least`."""
        texts = self.browser.run(TEXTS)
        self.assertGreater(len(texts), least)
        faint = [its for its in texts if contrast(its["colour"], its["behind"]) < 4.5]
        self.assertEqual(faint, [])

    def table(self, title):
        """All rows of a table on the page, its head first."""
        return self.browser.run(TABLE, title)

    def wait_until_true(self, condition):
        deadline = time.monotonic() + HANGS
        while not condition():
            self.assertLess(time.monotonic(), deadline, "never became true")
            time.sleep(0.02)

    def clipboard(self):
        self.browser.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        return self.browser.run_async("return await navigator.clipboard.readText();")

    def expect_no_requests(self, file):
        messages = [json.loads(entry["message"])["message"] for entry in self.browser.logs("performance")]
        asked = {message["params"]["request"]["url"] for message in messages
                 if message["method"] == "Network.requestWillBeSent"}
        self.assertEqual({url for url in asked if not url.startswith("data:")}, {f"file://{file}"})

    def range(self):
        """The timeline's view, in milliseconds."""
        words = self.text("#timeline-range").split()
        return float(words[0]), float(words[2])
