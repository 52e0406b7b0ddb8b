"""Numbers that follow a formula, so that PyTorch and the tests start from the same ones without sharing a file.

tests/support/formula.h and tests/models/formula_weights.h are the same in C++.

- u(n) is the upper 53 bits of SplitMix64's first number from the seed n, as a fraction of 1.
- Weights: number the parameters 0, 1, ... in the order of their names. Element i (row-major) of parameter k has
  v = 2 u(k * 2^32 + i) - 1. It is v * sqrt(6 / fan-in) in a matrix or convolution, where fan-in is the number
  of elements that one output has; 1 + 0.2 v in the weights of batch norm (vectors named "weight"); 0.2 v in biases,
  but 2.5 + 0.5 v in those of batch norm (the vectors beside such weights). Computed in double, rounded to float32.
  With that bias ReLU cuts off 1 % of what batch norm passes on: enough to matter, and few values are
  so close to the edge that the rounding of float32 decides on which side they are.
- Images: byte i of the whole set is the upper 8 bits of SplitMix64's first number from seed * 2^32 + i; the label
  of image j is j modulo 10.
- Signs: the k-th sign of element i is + if bit k of SplitMix64's first number from 2^63 + i is set, else -.
"""
import numpy as np
import torch

PROJECTIONS = 8


def splitmix64(seeds):
    """The first number of SplitMix64 from each seed."""
    z = seeds + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def numbers(first_seed, count):
    return splitmix64(np.uint64(first_seed) + np.arange(count, dtype=np.uint64))


def formula_range(name, parameter, names):
    """Values are centre + width * v: returns (centre, width)."""
    weight = name.rsplit(".", 1)[0] + ".weight"
    if parameter.dim() > 1:
        return 0.0, np.sqrt(6.0 / (parameter.numel() // parameter.shape[0]))
    if name == weight:
        return 1.0, 0.2
    batch_norm = names[weight].dim() == 1
    return (2.5, 0.5) if batch_norm else (0.0, 0.2)


def formula_weights(k, name, parameter, names):
    centre, width = formula_range(name, parameter, names)
    u = (numbers(k << 32, parameter.numel()) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    values = centre + (2.0 * u - 1.0) * width
    return torch.from_numpy(values.astype(np.float32)).view_as(parameter)


def set_formula_weights(model):
    names = dict(model.named_parameters())
    with torch.no_grad():
        for k, name in enumerate(sorted(names)):
            names[name].copy_(formula_weights(k, name, names[name], names))


def formula_images(seed, count, shape):
    """Images of bytes, and their labels."""
    size = int(np.prod(shape))
    pixels = (numbers(seed << 32, count * size) >> np.uint64(56)).astype(np.uint8)
    return pixels.reshape(count, *shape), torch.arange(count) % 10


def digest(tensor):
    """The tensor's norm, and its products with PROJECTIONS vectors of random signs.

    They are enough to bound the distance of another tensor: if d is the difference of the two, its product with a
    vector of random signs has the mean 0 and the variance |d|^2, so the mean square of PROJECTIONS such products is
    an estimate of |d|^2. With 8 of them it is less than |d|^2 / 4 in 2 cases of 100 and less than |d|^2 / 16 in 2 of
    10,000.
    """
    values = tensor.detach().double().flatten().numpy()
    bits = numbers(1 << 63, values.size)
    signs = [((bits >> np.uint64(k)) & np.uint64(1)).astype(np.float64) * 2.0 - 1.0 for k in range(PROJECTIONS)]
    return {"norm": float(np.linalg.norm(values)), "projections": [float(values @ sign) for sign in signs]}
