"""Runs every command in README.md, HACKING.md and docs/, compares C++ snippets with the examples, and follows links."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "HACKING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md",
         ROOT / "tests" / "compatibility" / "README.md"]
# Running the tests from within the tests would not end; CI runs these commands itself.
RUN_ELSEWHERE = {"./lockstep test", "./lockstep test --preset asan", "./lockstep test --preset asan-torch",
                 "./lockstep test --preset tsan", "./lockstep test --preset fuzz"}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = [re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
                for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {*headings, *re.findall(r'<a id="([^"]+)">', text)}


class Docs(unittest.TestCase):
    def test_commands_run(self):
        with tempfile.TemporaryDirectory() as folder:
            # A folder like a clone's, where runs can be left without a trace.
            for name in ("lockstep", "build", "data", "docs"):
                os.symlink(ROOT / name, pathlib.Path(folder) / name)
            done_before = set()  # several pages have the same command
            for page in PAGES:
                for block in blocks(page, "sh"):
                    for command in block.strip().splitlines():
                        if command in RUN_ELSEWHERE | done_before:
                            continue
                        with self.subTest(page=page.name, command=command):
                            done = subprocess.run(command, shell=True, cwd=folder,
                                                  capture_output=True, text=True)
                            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                        done_before.add(command)
            self.assertGreater(len(done_before), 5)

    def test_commands_run_elsewhere_really_are(self):
        ci = [line for name in ("run", "long") for line in (ROOT / ".ci" / name).read_text().splitlines()]
        for command in RUN_ELSEWHERE:
            self.assertIn(command, ci)

    def test_snippets_are_parts_of_examples(self):
        examples = [squeezed(path.read_text()) for path in (ROOT / "examples").glob("*.cpp")]
        snippets = [block for page in PAGES for block in blocks(page, "cpp")]
        self.assertTrue(snippets)
        for snippet in snippets:
            self.assertTrue(any(squeezed(snippet) in example for example in examples), snippet)

    def test_links_lead_somewhere(self):
        for page in TEXTS:
            for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^):]+))?\)", page.read_text()):
                file = page.parent / target if target else page
                self.assertTrue(file.exists(), f"{page.name}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors(file), f"{page.name}: {target}#{anchor}")

    def test_every_page_is_in_the_index(self):
        index = (ROOT / "docs" / "README.md").read_text()
        for page in (ROOT / "docs").glob("*.md"):
            if page.name != "README.md":
                self.assertIn(f"]({page.name})", index)

    def test_files_that_are_named_exist(self):
        """`src/sync/ddp.cpp` in a text; in the table of folders also a file's name alone. NAME stands for a new file's."""
        for page in TEXTS:
            for name in re.findall(r"`((?:src|include|tests|benchmarks|examples|cmake|docs|data)/[\w./+-]+)`", page.read_text()):
                if "NAME" not in name and page.name != "CHANGELOG.md":
                    program = ROOT / f"{name}.cpp"
                    self.assertTrue((ROOT / name).exists() or program.exists(), f"{page.name}: {name}")
        table = re.search(r"## Folders\n(.*?)\n## ", (ROOT / "HACKING.md").read_text(), re.DOTALL)[1]
        for row in re.findall(r"^\| (`.*?) \|.*\| (.*) \|$", table, re.MULTILINE):
            folders, files = ([*re.findall(r"`([^`]+)`", cell)] for cell in row)
            for file in files:
                self.assertTrue(any((ROOT / folder / file).exists() for folder in folders), f"HACKING.md: {folders} {file}")

    def test_every_folder_is_in_the_table(self):
        table = (ROOT / "HACKING.md").read_text()
        for folder in [*(ROOT / "src").iterdir(), *(ROOT / "src" / "comm").iterdir(), *(ROOT / "src" / "train").iterdir()]:
            if folder.is_dir():
                self.assertIn(f"`{folder.relative_to(ROOT)}/`", table)

    def test_every_package_is_explained(self):
        packages = [line.strip() for line in (ROOT / "packages.txt").read_text().splitlines()
                    if line.strip() and line[0] not in "#["]
        text = (ROOT / "docs" / "dependencies.md").read_text()
        for package in packages:
            self.assertIn(package, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
