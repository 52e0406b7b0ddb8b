"""Runs each contender of train.py. The result has seconds_per_iteration (the median without the first), seconds_total
(of all iterations, without starting the processes) and peak_rss_bytes (of the largest worker)."""
import argparse
import json
import os
import pathlib
import socket
import subprocess
import tempfile

from pytorch_settings import find_fastest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LOCKSTEP = ROOT / "build/release/bin/lockstep"
C10D_TRAIN = ROOT / "build/release/benchmarks/peers/c10d_train"
DEBIAN_PYTHON = "/usr/bin/python3"
HOUR = 3600
TRIES = 3
TRIAL_ITERATIONS = 40  # at most, for each setting
METHODS = ["ddp", "all-reduce"]
# Prints the version of an interpreter's PyTorch, and whether it uses the slow reference BLAS.
PROBE = """import torch
maps = open("/proc/self/maps").read()
print(torch.__version__, "slow" if "libblas" in maps and "openblas" not in maps else "fast")"""


def engine_arguments(engine):
    """Empty for a program without --engine, which computes with torch."""
    help_text = subprocess.run([LOCKSTEP, "train", "--help"], check=True, capture_output=True, text=True).stdout
    if "--engine" in help_text:
        return ["--engine", engine]
    if engine != "torch":
        raise SystemExit(f"train.py: this lockstep has no --engine, so it cannot run '{engine}': leave it out")
    return []


def run_lockstep(options, sync):
    data = "mnist" if options.model == "lenet5" else "cifar10"
    with tempfile.TemporaryDirectory() as folder:
        command = [LOCKSTEP, "train", "--data", data, "--limit", options.images, "--workers", options.workers, "--lr",
                   0.01, "--momentum", 0.9, "--weight-decay", 1e-4, "--sync", sync, "--run-dir", folder + "/run",
                   *engine_arguments(options.engine)]
        for name in ["model", "batch", "iterations", "threads"]:
            command += ["--" + name, getattr(options, name)]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, timeout=HOUR)
        summary = json.loads(pathlib.Path(folder, "run", "summary.json").read_text())
    return {"seconds_per_iteration": summary["seconds_per_iteration"]["p50"], "seconds_total": summary["seconds_total"],
            "peak_rss_bytes": summary["peak_rss_bytes"], "exposed": summary["exposed_communication_share"]}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def run_ranks(options, program, method):
    """Runs a program with torchrun's variables, once for every worker. Some versions of PyTorch occasionally crash when
    they exit; such a run is repeated."""
    for _ in range(TRIES - 1):
        try:
            return try_ranks(options, program, method)
        except RuntimeError as error:
            print(f"train.py: {error}; trying again", flush=True)
    return try_ranks(options, program, method)


def try_ranks(options, program, method):
    command = [*program, "--method", method]
    for name in ["model", "batch", "images", "iterations", "threads"]:
        command += ["--" + name, str(getattr(options, name))]
    place = {"WORLD_SIZE": str(options.workers), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
             "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": str(options.threads),
             "OPENBLAS_NUM_THREADS": str(options.threads)}
    ranks = [subprocess.Popen(command, env={**os.environ, **place, "RANK": str(rank)}, stdout=subprocess.PIPE,
                              text=True) for rank in range(options.workers)]
    try:
        output = [rank.communicate(timeout=HOUR)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()  # no effect on a process that has ended
    failed = [number for number, rank in enumerate(ranks) if rank.returncode != 0]
    if failed:
        raise RuntimeError(f"rank {failed[0]} of '{' '.join(map(str, command))}' failed: see above")
    return json.loads(output[0])


def probe(python):
    """The version of an interpreter's PyTorch. If it has none, prints a line and returns None."""
    try:
        found = subprocess.run([python, "-c", PROBE], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        print(f"left out: {python}, which has no PyTorch (Debian's package is python3-torch)")
        return None
    version, blas = found.stdout.split()
    if blas == "slow":
        raise SystemExit(f"train.py: the PyTorch of {python} uses the slow reference BLAS: install "
                         "libopenblas0-pthread")
    return version


def pytorch_program(python, settings):
    return [python, HERE / "pytorch_worker.py", "--settings", ",".join(settings)]


def tuned(options, python, label):
    """The settings with which this PyTorch is fastest in a short run of the job, with ddp."""
    short = argparse.Namespace(**{**vars(options), "iterations": min(options.iterations, TRIAL_ITERATIONS)})

    def run(settings):
        result = try_ranks(short, pytorch_program(python, settings), "ddp")
        return result["seconds_per_iteration"]
    settings, trials = find_fastest(run)
    print(f"pytorch {label}: keeps {', '.join(settings) or 'no setting'} (relative time with each: {', '.join(trials)})",
          flush=True)
    return settings


def all_contenders(options):
    """Yields pairs of a name and a function that runs the contender once, Lockstep's ddp first."""
    if not LOCKSTEP.exists():
        raise SystemExit(f"train.py: there is no {LOCKSTEP}: './lockstep --help' builds it")
    for method in METHODS:
        yield f"lockstep {method}", lambda method=method: run_lockstep(options, method)
    versions = set()
    for python in dict.fromkeys([DEBIAN_PYTHON, *options.python]):
        version = probe(python)
        label = f"{version} ({python})" if version in versions else version
        versions.add(version)
        settings = tuned(options, python, label) if version and options.tune else []
        for method in METHODS if version else []:
            program = pytorch_program(python, settings)
            yield (" ".join(["pytorch", label, *settings, method]),
                   lambda program=program, method=method: run_ranks(options, program, method))
    if not C10D_TRAIN.exists():
        print("left out: c10d, which is not built: cmake --preset release -DLOCKSTEP_BENCHMARKS=ON && "
              "cmake --build --preset release --target c10d_train")
        return
    for method in METHODS:
        yield f"c10d {method}", lambda method=method: run_ranks(options, [C10D_TRAIN], method)
