"""Trains LeNet-5 in PyTorch and records the results, for the tests to compare with: lenet5.json.

Run by hand, with Debian's python3-torch, when the recipe below changes:

    /usr/bin/python3 tests/reference/lenet5.py [folder of MNIST, by default the repository's data/mnist]

The recipe, which both sides follow:
- Weights are set by a formula, so that no file is shared: see formula.py. The float64 model starts from the same
  rounded values.
- Data are MNIST's first 64 training images: (x / 255 - 0.1307) / 0.3081, each step in float32 as torchvision
  does it, then padded with zeros to 32x32. The float64 model gets the same values.
- 20 steps of SGD on batches of 16, in order, over and over: learning rate 0.01, momentum 0.9, weight decay
  5e-4, the mean of the cross entropy. The loss of step s is that of its batch before the update. Once more with
  Nesterov's step.
"""
import gzip
import json
import pathlib
import sys

import numpy as np
import torch
from torch import nn

from formula import set_formula_weights
from networks import LeNet5

IMAGES, BATCH, STEPS = 64, 16, 20
HERE = pathlib.Path(__file__).resolve().parent


def make_model(dtype):
    model = LeNet5()
    set_formula_weights(model)
    return model.to(dtype)


def read_images(folder):
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(16 + IMAGES * 28 * 28)[16:], dtype=np.uint8)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(8 + IMAGES)[8:], dtype=np.uint8)
    scaled = pixels.astype(np.float32) / np.float32(255)
    normalised = (scaled - np.float32(0.1307)) / np.float32(0.3081)
    images = torch.from_numpy(normalised.reshape(IMAGES, 1, 28, 28))
    return nn.functional.pad(images, (2, 2, 2, 2)), torch.from_numpy(labels.astype(np.int64))


def train(images, labels, dtype, nesterov=False):
    """The losses of all steps, the norms of the gradients of step 1 and the sum of the final weights."""
    model = make_model(dtype)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, nesterov=nesterov)
    losses, norms = [], {}
    for step in range(STEPS):
        first = step * BATCH % IMAGES
        batch = slice(first, first + BATCH)
        sgd.zero_grad()
        loss = nn.functional.cross_entropy(model(images[batch].to(dtype)), labels[batch])
        loss.backward()
        if step == 0:
            norms = {name: p.grad.norm().item() for name, p in sorted(model.named_parameters())}
        sgd.step()
        losses.append(loss.item())
    weights_sum = sum(p.detach().double().sum().item() for _, p in sorted(model.named_parameters()))
    return losses, norms, weights_sum


def main():
    torch.set_num_threads(1)
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent.parent / "data" / "mnist"
    images, labels = read_images(folder)
    losses32, _, _ = train(images, labels, torch.float32)
    losses64, norms, weights_sum = train(images, labels, torch.float64)
    nesterov64, _, nesterov_sum = train(images, labels, torch.float64, nesterov=True)
    # Python writes the shortest digits that read back as the same double: nothing is lost.
    result = {
        "made_by": f"tests/reference/lenet5.py with PyTorch {torch.__version__}",
        "losses_float32": losses32,
        "losses_float64": losses64,
        "gradient_norms_step1_float64": norms,
        "weights_sum_float64": weights_sum,
        "nesterov_losses_float64": nesterov64,
        "nesterov_weights_sum_float64": nesterov_sum,
    }
    (HERE / "lenet5.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
