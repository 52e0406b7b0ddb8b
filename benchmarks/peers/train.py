#!/usr/bin/python3
"""Times training by Lockstep and by PyTorch on the same model, batch, processes and threads, in turns.

    ./lockstep --help                              # builds the program
    benchmarks/peers/train.py                      # VGG-11, 4 workers, global batch 256
    benchmarks/peers/train.py --model lenet5 --batch 16 --images 100 --iterations 700

--python adds the PyTorch of another interpreter (of a virtual environment, say); every contender is shown. Ratios are
to Lockstep's ddp: above 1 is slower than Lockstep. Every round starts new processes; medians over the rounds count.
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOUR = 3600


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def run_lockstep(options, threads, sync):
    data = "mnist" if options.model == "lenet5" else "cifar10"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "build/release/bin/lockstep", "train", "--model", options.model, "--data", data, "--limit",
                        str(options.images), "--workers", str(options.workers), "--threads", str(threads), "--batch",
                        str(options.batch), "--iterations", str(options.iterations), "--lr", "0.01", "--momentum", "0.9",
                        "--weight-decay", "1e-4", "--sync", sync, "--run-dir", folder + "/run"],
                       check=True, stdout=subprocess.DEVNULL, timeout=HOUR)
        summary = json.loads(pathlib.Path(folder, "run", "summary.json").read_text())
    return {"seconds_per_iteration": summary["seconds_per_iteration"]["p50"], "seconds_total": summary["seconds_total"],
            "peak_rss_bytes": summary["peak_rss_bytes"], "exposed": summary["exposed_communication_share"]}


def run_pytorch(options, threads, python, method):
    port = free_port()
    command = [python, HERE / "pytorch_worker.py", "--model", options.model, "--method", method, "--batch",
               str(options.batch), "--images", str(options.images), "--iterations", str(options.iterations), "--threads",
               str(threads)]
    ranks = []
    for rank in range(options.workers):
        place = {"RANK": str(rank), "WORLD_SIZE": str(options.workers), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                 "OMP_NUM_THREADS": str(threads), "GLOO_SOCKET_IFNAME": "lo"}
        ranks.append(subprocess.Popen(command, env={**os.environ, **place}, stdout=subprocess.PIPE, text=True))
    output = [rank.communicate(timeout=HOUR)[0] for rank in ranks]
    if any(rank.returncode != 0 for rank in ranks):
        raise SystemExit(f"{python}: a rank of PyTorch's failed")
    return json.loads(output[0])


def contenders(options, threads):
    yield "lockstep ddp", lambda: run_lockstep(options, threads, "ddp")
    yield "lockstep all-reduce", lambda: run_lockstep(options, threads, "all-reduce")
    for python in ["/usr/bin/python3", *options.python]:
        version = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], check=True, text=True,
                                 capture_output=True).stdout.strip()
        for method in ["ddp", "all-reduce"]:
            yield f"pytorch {version} {method}", lambda python=python, method=method: run_pytorch(options, threads, python,
                                                                                                    method)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="vgg11")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=256, help="of all workers")
    parser.add_argument("--images", type=int, default=1000, help="in an epoch")
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", action="append", default=[], help="another interpreter that has PyTorch")
    parser.add_argument("--json", help="write all rounds to this file")
    options = parser.parse_args()

    threads = max(1, len(os.sched_getaffinity(0)) // options.workers)
    runs = dict(contenders(options, threads))
    rounds = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            rounds[name].append(run())
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rounds, indent=2) + "\n")

    def median(name, key):
        return statistics.median(result[key] for result in rounds[name])

    print(f"{options.model}, {options.workers} workers × {threads} threads, global batch {options.batch}, "
          f"{options.iterations} iterations, {options.rounds} rounds")
    print(f"{'contender':34} {'ms/iteration':>12} {'ratio':>7} {'total s':>9} {'ratio':>7} {'peak MB':>8}")
    ours = [median("lockstep ddp", key) for key in ("seconds_per_iteration", "seconds_total")]
    for name in rounds:
        step, total = median(name, "seconds_per_iteration"), median(name, "seconds_total")
        print(f"{name:34} {1000 * step:12.2f} {step / ours[0]:7.2f} {total:9.2f} {total / ours[1]:7.2f} "
              f"{median(name, 'peak_rss_bytes') / 1e6:8.0f}")
    print(f"exposed communication of lockstep ddp: {100 * median('lockstep ddp', 'exposed'):.1f} % of an iteration")


if __name__ == "__main__":
    main()
