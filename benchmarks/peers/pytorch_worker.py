"""One rank of a PyTorch training: the peer that train.py times. Started with torchrun's variables.

    RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29501 python3 pytorch_worker.py --model lenet5 ...

The images are random and lie in memory, ready to be used: PyTorch pays nothing for loading. Rank 0 prints one line of
JSON: the median seconds of an iteration (the first left out), the seconds of all, the largest rank's peak memory.
"""
import argparse
import json
import pathlib
import resource
import statistics
import sys
import time

import torch
import torch.distributed as dist

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "reference"))
from networks import NETWORKS  # noqa: E402  (found by the line above)


def average_per_tensor(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--method", choices=["ddp", "all-reduce"], required=True)
    parser.add_argument("--batch", type=int, required=True, help="of all ranks")
    parser.add_argument("--images", type=int, required=True, help="in an epoch")
    parser.add_argument("--iterations", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(5000)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    model = NETWORKS[options.model]()
    step = torch.nn.parallel.DistributedDataParallel(model) if options.method == "ddp" and size > 1 else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    channels = 1 if options.model == "lenet5" else 3
    # The global batches of an epoch, the last one smaller; this rank's share of each.
    shares = []
    for begin in range(0, options.images, options.batch):
        count = min(options.batch, options.images - begin)
        mine = count * (rank + 1) // size - count * rank // size
        shares.append((torch.randn(mine, channels, 32, 32), torch.randint(10, (mine,))))

    seconds = []
    dist.barrier()
    start = time.perf_counter()
    for iteration in range(options.iterations):
        begin = time.perf_counter()
        images, labels = shares[iteration % len(shares)]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(step(images), labels).backward()
        if options.method == "all-reduce" and size > 1:
            average_per_tensor(model)
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    dist.barrier()
    total = time.perf_counter() - start
    peak = torch.tensor([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024], dtype=torch.int64)
    dist.all_reduce(peak, dist.ReduceOp.MAX)
    if rank == 0:
        print(json.dumps({"seconds_per_iteration": statistics.median(seconds[1:]), "seconds_total": total,
                          "peak_rss_bytes": peak.item(), "version": torch.__version__}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
