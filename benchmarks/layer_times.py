#!/usr/bin/python3
"""Time and arithmetic rate of each layer and pass of the onednn engine.

    ./lockstep --help                                                  # builds the program
    benchmarks/layer_times.py                                          # VGG-11, 1 worker of 1 thread, batch 64
    benchmarks/layer_times.py --model resnet18 --conv direct

The time of a pass is the shortest of the traced iterations. Rates are nominal: they count two operations for every
multiplication of the definition, although Winograd needs fewer. Needs python3-torch for the layers' shapes.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import torch

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "reference"))
from networks import NETWORKS  # noqa: E402  (found by the line above)

PASSES = {"forward": "forward", "backward to its weights": "weights", "backward to its input": "input",
          "backward": "backward"}
TRACED = 6


def operations_of(model, batch):
    """Operations of one pass over the batch, by layer: two for every multiplication."""
    found, hooks = {}, []
    for name, layer in model.named_modules():
        if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)):
            hooks.append(layer.register_forward_hook(lambda layer, _, output, name=name: found.update(
                {name: 2 * batch * layer.weight[0].numel() * output[0].numel()})))
    model.eval()(torch.zeros(1, 1 if isinstance(model, NETWORKS["lenet5"]) else 3, 32, 32))
    return found


def train(options):
    """Trains, and returns the traced spans as (name, seconds)."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "build/release/bin/lockstep", "train", "--engine", "onednn", "--data", "synthetic", "--model",
                        options.model, "--conv", options.conv, "--threads", str(options.threads), "--batch",
                        str(options.batch), "--iterations", str(TRACED + 2), "--trace", str(TRACED + 2), "--run-dir",
                        f"{folder}/run"], check=True, stdout=subprocess.DEVNULL)
        events = json.loads(pathlib.Path(folder, "run", "trace.json").read_text())["traceEvents"]
    return [(event["name"], 1e-6 * event["dur"]) for event in events if event["ph"] == "X"]


def shortest_passes(spans):
    """Shortest seconds by layer and pass; reorders and statistics count as the layer's "other"."""
    shortest = {}
    for name, seconds in spans:
        shortest[name] = min(seconds, shortest.get(name, seconds))
    layers = collections.defaultdict(dict)
    for name, seconds in shortest.items():
        layer, _, rest = name.partition(" ")
        if rest:
            kind = PASSES.get(rest, "other")
            layers[layer][kind] = layers[layer].get(kind, 0) + seconds
    return layers


def cell(seconds, operations):
    if seconds is None:
        return f"{'':>16}"
    rate = f"{1e-9 * operations / seconds:6.0f}" if operations else f"{'':6}"
    return f"{1000 * seconds:9.2f} {rate}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=NETWORKS, default="vgg11")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--conv", default="fixed")
    options = parser.parse_args()
    operations = operations_of(NETWORKS[options.model](), options.batch)
    spans = train(options)
    print(f"{options.model}, batch {options.batch}, {options.threads} threads, --conv {options.conv}: ms and GFLOP/s")
    print(f"{'layer':24} {'forward':>16} {'to its weights':>16} {'to its input':>16} {'other':>9}")
    totals = collections.Counter()
    for layer, passes in shortest_passes(spans).items():
        work = operations.get(layer)
        backward = passes.get("weights", passes.get("backward"))
        print(f"{layer:24} {cell(passes.get('forward'), work)} {cell(backward, work)} "
              f"{cell(passes.get('input'), work)} {1000 * passes.get('other', 0):9.2f}")
        totals.update({("convolutions and linear: " if work else "other layers: ") + kind: seconds
                       for kind, seconds in passes.items()})
    for kind, seconds in totals.items():
        print(f"{kind:40} {1000 * seconds:8.1f} ms")
    for name in ["optimizer", "iteration"]:
        print(f"{name:40} {1000 * min(seconds for other, seconds in spans if other == name):8.1f} ms")
    step = 3 * sum(operations.values()) - next(iter(operations.values()))  # the first layer has no gradient of its input
    fastest = min(seconds for name, seconds in spans if name == "iteration")
    print(f"nominal rate of the whole step: {1e-9 * step / fastest:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
