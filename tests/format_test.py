"""The layout of all C++ files is that of .clang-format."""

import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]


class Format(unittest.TestCase):
    def test_clang_format_would_change_nothing(self):
        files = [str(path) for folder in ("include", "src", "tests", "examples", "benchmarks")
                 for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cpp")]
        self.assertTrue(files)
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", *files],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[:4000])


if __name__ == "__main__":
    unittest.main(verbosity=2)
