#!/usr/bin/python3
"""Times training with Lockstep and with its peers, in turns: the same model, batch, processes and threads.

    ./lockstep --help                                                      # builds the program
    cmake --preset release -DLOCKSTEP_BENCHMARKS=ON                        # for the C++ peer:
    cmake --build --preset release --target c10d_train
    benchmarks/peers/train.py                                              # VGG-11, 4 workers, global batch 256
    benchmarks/peers/train.py --preset lenet5                              # LeNet-5, 100 epochs of 100 images

Every round starts new processes. --python adds the PyTorch of another interpreter, for example of a virtual environment.
All contenders are shown; the ratios below the table are to the fastest PyTorch. Lockstep's iterations include loading
images; the peers' do not.
"""
import argparse
import json
import os
import pathlib

from train_contenders import METHODS, all_contenders
from train_report import OURS, Report

PRESETS = {
    "vgg11": {"model": "vgg11", "batch": 256, "images": 1000, "iterations": 8},
    "resnet18": {"model": "resnet18", "batch": 128, "images": 1000, "iterations": 8},
    "lenet5": {"model": "lenet5", "batch": 16, "images": 100, "iterations": 700},
}
FAMILIES = ["lockstep", "pytorch", "c10d"]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=PRESETS, default="vgg11", help="the job; the next four options change it")
    parser.add_argument("--model", choices=["lenet5", "vgg11", "vgg13", "vgg16", "vgg19", "resnet18", "resnet34"])
    parser.add_argument("--batch", type=int, help="images of all workers in an iteration")
    parser.add_argument("--images", type=int, help="images in an epoch")
    parser.add_argument("--iterations", type=int, help="at least 2; the first one counts in the total only")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--threads", type=int, help="threads per worker; default: the cores divided by the workers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engine", default="torch", help="engine of Lockstep; default: torch, the engine of the peers")
    parser.add_argument("--tune", action="store_true", help="first find the settings with which each PyTorch is fastest: "
                        "channels_last, denormals flushed to zero, pinned threads, torch.compile")
    parser.add_argument("--python", action="append", default=[], help="another interpreter that has PyTorch")
    parser.add_argument("--only", help="families or methods, such as 'pytorch,c10d' or 'ddp': leaves out the others, "
                        f"except {OURS}, the reference")
    parser.add_argument("--json", help="write all rounds to this file")
    options = parser.parse_args()
    for name, value in PRESETS[options.preset].items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    if options.threads is None:
        options.threads = max(1, len(os.sched_getaffinity(0)) // options.workers)
    check(parser, options)
    return options


def check(parser, options):
    if options.iterations < 2 or options.rounds < 1:
        parser.error("there must be 2 iterations or more, and 1 round or more")
    if min(options.batch, options.images % options.batch or options.batch) < options.workers:
        parser.error("the last batch of an epoch has fewer images than there are workers: change --images or --batch")
    for word in asked_for(options):
        if word not in FAMILIES + METHODS:
            parser.error(f"--only has '{word}', which is none of {', '.join(FAMILIES + METHODS)}")


def asked_for(options):
    return [word.strip() for word in options.only.split(",")] if options.only else []


def is_asked_for(name, words):
    """Whether the name has one of the families in `words`, if there are any, and one of its methods."""
    families = [word for word in words if word in FAMILIES] or [name.split()[0]]
    methods = [word for word in words if word in METHODS] or [name.split()[-1]]
    return name == OURS or (name.split()[0] in families and name.split()[-1] in methods)


def main():
    options = parse_options()
    chosen = {name: run for name, run in all_contenders(options) if is_asked_for(name, asked_for(options))}
    rounds = {name: [] for name in chosen}
    print(f"{options.model}, {options.workers} workers × {options.threads} threads, global batch {options.batch}, "
          f"{options.images} images an epoch, {options.iterations} iterations, {options.rounds} rounds", flush=True)
    for _ in range(options.rounds):
        for name, run in chosen.items():
            rounds[name].append(run())
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rounds, indent=2) + "\n")
    Report(rounds).print()


if __name__ == "__main__":
    main()
