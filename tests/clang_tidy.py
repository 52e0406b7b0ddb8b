#!/usr/bin/env python3
"""Runs clang-tidy over every source of src/ that includes no torch, and fails on findings.

    tests/clang_tidy.py BUILD [--jobs N] [PATH...]

BUILD is a build folder of the preset `tidy`; its compile_commands.json has the flags. PATH limits the run to files and
folders below src/. `./lockstep test --preset tidy` configures that build and runs this script over all files.

A file without findings is skipped until it, a project header it includes, .clang-tidy or the flags change: BUILD/clean.txt
has the digests of clean files. Delete that file after an upgrade of system headers.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import re
import subprocess
import sys

from layers_test import INCLUDE, TORCH, TORCH_HEADERS

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
FINDING = re.compile(r"^(/\S+:\d+:\d+): (?:warning|error): (.*)$", re.MULTILINE)


@functools.cache
def includes(path):
    """The project's files that a file includes, and whether it includes torch itself."""
    files, torch = [], False
    for quoted, angled in INCLUDE.findall(path.read_text()):
        torch |= bool(TORCH.match(angled)) or angled in TORCH_HEADERS
        files.append(SOURCE / quoted if quoted else ROOT / "include" / angled)
    return [file for file in files if file.is_file()], torch


def closure(path):
    """A file and all that it includes of the project, directly or not."""
    found, waiting = set(), [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += includes(file)[0]
    return sorted(found)


def torch_free_sources():
    return [path for path in sorted(SOURCE.rglob("*.cpp")) if not any(includes(file)[1] for file in closure(path))]


def settings(build):
    """A key of everything that results depend on: the version of clang-tidy, its checks, the flags."""
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    return version + (ROOT / ".clang-tidy").read_bytes() + (build / "compile_commands.json").read_bytes()


def digest(path, common):
    content = hashlib.sha256(common)
    for file in closure(path):
        content.update(f"{file.relative_to(ROOT)}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return content.hexdigest()


def findings(path, build):
    """Findings as (place, message). clang-tidy infers the flags of a source that this build does not compile from those of
    a neighbour."""
    done = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), str(path)], capture_output=True, text=True)
    found = FINDING.findall(done.stdout)
    if done.returncode and not found:
        found = [(str(path), (done.stdout + done.stderr).strip() or f"clang-tidy ended with {done.returncode}")]
    return found


def arguments():
    parser = argparse.ArgumentParser(description="Runs clang-tidy over the torch-free sources of src/.")
    parser.add_argument("build", type=pathlib.Path, help="build folder of the preset `tidy`")
    parser.add_argument("paths", nargs="*", type=pathlib.Path, help="files and folders to check [all of src/]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="files checked at a time [%(default)s]")
    return parser.parse_intermixed_args()


def main():
    wanted = arguments()
    if not (wanted.build / "compile_commands.json").is_file():
        sys.exit(f"clang_tidy: {wanted.build} is not configured: run cmake --preset tidy first")
    limits = [path.resolve() for path in wanted.paths] or [SOURCE]
    common = settings(wanted.build)
    digests = {path: digest(path, common) for path in torch_free_sources()
               if any(path.is_relative_to(limit) for limit in limits)}
    if not digests:
        sys.exit("clang_tidy: no torch-free source of src/ is among the given paths")
    clean_file = wanted.build / "clean.txt"
    clean = set(clean_file.read_text().split()) if clean_file.exists() else set()

    all_found = set()  # a finding in a header shows up in every file that includes it
    # The lines look like those of Python's unittest, so that the front door counts files like tests.
    with concurrent.futures.ThreadPoolExecutor(wanted.jobs) as pool, clean_file.open("a") as record:
        checks = {pool.submit(findings, path, wanted.build): path
                  for path, key in digests.items() if key not in clean}
        for path in digests.keys() - checks.values():
            print(f"test {path.relative_to(ROOT)} ... ok")
        for check in concurrent.futures.as_completed(checks):
            path, found = checks[check], check.result()
            print(f"test {path.relative_to(ROOT)} ... {'FAIL' if found else 'ok'}", flush=True)
            all_found.update(found)
            if not found:
                print(digests[path], file=record, flush=True)
    for place, message in sorted(all_found):
        print(f"FAIL: {place.removeprefix(f'{ROOT}/')}: {message}")
    print(f"{len(digests)} files, {len(checks)} of them checked now, {len(all_found)} findings")
    return 1 if all_found else 0


if __name__ == "__main__":
    sys.exit(main())
