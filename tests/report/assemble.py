"""Puts a report page together from the files in src/report/page, as the program does, but with any data: for what no
real run would give."""
import html
import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "src" / "report" / "page"
LIBRARY = pathlib.Path("/usr/share/javascript/chart.js/chart.min.js")


def data_text(data):
    """JSON that cannot end the element that it stands in."""
    return json.dumps(data, ensure_ascii=False).replace("</", "<\\/").replace("<!--", "<\\u0021--")


def assemble(data):
    """The page as text. Order does not matter to the scripts: all are functions until the page starts them."""
    scripts = "\n".join(path.read_text() for path in sorted(PAGE.glob("*.js")))
    parts = {"/*STYLE*/": (PAGE / "page.css").read_text(), "/*LIBRARY*/": LIBRARY.read_text(), "/*SCRIPTS*/": scripts,
             "PAGE_TITLE": html.escape(data.get("title", "")), "PAGE_DATA": data_text(data)}
    # In one pass: a marker's name within the data is no marker.
    marker = re.compile("|".join(map(re.escape, parts)))
    return marker.sub(lambda found: parts[found[0]], (PAGE / "page.html").read_text())


if __name__ == "__main__":
    sys.stdout.write(assemble(json.load(sys.stdin)))
