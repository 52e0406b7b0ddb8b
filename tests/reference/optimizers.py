"""Takes weights 20 steps along given gradients with PyTorch's optimizers, and rates from its schedulers:
optimizers.json and schedules.json. LARS and LAMB, which PyTorch has not, are written out below.

Run by hand, with Debian's python3-torch, when a case changes:

    /usr/bin/python3 tests/reference/optimizers.py

All in float64. There are three tensors, of which the second is not decayed in the cases with "no_decay". With u(n) of
formula.py, element i of all of them together starts as 2 u(i) - 1, and its gradient in step s, counted from 1, is
2 u(s * 2^32 + i) - 1, times 10 in every fifth step, so that clipping has something to do.
"""
import json
import math
import pathlib

import numpy as np
import torch
from torch.optim import lr_scheduler

import formula

HERE = pathlib.Path(__file__).resolve().parent
TENSORS = [7, 5, 12]
STEPS = 20


def values(seed):
    u = (formula.numbers(seed << 32, sum(TENSORS)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return [torch.from_numpy(part.copy()) for part in np.split(2.0 * u - 1.0, np.cumsum(TENSORS)[:-1])]


def gradients(step):
    return [part * (10.0 if step % 5 == 0 else 1.0) for part in values(step)]


class Lars:
    """v = momentum v + ratio (g + decay w); w = w - rate v, where ratio = trust |w| / (|g| + decay |w|)."""

    def __init__(self, groups, lr, momentum, trust, nesterov=False):
        self.param_groups = [dict(group, lr=lr) for group in groups]
        self.momentum, self.trust, self.nesterov = momentum, trust, nesterov
        self.velocity = {}

    def step(self):
        for group in self.param_groups:
            decay = group["weight_decay"]
            for parameter in group["params"]:
                weights, gradient = parameter.detach().numpy(), parameter.grad.numpy()
                ratio = 1.0
                if group["adapted"]:
                    size = math.sqrt((weights**2).sum())
                    ratio = self.trust * size / (math.sqrt((gradient**2).sum()) + decay * size)
                slope = ratio * (gradient + decay * weights)
                speed = self.momentum * self.velocity.get(parameter, 0.0) + slope
                self.velocity[parameter] = speed
                weights -= group["lr"] * (slope + self.momentum * speed if self.nesterov else speed)


class Lamb:
    """r = m^ / (sqrt(v^) + epsilon) + decay w; w = w - rate |w| / |r| r."""

    def __init__(self, groups, lr, betas=(0.9, 0.999), eps=1e-8):
        self.param_groups = [dict(group, lr=lr) for group in groups]
        self.betas, self.eps, self.steps = betas, eps, 0
        self.moments = {}

    def step(self):
        self.steps += 1
        beta1, beta2 = self.betas
        for group in self.param_groups:
            for parameter in group["params"]:
                weights, gradient = parameter.detach().numpy(), parameter.grad.numpy()
                first, second = self.moments.get(parameter, (0.0, 0.0))
                first = beta1 * first + (1 - beta1) * gradient
                second = beta2 * second + (1 - beta2) * gradient**2
                self.moments[parameter] = first, second
                mean, square = first / (1 - beta1**self.steps), second / (1 - beta2**self.steps)
                direction = mean / (np.sqrt(square) + self.eps) + group["weight_decay"] * weights
                ratio = 1.0
                if group["adapted"]:
                    ratio = math.sqrt((weights**2).sum()) / math.sqrt((direction**2).sum())
                weights -= group["lr"] * ratio * direction


OPTIMIZERS = {
    "sgd": lambda groups, o: torch.optim.SGD(groups, lr=o["lr"], momentum=o.get("momentum", 0),
                                             nesterov=o.get("nesterov", False)),
    "adam": lambda groups, o: torch.optim.Adam(groups, lr=o["lr"], betas=(o.get("beta1", 0.9), o.get("beta2", 0.999))),
    "adamw": lambda groups, o: torch.optim.AdamW(groups, lr=o["lr"]),
    "lars": lambda groups, o: Lars(groups, o["lr"], o["momentum"], o["trust"], o.get("nesterov", False)),
    "lamb": lambda groups, o: Lamb(groups, o["lr"]),
}

CASES = [
    {"optimizer": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.01},
    {"optimizer": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True, "no_decay": True},
    {"optimizer": "sgd", "lr": 0.1, "momentum": 0.9, "clip": 1.5},
    {"optimizer": "sgd", "lr": 0.1, "momentum": 0.9, "clip_value": 0.4},
    {"optimizer": "sgd", "lr": 0.1, "momentum": 0.9, "falling": True},
    {"optimizer": "adam", "lr": 0.01},
    {"optimizer": "adam", "lr": 0.01, "beta1": 0.8, "beta2": 0.95, "weight_decay": 0.1},
    {"optimizer": "adam", "lr": 0.01, "weight_decay": 0.1, "no_decay": True, "falling": True},
    {"optimizer": "adamw", "lr": 0.01, "weight_decay": 0.1},
    {"optimizer": "adamw", "lr": 0.01, "weight_decay": 0.1, "no_decay": True, "falling": True},
    {"optimizer": "lars", "lr": 5.0, "momentum": 0.9, "weight_decay": 0.01, "trust": 0.001},
    {"optimizer": "lars", "lr": 0.5, "momentum": 0.9, "weight_decay": 0.1, "trust": 0.02, "nesterov": True,
     "no_decay": True, "falling": True},
    {"optimizer": "lamb", "lr": 0.02},
    {"optimizer": "lamb", "lr": 0.02, "weight_decay": 0.1, "no_decay": True, "falling": True},
]


def take_steps(case):
    parameters = [part.clone().requires_grad_() for part in values(0)]
    decay = case.get("weight_decay", 0.0)
    spared = case.get("no_decay", False)
    groups = [{"params": [parameters[0], parameters[2]], "weight_decay": decay, "adapted": True},
              {"params": [parameters[1]], "weight_decay": 0.0 if spared else decay, "adapted": not spared}]
    optimizer = OPTIMIZERS[case["optimizer"]](groups, case)
    after = {}
    for step in range(1, STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = case["lr"] / step if case.get("falling") else case["lr"]
        for parameter, gradient in zip(parameters, gradients(step)):
            parameter.grad = gradient
        if "clip" in case:
            torch.nn.utils.clip_grad_norm_(parameters, case["clip"])
        if "clip_value" in case:
            torch.nn.utils.clip_grad_value_(parameters, case["clip_value"])
        optimizer.step()
        if step in (1, STEPS):
            after[step] = torch.cat([parameter.detach() for parameter in parameters]).tolist()
    return dict(case, after_one=after[1], after_all=after[STEPS])


def rates(make, steps, lr=0.8):
    """One for each of so many steps. `make` is called with an optimizer."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
    scheduler = make(optimizer)
    found = []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


def by_epoch(make, steps, per_epoch):
    epochs = rates(make, -(-steps // per_epoch))
    return [epochs[step // per_epoch] for step in range(steps)]


def schedules():
    """23 steps of training, 4 an epoch, with a full rate of 0.8."""
    steps, per_epoch = 23, 4
    cyclic = lambda o: lr_scheduler.CyclicLR(o, 0.2, 0.8, step_size_up=6, cycle_momentum=False)
    warmup = rates(lambda o: lr_scheduler.LinearLR(o, start_factor=1 / 6, total_iters=5), 6)
    found = {
        "constant": [0.8] * steps,
        "step:2,0.5": by_epoch(lambda o: lr_scheduler.StepLR(o, 2, 0.5), steps, per_epoch),
        "multi-step:1+3+4,0.3": by_epoch(lambda o: lr_scheduler.MultiStepLR(o, [1, 3, 4], 0.3), steps, per_epoch),
        "cosine": rates(lambda o: lr_scheduler.CosineAnnealingLR(o, steps), steps),
        "cosine:0.05": rates(lambda o: lr_scheduler.CosineAnnealingLR(o, steps, eta_min=0.04), steps),
        "cyclic:1.5,0.25": rates(cyclic, steps),
        "one-cycle": rates(lambda o: lr_scheduler.OneCycleLR(o, 0.8, total_steps=steps, cycle_momentum=False), steps),
        "one-cycle:0.5": rates(lambda o: lr_scheduler.OneCycleLR(o, 0.8, total_steps=steps, pct_start=0.5,
                                                                 cycle_momentum=False), steps),
        "polynomial": rates(lambda o: lr_scheduler.PolynomialLR(o, steps), steps),
        "polynomial:2": rates(lambda o: lr_scheduler.PolynomialLR(o, steps, power=2), steps),
    }
    after_warmup = rates(lambda o: lr_scheduler.CosineAnnealingLR(o, steps - 6), steps - 6)
    warm = {"cosine": warmup + after_warmup, "constant": warmup + [0.8] * (steps - 6)}
    return {"rate": 0.8, "steps_per_epoch": per_epoch, "rates": found, "warmup": 1.5, "warm_rates": warm}


def main():
    torch.set_num_threads(1)
    made_by = f"tests/reference/optimizers.py with PyTorch {torch.__version__}"
    cases = ",\n".join("  " + json.dumps(take_steps(case)) for case in CASES)
    (HERE / "optimizers.json").write_text(f'{{"made_by": {json.dumps(made_by)}, "tensors": {TENSORS}, "cases": [\n{cases}\n]}}\n')
    result = dict(schedules(), made_by=made_by)
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in result.items()]
    (HERE / "schedules.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
