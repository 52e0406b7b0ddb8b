"""The output of train.py. `rounds` has a list of results, one per round, by the contender's name."""
import statistics

STEP, TOTAL, PEAK = "seconds_per_iteration", "seconds_total", "peak_rss_bytes"
OURS = "lockstep ddp"


class Report:
    def __init__(self, rounds):
        self.rounds = rounds

    def median(self, name, key):
        return statistics.median(result[key] for result in self.rounds[name])

    def shares(self, name, key):
        """Lockstep ddp's time divided by this contender's in the same round, for every round."""
        return [ours[key] / theirs[key] for ours, theirs in zip(self.rounds[OURS], self.rounds[name])]

    def fastest(self, family, method, key):
        """The name of the fastest contender such as 'pytorch … ddp'; None if there is none."""
        names = [name for name in self.rounds if name.startswith(family + " ") and name.endswith(" " + method)]
        return min(names, key=lambda name: self.median(name, key), default=None)

    def print(self):
        self.print_table()
        print()
        for family in ["pytorch", "c10d"]:
            for method in ["ddp", "all-reduce"]:
                for key, what in [(STEP, "an iteration"), (TOTAL, "all iterations")]:
                    self.print_statement(self.fastest(family, method, key), key, what)
        self.print_memory()
        print(f"{OURS}: {100 * self.median(OURS, 'exposed'):.1f} % of an iteration is communication not hidden by "
              "backward")

    def print_table(self):
        print(f"{'contender':34} {'ms/iteration':>12} {'ours/this':>9} {'total s':>9} {'ours/this':>9} {'peak MB':>8}")
        for name in self.rounds:
            step, total = (statistics.median(self.shares(name, key)) for key in (STEP, TOTAL))
            print(f"{name:34} {1000 * self.median(name, STEP):12.2f} {step:9.3f} {self.median(name, TOTAL):9.2f} "
                  f"{total:9.3f} {self.median(name, PEAK) / 1e6:8.0f}")
        print(f"ours/this: {OURS}'s time divided by this contender's, the median over the rounds; below 1, {OURS} is "
              "faster")

    def print_statement(self, name, key, what):
        if name is None:
            return
        shares = self.shares(name, key)
        print(f"{OURS} takes {statistics.median(shares):.3f} of the time of {name} for {what} "
              f"({min(shares):.3f} to {max(shares):.3f} over the rounds)")

    def print_memory(self):
        ours = self.median(OURS, PEAK)
        for name in self.rounds:
            if name.startswith("lockstep ") or not name.endswith(" ddp"):
                continue
            theirs = self.median(name, PEAK)
            verdict = "at most" if ours <= theirs else "MORE than"
            print(f"{OURS}'s largest worker has {ours / 1e6:.0f} MB at its peak, {verdict} the {theirs / 1e6:.0f} MB "
                  f"of {name}")
