"""Generated page data in the program's format, with any number of runs, ranks and points."""
import math
import random

HOSTILE = "</script><img src=x onerror=\"document.title='broken in'\"><b>bold</b> <!-- & 'quoted' \"text\""


def curve(points, seed):
    noise = random.Random(seed)
    return [round(2.3 * math.exp(-3 * index / points) + 0.05 * noise.random(), 5) for index in range(points)]


def lanes(ranks):
    """Two buckets of each rank: one behind backward, one after it."""
    made = []
    for rank in range(ranks):
        begin = 10.0 * rank
        parts = [("data", 0, 5), ("forward", 5, 300), ("backward", 305, 600), ("synchronise", 905, 200),
                 ("optimizer", 1105, 40)]
        made.append({"rank": rank, "stream": "training",
                     "spans": [{"name": name, "kind": "part", "start": begin + start, "length": length, "depth": 0}
                               for name, start, length in parts]
                     + [{"name": f"aten::operation_{index}", "kind": "operation", "start": begin + 10 + 30 * index,
                         "length": 25, "depth": 1} for index in range(28)],
                     "marks": [{"name": f"layer.{index}", "at": begin + 350 + 130 * index} for index in range(5)]})
        made.append({"rank": rank, "stream": "communication",
                     "spans": [{"name": "all_reduce", "kind": "collective", "start": begin + start, "length": length,
                                "bytes": 250000, "wait": 40, "detail": "direct", "depth": 0}
                               for start, length in ((500, 200), (910, 190))]})
    return made


def run(name, ranks=4, points=100, seed=0):
    losses = curve(points, seed)
    seconds = [0.004 + 0.0005 * (index % 7) for index in range(points)]
    shares = {"compute_share": 0.7, "communication_share": 0.28, "exposed_communication_share": 0.25, "wait_share": 0.1,
              "hidden_communication_share": 0.03, "data_share": 0.05}
    return {
        "name": name, "folder": name, "stopped": None, "test": {"iteration": points, "loss": 0.4, "accuracy": 0.87},
        "config": {"format": 1, "model": "lenet5", "data": "mnist", "workers": ranks, "batch": 16, "lr": 0.01,
                   "sync": name, "limit": 100, "shuffle": True, "init": ""},
        "summary": {"method": name, "workers": ranks, "iterations": points, "epochs": 10, "images_per_second": 4000.5,
                    "seconds_per_iteration": {"mean": 0.0055, "p50": 0.005, "p90": 0.007}, "seconds_total": 0.5,
                    "train_loss": losses[-1], "train_accuracy": 0.9, "test_accuracy": 0.87, "verdict": "Fine.",
                    "ranks": [{"rank": rank, "seconds_per_iteration": 0.0055, **shares,
                               "bytes_per_iteration": 370e3 + 370e3 * (rank == 0)} for rank in range(ranks)], **shares},
        "iterations": [{"rank": rank, "iteration": list(range(1, points + 1)), "loss": list(losses),
                        "seconds": list(seconds)} for rank in range(ranks)],
        "epochs": [{"rank": rank, "epoch": list(range(1, 11)), "loss": losses[:10],
                    "accuracy": [0.09 * epoch for epoch in range(1, 11)]} for rank in range(ranks)],
        "parts": {"data": 0.0002, "forward": 0.0015, "backward": 0.002, "exposed": 0.001, "wait": 0.0004,
                  "optimizer": 0.0001, "communication": 0.0014, "hidden": 0.0004, "total": 0.0048},
        "timeline": {"iteration": 7, "microseconds": 1200.0, "lanes": lanes(ranks)},
    }


def post_mortem(ranks=4, died=2):
    """A second in which all reduce, until one is killed and the others wait for it."""
    def lane(rank):
        spans = [{"name": f"all_reduce #{number}", "kind": "collective", "start": -1e6 + 9e4 * number, "length": 6e4,
                  "depth": 0, "bytes": 66000, "wait": 1e4, "detail": "direct, bucket 0, step 17"} for number in range(11)]
        last = {"name": "all_reduce #34", "kind": "collective", "start": -1e4, "depth": 0, "bytes": 66000,
                "length": 1e4 if rank == died else 9e4, "wait": 9e4, "detail": "failed"}
        return {"rank": rank, "stream": "communication", "marks": [], "spans": [*spans, last],
                "end": 0 if rank == died else 1e5 + rank}
    return {"verdict": [f"rank {died} (pid 4711) was ended by signal 9 (Killed) in step 17, in all_reduce #34 (66 kB)",
                        f"ranks 0, 1 and 3 waited for rank {died} in all_reduce #34 (66 kB), for up to 90 ms"],
            "table": {"title": "Ranks at the end of the run",
                      "columns": ["rank", "exit", "step", "operation", "waited for rank", "waited ms"],
                      "rows": [[str(rank), "exited with code 1", "17", "all_reduce #34", str(died), "90.000"]
                               for rank in range(ranks)], "explain": {}},
            "timeline": {"microseconds": 0, "lanes": [lane(rank) for rank in range(ranks)]}}


