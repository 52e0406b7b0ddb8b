#!/usr/bin/python3 -B
"""Training runs under a plan of faults: each must end with the right weights, or with an error that names the cause.

A seed determines the plan: the job, the fault and the moment of each round. After an error the same command with
--resume must end with the right weights; with --shards, on another number of workers. LOCKSTEP_BINARY names the
program. As root the plan includes disks that are full or become read-only, in a separate mount namespace.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from faults import FAULTS
from runs import JOBS, Wrong, make_run


def undisturbed(job):
    with tempfile.TemporaryDirectory(prefix="lockstep-chaos-") as folder:
        run = make_run(job, folder)
        run.start()
        if run.finish() != 0:
            raise Wrong(f"{job} fails by itself: {run.errors()}")
        return run.weights()


def classify(run, fault):
    """Returns how the run ended; raises Wrong if the fault does not allow that."""
    code = run.finish()
    if code == 0:
        return "right"
    if fault.error is None or not re.search(fault.error, run.errors()):
        raise Wrong(f"it ended with code {code} and said: {run.errors()}")
    fault.repair(run)
    run.restart(workers=fault.chance.choice([1, 2, 4]) if "--shards" in JOBS[run.job] else None)
    if code := run.finish():
        raise Wrong(f"it could not be resumed (code {code}): {run.errors()}")
    return "named, resumed, right"


def strike(job, fault, moment, right, folder):
    run = make_run(job, folder)
    fault.prepare(run)
    try:
        run.start(*fault.options, wrapper=fault.wrapper, **fault.settings)
        run.wait_for_iteration(moment)
        fault.strike(run)
        outcome = classify(run, fault)
        if (weights := run.weights()) != right:
            raise Wrong(f"its weights are {weights[:12]}, not {right[:12]}")
        return outcome
    finally:
        fault.clean(run)


def in_a_mount_namespace():
    """Restarts this program in a mount namespace, so that its disks are private."""
    if os.geteuid() != 0 or "LOCKSTEP_UNSHARED" in os.environ or subprocess.run(["unshare", "--mount", "true"]).returncode:
        return
    os.execvpe("unshare", ["unshare", "--mount", sys.executable, *sys.argv], {**os.environ, "LOCKSTEP_UNSHARED": "1"})


def plan(seed, rounds, jobs, faults):
    """Yields every fault in turn, on a suitable job, at a random iteration."""
    chance = random.Random(seed)
    for number in range(rounds):
        fault = faults[number % len(faults)](random.Random(chance.random()))
        fitting = [job for job in jobs if fault.fits(job)]
        if fitting:
            job = chance.choice(fitting)
            iterations = JOBS[job][JOBS[job].index("--iterations") + 1]
            yield number, job, fault, chance.randrange(1, iterations)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2 * len(FAULTS))
    parser.add_argument("--jobs", type=lambda text: text.split(","), default=list(JOBS), help=", ".join(JOBS))
    names = {fault.__name__: fault for fault in FAULTS}
    parser.add_argument("--faults", type=lambda text: [names[name] for name in text.split(",")], default=FAULTS,
                        help=", ".join(names))
    parser.add_argument("--only", type=int, help="run only this round of the plan")
    options = parser.parse_args()
    in_a_mount_namespace()
    right = {}
    outcomes, wrong = collections.Counter(), 0
    for number, job, fault, moment in plan(options.seed, options.rounds, options.jobs, options.faults):
        if options.only not in (None, number):
            continue
        name = type(fault).__name__
        right[job] = right.get(job) or undisturbed(job)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-chaos-"))
        try:
            outcome = strike(job, fault, moment, right[job], folder)
            shutil.rmtree(folder)
        except Wrong as error:
            wrong += 1
            outcome = "WRONG"
            print(f"{error}\n  again: chaos.py --seed {options.seed} --rounds {options.rounds} --only {number}; its files: "
                  f"{folder}")
        outcomes[name, outcome] += 1
        print(f"{number:4} {job:15} {name:22} at iteration {moment:3}: {outcome}", flush=True)
    print("\n| fault | times | outcome |\n| --- | --- | --- |")
    for (name, outcome), times in sorted(outcomes.items()):
        print(f"| {name} | {times} | {outcome} |")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
