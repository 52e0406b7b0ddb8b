#!/usr/bin/python3 -B
"""Bytes, time on one machine and between hosts, and accuracy of every sync method and compression.

Runs `lockstep compare` and `lockstep scale --hosts`, and prints their figures as one table in Markdown. The hosts are
network namespaces of this machine, so it needs root, and nothing leaves the machine.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
METHODS = ["gather-scatter", "p2p", "coordinator", "all-reduce", "ring", "ddp", "sharded", "server", "local-sgd",
           "ddp+float16", "ddp+bfloat16", "ddp+topk:0.01", "ddp+powersgd:4", "ddp+sign"]
RECIPE = ["--lr", "0.01", "--momentum", "0.9"]


def result_of(options, folder, command, *arguments):
    """Runs a study and returns its runs by method."""
    file = pathlib.Path(folder) / "result.json"
    print(f"lockstep {command} {' '.join(map(str, arguments))}", file=sys.stderr)
    subprocess.run([options.binary, command, *map(str, arguments), "--methods", ",".join(options.methods), "--trace", "0",
                    "--run-dir", f"{folder}/{command}", "--json", file], check=True, stdout=subprocess.DEVNULL)
    return {run["method"]: run for run in json.loads(file.read_text())["runs"] if run["workers"] > 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", required=True, help="a folder with all of CIFAR-10 and MNIST")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=METHODS)
    parser.add_argument("--iterations", type=int, default=100, help="iterations of VGG-11 on shm before the test")
    parser.add_argument("--host-iterations", type=int, default=7, help="iterations of VGG-11 between hosts")
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "bin" / "lockstep"))
    options = parser.parse_args()
    cifar10 = ["--model", "vgg11", "--workers", 4, "--threads", 1, *RECIPE]
    with tempfile.TemporaryDirectory() as folder:
        hosts = result_of(options, folder, "scale", *cifar10, "--batches", 8, "--hosts", 4, "--bandwidth", "1gbit",
                          "--iterations", options.host_iterations)
        shm = result_of(options, folder, "compare", *cifar10, "--data", "cifar10", "--data-dir", options.data_dir, "--limit",
                        0, "--batch", 128, "--iterations", options.iterations)
        lenet = result_of(options, folder, "compare", "--workers", 4, "--data-dir", options.data_dir, "--limit", 0, "--batch",
                          64, "--epochs", 2, *RECIPE)
    print("| method | MB per step and worker | VGG-11, shm: ms per step | 4 hosts, 1 Gbit/s: ms per step | VGG-11 after "
          f"{options.iterations} steps: test % | LeNet-5 after 2 epochs: test % |")
    print("| --- | --- | --- | --- | --- | --- |")
    for method in options.methods:
        print(f"| `{method}` | {shm[method]['bytes_per_iteration'] / 1e6:.2f} "
              f"| {shm[method]['seconds_per_iteration']['p50'] * 1e3:.0f} "
              f"| {hosts[method]['seconds_per_iteration']['p50'] * 1e3:.0f} "
              f"| {shm[method]['test_accuracy'] * 100:.1f} | {lenet[method]['test_accuracy'] * 100:.2f} |")


if __name__ == "__main__":
    main()