def page(names=("alone", "ring", "ddp"), ranks=4, points=100, **more):
    runs = [run(name, 1 if name == "alone" else ranks, points, seed=index) for index, name in enumerate(names)]
    rows = [[its["name"], "5.000", "87.0", 'equal, "to the bit"'] for its in runs]
    return {"format": 1, "kind": "compare", "title": "A page that was made up",
            "command": "lockstep compare --epochs 10", "version": "0.1.0", "made": "2026-01-02 03:04 UTC",
            "ranking": {"fastest": None, "inexact": [], "exact": [
                {"name": name, "images_per_second": 4000.5, "lowest": 3900, "highest": 4100, "repetitions": 3}
                for name in names if name != "alone"]},
            "verdict": "Compute-bound: all is well.",
            "machine": {"processor": "A processor", "cores": 4, "memory_bytes": 16e9, "system": "A system"},
            "notes": ["All methods end with the same weights."], "runs": runs, "scaling": None,
            "tables": [{"title": "Methods", "columns": ["method", "ms/iteration", "test %", "weights"], "rows": rows,
                        "explain": {"ms/iteration": "median, without the first"}}],
            "methods": [{"name": name, "what": "It works so.", "formula": "2n(W−1)/W bytes", "predicted": "370 kB",
                         "measured": "371 kB"} for name in names], **more}


def wide_table():
    """Results of four methods, wider than any page."""
    columns = ["method", "workers", "images/s", "lowest", "highest", "speed-up", "mean ms", "median ms", "p90 ms", "total s",
               "compute %", "transfer %", "waiting %", "data %", "hidden %", "MB rank 0", "MB others", "loss", "train %", "test %",
               "weights"]
    rows = [[method, "4", "12345", "11234", "13456", "1.23", "0.123", "0.113", "0.456", "123.45", "45.6", "30.3", "15.3", "8.8",
             "12.3", "0.275", "0.0693", "2.2130", "28.4", "31.5", "6e-05 off"] for method in ("alone", "ring", "ddp", "halving-doubling")]
    return {"title": "Sync methods", "columns": columns, "rows": rows, "explain": {"images/s": "over the whole run"}}


def unclean_table():
    """A table whose cells have several numbers, and the program's version with one."""
    return {"title": "By batch", "columns": ["workers", "32"], "rows": [["1", "0.250 s, 1.00×"], ["2", "–"]],
            "clean": {"columns": ["workers", "32 s", "32 ×"], "rows": [["1", "0.250", "1.00"], ["2", "", ""]]}}


def scaling(workers=(1, 2, 4), batches=(32, 128, 512), cores=2):
    points = [{"workers": count, "batch": batch, "method": "ddp", "seconds_per_epoch": 40 / count + 300 / batch,
               "seconds_per_iteration": 0.1 * batch / 32 / count, "speedup": count ** 0.93,
               "efficiency": count ** -0.07, "compute_seconds": 35 / count,
               "communication_seconds": 90 / batch * (count > 1), "transfer_seconds": 40 / batch * (count > 1),
               "wait_seconds": 20 / batch * (count > 1), "data_seconds": 0.2,
               "bandwidth_mbs": None if count == 1 else 0.4 * batch * count, "bandwidth_share": 0.5,
               "oversubscribed": count > cores} for batch in batches for count in workers]
    return {"weak": False, "points": points}


def bare():
    """A page with the required fields only."""
    return {"format": 1, "kind": "train", "title": "Bare", "verdict": "Nothing is known.", "notes": [], "tables": [],
            "runs": [{"name": "ring"}]}


def stopped():
    """A run that was killed: no summary, curves that end."""
    its = run("ddp", 2, 32)
    its.update(summary=None, test=None, parts=None, timeline=None,
               stopped={"iteration": 32, "of": 700, "why": "The run was stopped or killed."})
    return {**page(("ddp",)), "kind": "train", "runs": [its], "tables": [], "methods": [],
            "verdict": "The run was stopped or killed. It is recorded up to iteration 32 of 700. There is no checkpoint."}


def hostile():
    """Markup wherever text may stand."""
    made = page((HOSTILE, "ring"), ranks=2)
    made.update(title=HOSTILE, verdict=HOSTILE, command=HOSTILE, notes=[HOSTILE + "!"], version=HOSTILE, made=HOSTILE)
    made["machine"] = {"processor": HOSTILE, "system": HOSTILE}
    made["methods"][0].update(what=HOSTILE, formula=HOSTILE, predicted=HOSTILE, measured=HOSTILE)
    made["tables"][0].update(title=HOSTILE, explain={"weights": HOSTILE})
    made["tables"][0]["rows"][0][3] = HOSTILE
    made["runs"][0]["config"][HOSTILE] = HOSTILE
    made["runs"][0]["timeline"]["lanes"][0]["spans"][0]["name"] = HOSTILE
    made["runs"][0]["stopped"] = {"iteration": 1, "of": 2, "why": HOSTILE}
    return made


def diverged():
    """A loss that runs away and ends as no number at all."""
    made = page(("right", "sum"), ranks=2)
    for record in made["runs"][1]["iterations"]:
        record["loss"] = [2.3 * 1.3 ** index for index in range(60)] + [None] * 40
    return {**made, "kind": "mistakes"}
