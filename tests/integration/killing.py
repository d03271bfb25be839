"""Sweeps of runs that are killed with SIGKILL: at named points (tests/support/killing.h) or at any time."""

import collections
import random
import signal

import flights

# What is counted, and the points that count for it.
CELLS = {
    "while processing": ["process"],
    "between flush and acknowledged save": ["flush", "save-before", "save-after"],
    "during recovery": ["load-before", "load-after", "acquire-before", "acquire-after"],
    "at any time": [None],
}

# Kills wanted per cell; the full sweep is 100 of them.
FULL = {"while processing": 35, "between flush and acknowledged save": 30, "during recovery": 20, "at any time": 15}
SLICE = {"while processing": 6, "between flush and acknowledged save": 6, "during recovery": 4, "at any time": 4}
FEW = {"while processing": 1, "between flush and acknowledged save": 3, "during recovery": 2, "at any time": 1}


def plan(wanted, seed):
    """The cells in a random order. Each point of a cell is used about as often as its others."""
    rng = random.Random(seed)
    cells = []
    for cell, count in wanted.items():
        points = rng.sample(CELLS[cell], len(CELLS[cell]))
        cells += [(cell, points[i % len(points)]) for i in range(count)]
    rng.shuffle(cells)
    return rng, cells


class Sweep:
    """Kills runs of one job over and over, each going on where the one before was killed.

    `command(round)` gives the command of a round; when a run of it comes to its end, `finished(round)` checks what it
    has left, and the next round starts from nothing. `after(round)` is called after each kill.
    """

    def __init__(self, record_property, command, finished, log, after=lambda round: None):
        self.record_property = record_property
        self.command = command
        self.finished = finished
        self.after = after
        self.log = log
        self.round = 1
        self.fresh = True  # no run of this round has been killed yet
        self.kills = collections.Counter()
        self.points = collections.Counter()

    def run(self, wanted, seed):
        rng, cells = plan(wanted, seed)
        for cell, point in cells:
            while not self.kill_once(rng, cell, point):
                pass
        self.finish()
        self.tell()
        assert self.kills == collections.Counter(wanted)

    def tell(self):
        """Counts go into the report of the test run."""
        print(f"\n{sum(self.kills.values())} runs killed, in {self.round - 1} rounds")
        for cell in CELLS:
            points = ", ".join(f"{name} {self.points[name]}" for name in CELLS[cell] if name)
            print(f"  {self.kills[cell]:3} {cell} ({points or 'times at random'})")
            self.record_property(f"killed {cell}", self.kills[cell])

    def kill_once(self, rng, cell, point):
        """One run that shall be killed. False when it ended before it came to the point."""
        recovery = point in CELLS["during recovery"]
        if recovery and self.fresh:
            self.leave_something()
        if point is None:
            ran = flights.run(self.command(self.round), self.log, after_s=rng.uniform(0.02, 1.0))
        else:
            ran = flights.run(self.command(self.round), self.log, f"{point}:{1 if recovery else rng.randint(1, 4)}")
        flights.assert_done_or_killed(ran)
        if ran.code != -signal.SIGKILL:
            self.next_round()
            return False
        self.kills[cell] += 1
        self.points[point] += 1
        self.fresh = False
        self.after(self.round)
        return True

    def leave_something(self):
        """A run with nothing stored has nothing to recover from: this one, not counted, is killed after its first save."""
        ran = flights.run(self.command(self.round), self.log, "save-after:2")
        assert ran.code == -signal.SIGKILL, f"exit code {ran.code}:\n{flights.tail(self.log)}"
        self.fresh = False
        self.after(self.round)

    def finish(self):
        """The run that is not killed."""
        flights.assert_done(flights.run(self.command(self.round), self.log))
        self.next_round()

    def next_round(self):
        self.after(self.round)
        self.finished(self.round)
        self.round += 1
        self.fresh = True
