"""Settings with which a user may make PyTorch's training faster on a CPU. The worker applies them; train.py looks for
those that help here."""
import os

SETTINGS = ["flush-denormal", "channels-last", "pin", "compile"]


def apply_to_process(settings, rank, threads):
    """Before torch starts threads: they inherit the cores."""
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
    """Tries each setting on top of those that helped so far. `run` takes a list of settings and returns the seconds of an
    iteration, or raises RuntimeError where this PyTorch cannot do that. Returns the list, and a line for each trial."""
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
