"""Settings that may make PyTorch's training faster on a CPU. The worker applies them; train.py searches for the fastest
combination on this machine."""
import os

SETTINGS = ["flush-denormal", "channels-last", "pin", "compile"]


def apply_to_process(settings, rank, threads):
    """Called before torch starts threads, which inherit the cores."""
    import torch
    torch.set_num_threads(threads)
    if "flush-denormal" in settings:
        torch.set_flush_denormal(True)
    if "pin" in settings:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[(rank * threads + i) % len(cores)] for i in range(threads)})


def apply_to(settings, tensor_or_model):
    import torch
    return tensor_or_model.to(memory_format=torch.channels_last) if "channels-last" in settings else tensor_or_model


def compiled(settings, forward):
    import torch
    return torch.compile(forward) if "compile" in settings else forward


def find_fastest(run):
    """Adds each setting in turn and keeps it if it helps. `run` takes a list of settings and returns the seconds per
    iteration, or raises RuntimeError if this PyTorch does not support one. Returns the kept settings, and a text for each
    trial."""
    kept, trials = [], []
    fastest = run(kept)
    for setting in SETTINGS:
        try:
            seconds = run([*kept, setting])
        except RuntimeError:
            trials.append(f"{setting} fails")
            continue
        trials.append(f"{setting} {seconds / fastest:.2f}")
        if seconds < fastest:
            kept, fastest = [*kept, setting], seconds
    return kept, trials
