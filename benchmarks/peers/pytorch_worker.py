"""One rank of a PyTorch training: the Python peer of train.py. Started with torchrun's variables.

    RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29501 python3 pytorch_worker.py --model lenet5 ...

It is written as a careful user would write it: ReLU works in place, gradients are views of the buckets, zero_grad frees
them, the buffers of batch norm are not broadcast in every step (Lockstep does not broadcast them either), the optimizer
is fused if this PyTorch supports it, and the loss is never read. The images are random tensors in memory, so loading
costs PyTorch nothing. Rank 0 prints one line of JSON: the median seconds per iteration (over all ranks, without the
first), the seconds of all iterations, and the peak memory of the largest rank.
"""
import argparse
import inspect
import json
import os
import pathlib
import resource
import statistics
import sys
import time

import torch
import torch.distributed as dist

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "reference"))
from networks import NETWORKS  # noqa: E402  (found by the line above)

import pytorch_settings  # noqa: E402  (beside this file)


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=NETWORKS, required=True)
    parser.add_argument("--method", choices=["ddp", "all-reduce"], required=True)
    parser.add_argument("--batch", type=int, required=True, help="images of all ranks in a step")
    parser.add_argument("--images", type=int, required=True, help="images in an epoch")
    parser.add_argument("--iterations", type=int, required=True, help="at least 2: the first is not counted")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--settings", default="", help="some of " + ",".join(pytorch_settings.SETTINGS))
    options = parser.parse_args()
    options.settings = [word for word in options.settings.split(",") if word]
    return options


def make_model(name):
    model = NETWORKS[name]()
    for layer in model.modules():
        if isinstance(layer, torch.nn.ReLU):
            layer.inplace = True  # as in Lockstep's models
    return model


def make_optimizer(parameters):
    settings = {"lr": 0.01, "momentum": 0.9, "weight_decay": 1e-4}
    try:
        return torch.optim.SGD(parameters, fused=True, **settings)
    except (TypeError, RuntimeError):  # this PyTorch has no fused SGD, or not on a CPU
        return torch.optim.SGD(parameters, **settings)


def wrap(model):
    ddp = torch.nn.parallel.DistributedDataParallel
    # Newer versions have another name for the option.
    newer = "forward_sync_buffers" in inspect.signature(ddp).parameters
    return ddp(model, gradient_as_bucket_view=True, **{"forward_sync_buffers" if newer else "broadcast_buffers": False})


def make_shares(options):
    """This rank's part of each global batch of an epoch, the last of which is smaller."""
    rank, size = dist.get_rank(), dist.get_world_size()
    channels = 1 if options.model == "lenet5" else 3
    torch.manual_seed(5001 + rank)  # each rank has its own images
    shares = []
    for begin in range(0, options.images, options.batch):
        count = min(options.batch, options.images - begin)
        mine = count * (rank + 1) // size - count * rank // size
        images = pytorch_settings.apply_to(options.settings, torch.randn(mine, channels, 32, 32))
        shares.append((images, torch.randint(10, (mine,))))
    return shares


def average_per_tensor(parameters):
    size = dist.get_world_size()
    for parameter in parameters:
        dist.all_reduce(parameter.grad)
        parameter.grad /= size


def require_equal_weights(parameters):
    highest = torch.stack([parameter.detach().double().sum() for parameter in parameters])
    lowest = highest.clone()
    dist.all_reduce(highest, dist.ReduceOp.MAX)
    dist.all_reduce(lowest, dist.ReduceOp.MIN)
    if not highest.equal(lowest):
        raise SystemExit("pytorch_worker.py: ranks ended with different weights")


def train(options, model):
    """The seconds of each iteration, and of all of them."""
    distributed = dist.get_world_size() > 1
    forward = wrap(model) if options.method == "ddp" and distributed else model
    forward = pytorch_settings.compiled(options.settings, forward)
    parameters = list(model.parameters())
    optimizer = make_optimizer(parameters)
    shares = make_shares(options)
    seconds = []
    dist.barrier()
    start = time.perf_counter()
    for iteration in range(options.iterations):
        begin = time.perf_counter()
        images, labels = shares[iteration % len(shares)]
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(forward(images), labels).backward()
        if options.method == "all-reduce" and distributed:
            average_per_tensor(parameters)
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    dist.barrier()
    return seconds, time.perf_counter() - start


def main():
    options = parse_options()
    pytorch_settings.apply_to_process(options.settings, int(os.environ["RANK"]), options.threads)
    torch.manual_seed(5000)
    dist.init_process_group("gloo")
    model = pytorch_settings.apply_to(options.settings, make_model(options.model))
    seconds, total = train(options, model)
    peak = torch.tensor([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024], dtype=torch.int64)
    dist.all_reduce(peak, dist.ReduceOp.MAX)
    counted = torch.tensor(seconds[1:], dtype=torch.float64)
    gathered = [torch.empty_like(counted) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, counted)
    require_equal_weights(list(model.parameters()))
    if dist.get_rank() == 0:
        print(json.dumps({"seconds_per_iteration": statistics.median(torch.cat(gathered).tolist()),
                          "seconds_total": total, "peak_rss_bytes": peak.item(), "version": torch.__version__}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
