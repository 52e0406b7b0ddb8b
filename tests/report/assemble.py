"""Assembles a report page from the files in src/report/page, as the program does, with arbitrary data."""
import html
import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "src" / "report" / "page"
LIBRARY = pathlib.Path("/usr/share/javascript/chart.js/chart.min.js")


def data_text(data):
    """JSON that cannot end the element around it."""
    return json.dumps(data, ensure_ascii=False).replace("</", "<\\/").replace("<!--", "<\\u0021--")


def assemble(data):
    """The page as text. The order of the scripts does not matter: they only define functions."""
    scripts = "\n".join(path.read_text() for path in sorted(PAGE.glob("*.js")))
    parts = {"/*STYLE*/": (PAGE / "page.css").read_text(), "/*LIBRARY*/": LIBRARY.read_text(), "/*SCRIPTS*/": scripts,
             "PAGE_TITLE": html.escape(data.get("title", "")), "PAGE_DATA": data_text(data)}
    # In one pass, so that the name of a marker in the data is not replaced.
    marker = re.compile("|".join(map(re.escape, parts)))
    return marker.sub(lambda found: parts[found[0]], (PAGE / "page.html").read_text())


if __name__ == "__main__":
    sys.stdout.write(assemble(json.load(sys.stdin)))
