"""Runs every command in README.md, HACKING.md and docs/, and compares C++ snippets with the examples."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "HACKING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Running the tests from within the tests would not end; CI runs these commands itself.
RUN_ELSEWHERE = {"./lockstep test", "./lockstep test --preset asan", "./lockstep test --preset asan-torch",
                 "./lockstep test --preset tsan", "./lockstep test --preset fuzz"}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


class Docs(unittest.TestCase):
    def test_commands_run(self):
        with tempfile.TemporaryDirectory() as folder:
            # A folder like a clone's, where runs can be left without a trace.
            for name in ("lockstep", "build", "data", "docs"):
                os.symlink(ROOT / name, pathlib.Path(folder) / name)
            commands = 0
            for page in PAGES:
                for block in blocks(page, "sh"):
                    for command in block.strip().splitlines():
                        if command in RUN_ELSEWHERE:
                            continue
                        with self.subTest(page=page.name, command=command):
                            done = subprocess.run(command, shell=True, cwd=folder,
                                                  capture_output=True, text=True)
                            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                        commands += 1
            self.assertGreater(commands, 5)

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
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")

    def test_every_package_is_explained(self):
        packages = [line.strip() for line in (ROOT / "packages.txt").read_text().splitlines()
                    if line.strip() and line[0] not in "#["]
        text = (ROOT / "docs" / "dependencies.md").read_text()
        for package in packages:
            self.assertIn(package, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
