"""The report page is readable in both themes, on a phone and on paper."""
import unittest

import sample
from page_case import PageTest


class Looks(PageTest):
    def test_light_is_readable(self):
        self.browser.media("screen", prefers_color_scheme="light")
        self.show(sample.page())
        self.assertEqual(self.browser.run("return document.documentElement.dataset.theme;"), "light")
        self.expect_readable()

    def test_dark_is_readable_and_follows_the_system(self):
        self.browser.media("screen", prefers_color_scheme="dark")
        data = sample.page(("alone", "ring"))
        data["runs"] += sample.stopped()["runs"]
        self.show(data)
        self.assertEqual(self.browser.run("return document.documentElement.dataset.theme;"), "dark")
        self.expect_readable()
        self.browser.media("screen", prefers_color_scheme="light")
        self.browser.wait_until("return document.documentElement.dataset.theme === 'light';")

    def test_the_button_changes_page_and_canvases(self):
        self.browser.media("screen", prefers_color_scheme="light")
        self.show(sample.page())
        pixels = "return [...document.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL());"
        before = self.browser.run(pixels)
        self.browser.click("#theme")
        self.expect_readable()
        after = self.browser.run(pixels)
        self.assertEqual([one == other for one, other in zip(before, after)], [False] * 10)
        self.expect_drawn(canvases=10)

    def test_a_phone_never_scrolls_sideways(self):
        self.browser.size(360, 740, 3, mobile=True)
        for data in (sample.page(), sample.hostile(), sample.page(scaling=sample.scaling()), sample.stopped()):
            self.show(data)
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth;"), 360)

    def test_paper_has_no_buttons_and_everything_unfolded(self):
        self.browser.media("screen", prefers_color_scheme="dark")
        self.show(sample.page())
        self.browser.run("window.dispatchEvent(new Event('beforeprint'));")
        self.browser.media("print", prefers_color_scheme="dark")
        shown = """return [...document.querySelectorAll(arguments[0])].filter((its) => its.checkVisibility()).length;"""
        self.assertEqual(self.browser.run(shown, "select, nav, button.small, .actions, #theme, .command button"), 0)
        self.assertEqual(self.browser.run(shown, "details:not([open])"), 0)
        self.assertEqual(self.browser.run("return document.documentElement.dataset.theme;"), "light")
        self.browser.media("screen", prefers_color_scheme="dark")
        self.browser.run("window.dispatchEvent(new Event('afterprint'));")
        self.assertEqual(self.browser.run("return document.documentElement.dataset.theme;"), "dark")
        self.assertGreater(self.browser.run(shown, "details:not([open])"), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
