#!/usr/bin/python3 -B
"""Times an all-reduce between hosts with links of 1 Gbit/s, relative to the least time that the links need.

The hosts are network namespaces of this machine (tests/network/hosts.py), so it needs root, and nothing leaves the machine.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "network"))
import hosts  # noqa: E402  (found by the line above)


def bound(size, ranks):
    """The least seconds that the links need for the bytes that every rank sends."""
    return 2 * size * (ranks - 1) / ranks / hosts.RATE


def measure(cluster, options):
    """The results of `lockstep bench` with one rank per host, from rank 0."""
    with tempfile.TemporaryDirectory() as folder:
        token, result = f"{folder}/token", f"{folder}/result.json"
        subprocess.run([options.binary, "launch", "--new-token", token], check=True, stdout=subprocess.DEVNULL)
        programs = [cluster.start(host, [
            options.binary, "launch", "--nnodes", options.hosts, "--node-rank", host, "--master-addr",
            cluster.address(0), "--token-file", token, "--workers", 1, "--no-pin", "--",
            options.binary, "bench", "--op", "all-reduce", "--transport", "gloo", "--algorithm", options.algorithm,
            "--sizes", options.sizes, "--repeat", options.repeat, "--json", result], stdout=subprocess.DEVNULL)
            for host in range(options.hosts)]
        if any([program.wait() for program in programs]):
            sys.exit("benchmarks/network.py: the run failed")
        return json.loads(pathlib.Path(result).read_text())["results"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--algorithm", default="all")
    parser.add_argument("--sizes", default="4K,64K,1M,36M")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "bin" / "lockstep"))
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    hosts.close_when_told_to_end()
    if reason := hosts.why_not():
        sys.exit(f"benchmarks/network.py: {reason}")
    with hosts.Cluster(options.hosts) as cluster:
        results = measure(cluster, options)
    print(f"{options.hosts} hosts, 1 Gbit/s; share: the least time that the links need, divided by the measured time")
    print(f"{'algorithm':<18}{'bytes':>10}{'ms':>10}{'share %':>9}{'wrong':>7}")
    for row in results:
        share = bound(row["bytes"], options.hosts) / row["seconds"]
        print(f"{row['algorithm']:<18}{row['bytes']:>10}{row['seconds'] * 1e3:>10.2f}{share * 100:>9.1f}"
              f"{row['wrong']:>7}")


if __name__ == "__main__":
    main()
