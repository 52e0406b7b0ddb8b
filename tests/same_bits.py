#!/usr/bin/python3
"""Trains one job with --shards 4 on every engine, transport, method and number of workers; prints which of them end with which
bits, and fails unless all of a model and engine are the same. By hand: it takes the better part of an hour.

    tests/same_bits.py                      # the program that ./lockstep has built
    tests/same_bits.py --models lenet5
"""
import argparse
import itertools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
JOBS = {
    "lenet5": ["--limit", "100", "--batch", "16", "--iterations", "20", "--momentum", "0.9"],
    "vgg11": ["--data", "cifar10", "--limit", "64", "--batch", "16", "--iterations", "4", "--momentum", "0.9", "--augment"],
    "resnet18": ["--data", "cifar10", "--limit", "64", "--batch", "16", "--iterations", "4", "--momentum", "0.9",
                 "--augment"],
}
METHODS = {
    **{name: ["--sync", name] for name in ("gather-scatter", "p2p", "coordinator", "all-reduce", "ddp", "sharded")},
    **{f"ddp, {name}": ["--sync", "ddp", "--algorithm", name] for name in ("tree", "halving-doubling", "direct")},
    "ddp, small buckets": ["--sync", "ddp", "--bucket-mb", "0.3", "--first-bucket-mb", "0.02"],
}
SHARED_MEMORY = ["shm", "thread"]  # where there is the algorithm direct
TRANSPORTS = [*SHARED_MEMORY, "gloo", "shm+gloo", "mpi"]


def bits_of(program, model, engine, workers, transport, method):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, "train", "--model", model, *JOBS[model], "--shards", "4", "--engine", engine, *METHODS[method],
             "--workers", str(workers), "--transport", transport, "--run-dir", f"{folder}/run", "--trace", "0",
             "--json", f"{folder}/summary.json"], capture_output=True, text=True, cwd=folder)
        if done.returncode != 0:
            sys.exit(f"{model} {engine} {transport} {method} on {workers}: {done.stderr}")
        summary = json.loads(pathlib.Path(folder, "summary.json").read_text())
    return summary["weights_sha256"], summary["buffers_sha256"], summary["train_loss"], summary["test_loss"]


def combinations(transport):
    """A single worker does not synchronise, so one method is enough."""
    methods = [method for method in METHODS if method != "ddp, direct" or transport in SHARED_MEMORY]
    return [(1, transport, "ddp"), *itertools.product((2, 4), [transport], methods)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build" / "release" / "bin" / "lockstep")
    parser.add_argument("--models", default=",".join(JOBS))
    parser.add_argument("--engines", default="torch,onednn")
    options = parser.parse_args()
    transports = [name for name in TRANSPORTS if name != "mpi" or shutil.which("mpirun")]
    failed = False
    print("| model | engine | weights |", " | ".join(transports), "|")
    print("| --- | --- | --- |", " | ".join("---:" for _ in transports), "|", flush=True)
    for model, engine in itertools.product(options.models.split(","), options.engines.split(",")):
        alone = bits_of(options.program, model, engine, 1, "shm", "ddp")
        cells = []
        for transport in transports:
            tried = combinations(transport)
            differ = [one for one in tried if bits_of(options.program, model, engine, *one) != alone]
            for one in differ:
                print("differs:", model, engine, *one, file=sys.stderr, flush=True)
            failed |= bool(differ)
            cells.append(f"{len(tried) - len(differ)} of {len(tried)}")
        print(f"| {model} | {engine} | `{alone[0][:16]}…` |", " | ".join(cells), "|", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
