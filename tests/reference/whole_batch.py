"""Trains networks with batch norm in one process on the whole batch, in PyTorch, and records the results:
whole_batch.json. Several workers with batch norm over all of them must end there, too.

Run by hand, with Debian's python3-torch, when the recipe changes:

    /usr/bin/python3 tests/reference/whole_batch.py

The recipe is that of batch_norm.py, with the same images, but for the workers: there is one. All in float64.
"""
import json

import torch

import batch_norm
import formula


def record(name):
    seed = json.loads((batch_norm.HERE / f"{name}.json").read_text())["image_seed"]
    images, labels = batch_norm.load_images(seed)
    batch_norm.WORKERS, batch_norm.SHARE = 1, batch_norm.BATCH
    losses, _, models = batch_norm.train(name, images, labels, torch.float64, batch_norm.STEPS)
    weights, statistics = batch_norm.final_state(models)
    return {"losses": losses, "final_weights": formula.digest(weights), "final_statistics": formula.digest(statistics)}


def main():
    torch.set_num_threads(1)
    result = {name: record(name) for name in ["vgg11", "resnet18"]}
    result["made_by"] = f"tests/reference/whole_batch.py with PyTorch {torch.__version__}"
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in result.items()]
    (batch_norm.HERE / "whole_batch.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
