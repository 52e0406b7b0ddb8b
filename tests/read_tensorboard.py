"""Reads the event files of a run with TensorBoard itself, and compares them with metrics.jsonl. Run by hand, since Debian
has no TensorBoard:

    python3 -m venv DIR && DIR/bin/pip install tensorboard
    DIR/bin/python tests/read_tensorboard.py RUN    # a folder that train --tensorboard has written
"""
import collections
import json
import math
import pathlib
import sys

from tensorboard.backend.event_processing import event_accumulator


def shown_by_tensorboard(folder):
    """{(tag, step): value} of one of its runs."""
    everything = event_accumulator.EventAccumulator(str(folder), size_guidance={event_accumulator.SCALARS: 0,
                                                                               event_accumulator.TENSORS: 0})
    everything.Reload()
    return {(tag, event.step): event.value for tag in everything.Tags()["scalars"] for event in everything.Scalars(tag)}


def measured(run):
    """The same of metrics.jsonl, by the folder that it should be in."""
    values = collections.defaultdict(dict)
    for line in map(json.loads, (run / "metrics.jsonl").read_text().splitlines()):
        kind = line["kind"]
        step = line["epoch" if kind == "epoch" else "iteration"]
        folder = values["test" if kind == "test" else f"rank-{line['rank']}"]
        for name, field in (("loss", "loss"), ("accuracy", "accuracy"), ("seconds", "total")):
            if name != "seconds" or kind == "iteration":
                folder[f"{kind}/{name}", step] = math.nan if line[field] is None else line[field]
    return values


def same(a, b):
    return math.isnan(a) and math.isnan(b) or math.isclose(a, b, rel_tol=1e-6)  # event files have float32


def main():
    run = pathlib.Path(sys.argv[1])
    for name, expected in sorted(measured(run).items()):
        found = shown_by_tensorboard(run / "tensorboard" / name)
        wrong = [key for key in expected if key not in found or not same(found[key], expected[key])]
        if wrong or len(found) != len(expected):
            sys.exit(f"{name}: {len(wrong)} of {len(expected)} scalars differ, such as {wrong[:3]}; {len(found)} were found")
        print(f"{name}: {len(found)} scalars, all as in metrics.jsonl")


if __name__ == "__main__":
    main()
