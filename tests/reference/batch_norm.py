"""Trains networks with batch norm on four workers in PyTorch and records the results, for the tests to compare with:
vgg11.json and resnet18.json.

Run by hand, with Debian's python3-torch, when the recipe below changes:

    /usr/bin/python3 tests/reference/batch_norm.py [model ...]

The recipe, which both sides follow:
- Weights and images are set by formulas: see formula.py. Only the results are stored.
- Bytes become floats by (x / 255 - mean) / deviation, each step in float32 as torchvision does it.
- 5 steps on 8 images each, of which every worker has 2: SGD with learning rate 0.01, momentum 0.9, weight decay 1e-4.
  Every worker has its own batch norm statistics, over its own images. Gradients are averaged.
- The loss of a step is the mean over the workers, before the update. Statistics are averaged at the end.

All is computed in float64. The gradients of step 1 are also compared with those in float32: a seed for the images is
chosen for which nothing that ReLU or max pooling decides is so close to the edge that rounding could decide it
otherwise, because each such decision changes a gradient by 1e-3 of its norm.
"""
import json
import pathlib
import sys

import numpy as np
import torch
from torch import nn

import formula
from networks import NETWORKS

WORKERS, SHARE, STEPS = 4, 2, 5
BATCH = WORKERS * SHARE
SHAPE = (3, 32, 32)
MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
SAFE_MARGIN = 4e-6  # about ten times the error of float32 in what batch norm passes on
HERE = pathlib.Path(__file__).resolve().parent


def load_images(seed):
    pixels, labels = formula.formula_images(seed, STEPS * BATCH, SHAPE)
    mean = np.array(MEAN, dtype=np.float32).reshape(3, 1, 1)
    deviation = np.array(DEVIATION, dtype=np.float32).reshape(3, 1, 1)
    normalised = (pixels.astype(np.float32) / np.float32(255) - mean) / deviation
    return torch.from_numpy(normalised), labels


def make_model(name, dtype):
    model = NETWORKS[name]()
    formula.set_formula_weights(model)
    return model.to(dtype)


def share_of(worker, step):
    first = step * BATCH + worker * SHARE
    return slice(first, first + SHARE)


class Margin:
    """How close to the edge the closest decision of ReLU and max pooling in step 1 is."""

    def __init__(self, name):
        self.model = make_model(name, torch.float64)
        self.closest = 0.0
        for module in self.model.modules():
            if isinstance(module, nn.ReLU):
                module.register_forward_hook(self.at_relu)
            if isinstance(module, nn.MaxPool2d):
                module.register_forward_hook(self.at_max_pool)

    def at_relu(self, _, inputs, __):
        self.closest = min(self.closest, inputs[0].abs().min().item())

    def at_max_pool(self, _, inputs, __):
        windows = inputs[0].unfold(2, 2, 2).unfold(3, 2, 2).flatten(4)
        top = windows.topk(2, dim=4).values
        gaps = (top[..., 0] - top[..., 1])[top[..., 0] > 0]
        self.closest = min(self.closest, gaps.min().item())

    def of(self, images):
        self.closest = float("inf")
        with torch.no_grad():
            for worker in range(WORKERS):
                self.model(images[share_of(worker, 0)].double())
                if self.closest < SAFE_MARGIN:
                    break
        return self.closest


def choose_seed(name):
    margin = Margin(name)
    seed = 0
    while margin.of(load_images(seed)[0]) < SAFE_MARGIN:
        seed += 1
    return seed


def train(name, images, labels, dtype, steps):
    """The losses of all steps, the averaged gradients of step 1, and the workers' models at the end."""
    models = [make_model(name, dtype) for _ in range(WORKERS)]
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4) for m in models]
    losses, gradients = [], {}
    for step in range(steps):
        mine = []
        for worker, model in enumerate(models):
            part = share_of(worker, step)
            optimizers[worker].zero_grad()
            loss = nn.functional.cross_entropy(model(images[part].to(dtype)), labels[part])
            loss.backward()
            mine.append(loss.item())
        for parameters in zip(*(m.parameters() for m in models)):
            average = sum(p.grad for p in parameters) / WORKERS
            for parameter in parameters:
                parameter.grad.copy_(average)
        if step == 0:
            gradients = {key: p.grad.clone() for key, p in models[0].named_parameters()}
        for optimizer in optimizers:
            optimizer.step()
        losses.append(sum(mine) / WORKERS)
    return losses, gradients, models


def final_state(models):
    """Weights and averaged statistics, each as one tensor: all elements in the order of the names."""
    weights = torch.cat([p.detach().flatten() for _, p in sorted(models[0].named_parameters())])
    buffers = [dict(model.named_buffers()) for model in models]
    floating = sorted(key for key, value in buffers[0].items() if value.is_floating_point())
    statistics = torch.cat([sum(each[key] for each in buffers) / WORKERS for key in floating])
    return weights, statistics


def distance(gradients, exact):
    """The largest relative distance; gradients that are zero but for rounding (biases before batch norm) are left out."""
    total = max(gradient.norm() for gradient in exact.values())
    return max(((gradients[key].double() - exact[key]).norm() / exact[key].norm()).item()
               for key in exact if exact[key].norm() > 1e-9 * total)


def record(name):
    seed = choose_seed(name)
    images, labels = load_images(seed)
    losses, gradients, models = train(name, images, labels, torch.float64, STEPS)
    _, rounded, _ = train(name, images, labels, torch.float32, 1)
    apart = distance(rounded, gradients)
    print(f"{name}: images of seed {seed}; gradients in float32 are {apart:.1e} from those in float64")
    assert apart < 5e-5
    weights, statistics = final_state(models)
    # Python writes the shortest digits that read back as the same double: nothing is lost.
    result = {
        "made_by": f"tests/reference/batch_norm.py with PyTorch {torch.__version__}",
        "image_seed": seed,
        "losses": losses,
        "final_weights": formula.digest(weights),
        "final_statistics": formula.digest(statistics),
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in result.items()]
    digests = [f"    {json.dumps(key)}: {json.dumps(formula.digest(value))}" for key, value in gradients.items()]
    lines.append('  "gradients_step1": {\n' + ",\n".join(digests) + "\n  }")
    (HERE / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    torch.set_num_threads(1)
    for name in sys.argv[1:] or ["vgg11", "resnet18"]:
        record(name)


if __name__ == "__main__":
    main()
