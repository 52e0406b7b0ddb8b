"""Makes the run folders of the version of a lockstep command: make.py BINARY.

Runs in a temporary folder with relative paths, so that the files name no folder of this machine, and writes to the folder of
the version beside this file. CONTRIBUTING.md says when to run it.
"""
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"

SMALL = ["--data-dir", "data", "--limit", "64", "--batch", "16"]  # 4 iterations per epoch
# The run folders that can be resumed, with the options that a resumed run must repeat.
RUNS = {"shards": ["--shards", "2", "--momentum", "0.9"], "plain": []}
TRACED = {"shards": "2", "plain": "0"}
STOPPED, RESUMED = 6, 10  # iterations of a checkpoint, and of the run that resumes from it


def train(binary, work, name, options, iterations, *more):
    subprocess.run([binary, "train", *SMALL, *options, "--workers", "2", "--iterations", str(iterations), "--run-dir", name, *more],
                   cwd=work, check=True)


def make_runs(binary, work):
    """Returns what a resumed run must come to: the results of runs that never stopped."""
    expected = {}
    for name, options in RUNS.items():
        train(binary, work, f"{name}-whole", options, RESUMED)
        summary = json.loads((work / f"{name}-whole" / "summary.json").read_text())
        expected[name] = {"options": [*SMALL[2:], *options], "iterations": RESUMED,
                          **{field: summary[field] for field in ("train_loss", "test_loss", "test_accuracy")}}
        train(binary, work, name, options, STOPPED, "--checkpoint-every", str(STOPPED), "--keep-checkpoints", "1", "--trace",
              TRACED[name])
    return expected


def children_of(process):
    return [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def make_failed(binary, work):
    """A run whose rank 1 is killed."""
    run = subprocess.Popen([binary, "train", *SMALL, "--workers", "2", "--slow", "1:20", "--epochs", "1000000", "--trace", "0",
                            "--log-every", "1", "--run-dir", "failed"], cwd=work, text=True, stdout=subprocess.PIPE)
    for line in run.stdout:
        if "iteration 8/" in line:
            break
    workers = [child for child in children_of(run.pid)
               if pathlib.Path(f"/proc/{child}/comm").read_text() != "lockstep-guard\n"]
    os.kill(max(workers), signal.SIGKILL)
    run.communicate()


def make_comparison(binary, work):
    subprocess.run([binary, "compare", *SMALL, "--methods", "ring", "--workers", "2", "--iterations", str(STOPPED), "--trace",
                    "2", "--run-dir", "compare"], cwd=work, check=True)


def keep(work, folder):
    """All but pages, weights and locks. The names of the host and of its kernel are replaced."""
    names = [(rf"\b{re.escape(socket.gethostname())}\b", "host"), (re.escape(platform.release()), "6.1")]
    for name in (*RUNS, "failed", "compare"):
        for file in sorted((work / name).rglob("*")):
            if file.suffix not in (".json", ".jsonl") and file.parent.name != "checkpoints" or not file.is_file():
                continue
            kept = folder / file.relative_to(work)
            kept.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".safetensors":
                shutil.copyfile(file, kept)
            else:
                text = file.read_text()
                for pattern, replacement in names:
                    text = re.sub(pattern, replacement, text)
                kept.write_text(text)


def main():
    binary = os.path.abspath(sys.argv[1])
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "data").symlink_to(DATA)
        expected = make_runs(binary, work)
        make_failed(binary, work)
        make_comparison(binary, work)
        keep(work, HERE / version)
    (HERE / version / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


if __name__ == "__main__":
    main()
