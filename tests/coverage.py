#!/usr/bin/env python3
"""Prints how many lines of src/ and include/ the tests of a build have executed, by folder.

    tests/coverage.py BUILD [--files] [--jobs N]

BUILD is a build folder of the preset `coverage` in which tests have run; `./lockstep test --preset coverage` does all of
it. A line counts as covered if it ran in any process that ended by itself: a process that a signal kills saves no counters.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = (f"{ROOT}/src/", f"{ROOT}/include/")


def lines_of(notes):
    """(file, line, whether it ran) of one object file, from what the compiler (.gcno) and the tests (.gcda) wrote."""
    # Relative to the project: this leaves out system headers, though names stay absolute.
    done = subprocess.run(["gcov", "--json-format", "--stdout", "--relative-only", "--source-prefix", str(ROOT), str(notes)],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"gcov could not read {notes}: {done.stderr.strip()}")
    return [(file["file"].removeprefix(f"{ROOT}/"), line["line_number"], line["count"] > 0)
            for text in done.stdout.splitlines() if text
            for file in json.loads(text)["files"] if file["file"].startswith(FOLDERS)
            for line in file["lines"]]


def measure(build, jobs):
    """For each file, whether each of its lines that have code ran in any object."""
    files = collections.defaultdict(dict)
    notes = sorted(path for path in build.rglob("*.gcno") if not path.name.startswith("cmake_pch"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(lines_of, notes):
            for file, line, ran in found:
                files[file][line] = files[file].get(line, False) or ran
    return files


def print_table(files, key):
    """One row for each group of files that `key` makes, and one for all."""
    rows = collections.defaultdict(lambda: [0, 0])
    for file, lines in files.items():
        for name in (key(file), "all"):
            rows[name][0] += sum(lines.values())
            rows[name][1] += len(lines)
    width = max(map(len, rows))
    print(f"{'':{width}}   lines  covered       %")
    for name in sorted(rows, key=lambda name: (name == "all", name)):
        covered, lines = rows[name]
        print(f"{name:{width}}  {lines:6}  {covered:7}  {100 * covered / lines:6.1f}")


def folder_of(file):
    parts = file.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def main():
    parser = argparse.ArgumentParser(description="Prints the line coverage of a build's tests.")
    parser.add_argument("build", type=pathlib.Path, help="build folder of the preset `coverage`")
    parser.add_argument("--files", action="store_true", help="a row for every file instead of every folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="object files read at a time [%(default)s]")
    wanted = parser.parse_args()
    if next(wanted.build.rglob("*.gcda"), None) is None:
        sys.exit(f"coverage: no test has run in {wanted.build}: run ./lockstep test --preset coverage")
    files = measure(wanted.build, wanted.jobs)
    if not files:
        sys.exit(f"coverage: {wanted.build} is not a build of {ROOT}")
    print_table(files, (lambda file: file) if wanted.files else folder_of)


if __name__ == "__main__":
    main()
