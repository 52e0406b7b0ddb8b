#!/usr/bin/python3 -B
"""Accuracy with larger batches, without and with each remedy: VGG-11 on all of CIFAR-10.

Runs `lockstep train` once for each remedy and batch, on one worker, and keeps each result in a folder. An interrupted
study resumes with the results that are missing. Prints a table in Markdown, and can draw it. docs/large-batch.md has the
results.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMON = "--model vgg11 --data cifar10 --augment --limit 0 --workers 1 --trace 0".split()
SGD = "--momentum 0.9 --weight-decay 5e-4"
LINEAR = f"{SGD} --lr 0.01 --lr-scale linear --lr-batch 128"
REMEDIES = {
    "nothing": f"{SGD} --lr 0.01",
    "square root": f"{SGD} --lr 0.01 --lr-scale sqrt --lr-batch 128",
    "linear": LINEAR,
    "linear, warm-up": f"{LINEAR} --warmup 0.5",
    "linear, warm-up, cosine": f"{LINEAR} --warmup 0.5 --schedule cosine",
    "linear, warm-up, cosine, clipping": f"{LINEAR} --warmup 0.5 --schedule cosine --clip 1",
    "label smoothing": f"{SGD} --lr 0.01 --label-smoothing 0.1",
    "no decay of vectors": f"{SGD} --lr 0.01 --no-decay-bn-bias",
    "LARS": f"{SGD} --optimizer lars --lr 5 --warmup 0.5 --schedule polynomial:2 --no-decay-bn-bias",
    "LAMB": "--optimizer lamb --lr 0.005 --weight-decay 0.01 --warmup 0.5 --schedule cosine --no-decay-bn-bias",
}
SCALED = {"square root", "linear"}  # these equal "nothing" at --lr-batch
COLOURS = ["#4e79a7", "#f28e2b", "#59a14f"]


def result_of(options, remedy, batch):
    """The run's summary. Trains unless the folder has it."""
    if remedy in SCALED and batch == 128:
        remedy = "nothing"
    name = f"{batch}-{remedy.replace(', ', '-').replace(' ', '_')}"
    file = options.folder / f"{name}.json"
    if not file.exists() and options.missing == "run":
        print(f"batch {batch}, {remedy}: {REMEDIES[remedy]}", file=sys.stderr)
        half = file.with_suffix(".part")
        subprocess.run([options.binary, "train", *COMMON, *REMEDIES[remedy].split(), "--batch", str(batch), "--epochs",
                        str(options.epochs), "--data-dir", options.data_dir, "--threads", str(options.threads),
                        "--run-dir", options.folder / name, "--json", half], check=True, stdout=subprocess.DEVNULL)
        half.rename(file)
    return json.loads(file.read_text()) if file.exists() else None


def table(results, batches):
    print("| remedy | " + " | ".join(f"batch {batch}: test %, train loss" for batch in batches) + " |")
    print("| --- |" + " --- |" * len(batches))
    for remedy in REMEDIES:
        cells = []
        for batch in batches:
            run = results[remedy, batch]
            cells.append(f"{100 * run['test_accuracy']:.1f}, {run['train_loss']:.2f}" if run else "")
        if any(cells):
            print(f"| {remedy} | " + " | ".join(cells) + " |")


def drawing(results, batches):
    """Bars of the test accuracies, as SVG: a group for each remedy, a bar for each batch."""
    rows = [remedy for remedy in REMEDIES if any(results[remedy, batch] for batch in batches)]
    bar, gap, left, width = 14, 14, 290, 420
    group = len(batches) * bar + gap
    height = len(rows) * group + 40
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 70} {height}" font-family="sans-serif" '
             f'font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>']
    for i, batch in enumerate(batches):
        parts.append(f'<rect x="{left + 110 * i}" y="8" width="12" height="12" fill="{COLOURS[i]}"/>'
                     f'<text x="{left + 110 * i + 18}" y="18">batch {batch}</text>')
    for j, remedy in enumerate(rows):
        top = 32 + j * group
        parts.append(f'<text x="{left - 10}" y="{top + len(batches) * bar / 2 + 4}" text-anchor="end">{remedy}</text>')
        for i, batch in enumerate(batches):
            if run := results[remedy, batch]:
                share = run["test_accuracy"]
                parts.append(f'<rect x="{left}" y="{top + i * bar}" width="{width * share:.1f}" height="{bar - 2}" '
                             f'fill="{COLOURS[i]}"/><text x="{left + width * share + 6:.1f}" y="{top + i * bar + 10}" '
                             f'font-size="11">{100 * share:.1f} %</text>')
    return "\n".join(parts + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", required=True, help="a folder with all of CIFAR-10")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="folder for the results")
    parser.add_argument("--batches", type=lambda text: [int(one) for one in text.split(",")], default=[128, 512, 2048])
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--missing", choices=["run", "leave"], default="run", help="what to do if the folder lacks a result")
    parser.add_argument("--svg", type=pathlib.Path, help="file for the drawing")
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "bin" / "lockstep"))
    options = parser.parse_args()
    if len(options.batches) > len(COLOURS):
        parser.error(f"--batches: at most {len(COLOURS)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    results = {(remedy, batch): result_of(options, remedy, batch) for remedy in REMEDIES for batch in options.batches}
    table(results, options.batches)
    if options.svg:
        options.svg.write_text(drawing(results, options.batches))


if __name__ == "__main__":
    main()
