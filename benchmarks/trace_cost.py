#!/usr/bin/python3
"""The cost of tracing: LeNet-5, whose steps are the shortest, without a trace and with every iteration traced, in turns.

    ./lockstep --help                              # builds the program
    benchmarks/trace_cost.py

Prints the median time of an iteration in both cases, over all rounds, and their ratio; then the cost for a run of a
hundred epochs, which traces its first iterations only.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEFAULT_TRACE = 10


def seconds_per_iteration(options, trace):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "build/release/bin/lockstep", "train", "--workers", str(options.workers), "--threads", "1",
                        "--limit", "100", "--batch", "16", "--iterations", str(options.iterations), "--trace", str(trace),
                        "--run-dir", f"{folder}/run"], check=True, stdout=subprocess.DEVNULL)
        return json.loads(pathlib.Path(folder, "run", "summary.json").read_text())["seconds_per_iteration"]["p50"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=700)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    plain, traced = [], []
    for _ in range(options.rounds):
        plain.append(seconds_per_iteration(options, 0))
        traced.append(seconds_per_iteration(options, options.iterations))
    ratio = statistics.median(traced) / statistics.median(plain)
    share = min(1, DEFAULT_TRACE / options.iterations)
    print(f"without a trace  {1000 * statistics.median(plain):.3f} ms/iteration")
    print(f"all traced       {1000 * statistics.median(traced):.3f} ms/iteration, {100 * (ratio - 1):+.1f} %")
    print(f"by default       {DEFAULT_TRACE} of {options.iterations} iterations: {100 * (ratio - 1) * share:+.2f} % of the run")


if __name__ == "__main__":
    main()
