"""The protocol of bench/useful: which data, prepared how, which half is for tuning.

Nothing here may be changed to make a figure better. Ranges are what somebody would write who
knows what a column means and has not looked at the rows.
"""
import csv
import gzip
import json
import os
import random
import subprocess
from dataclasses import dataclass, field

import panels
import worlds as w

HERE = os.path.dirname(os.path.abspath(__file__))
UNIT = {"others": [0, 1]}
STANDARD = {"others": [-3, 3]}  # columns that are N(0, 1), or were standardised by somebody


@dataclass(frozen=True)
class Set:
    name: str
    half: str   # tune or report
    about: str  # what it is, and tasks x rows for training x features
    flags: str = ""
    loss: str = "squared"
    outputs: int = 1
    scale: dict = field(default_factory=dict)
    file: str = ""      # under --data
    derive: object = None   # (data folder, path): makes a table of a file there
    panel: str = ""     # of panels.py
    make: object = None     # random -> tasks, see worlds.py
    synth: str = ""     # arguments of `billboard synth`
    train: float = 0.3  # of every task's rows
    part: float = 1.0   # of the seeds: what takes long has fewer

    @property
    def generated(self):
        return bool(self.make or self.synth)


def table(path):
    return gzip.open(path, "rt", newline="") if path.endswith(".gz") else open(path, newline="")


def authorities(data, path):
    """chem97 with local authorities for tasks."""
    with table(f"{data}/chem97/school_lea.csv") as file:
        lea = {row["school"]: row["lea"] for row in csv.DictReader(file)}
    with table(f"{data}/chem97/data.csv") as file, open(path, "w", newline="") as out:
        rows = csv.DictReader(file)
        new = csv.DictWriter(out, rows.fieldnames)
        new.writeheader()
        for row in rows:
            new.writerow(dict(row, task=lea[row["task"]]))


def health(data, path):
    """The three continuous targets of lsoa2, a task each."""
    with table(f"{data}/lsoa2/wide.csv.gz") as file, open(path, "w", newline="") as out:
        rows = csv.reader(file)
        head = next(rows)
        first = head.index("x1")
        new = csv.writer(out)
        new.writerow(["task", "y"] + head[first:])
        kept = list(rows)
        for k in (1, 2, 3):
            for row in kept:
                if row[k]:
                    new.writerow([k, row[k]] + row[first:])


def digits(data, path):
    """The digits of femnist105, means of 4 x 4 pixels."""
    with table(f"{data}/femnist105/data.csv.gz") as file, open(path, "w", newline="") as out:
        new = csv.writer(out)
        new.writerow(["task", "y"] + [f"x{k}" for k in range(49)])
        for row in csv.reader(file):
            if row[0] == "task" or int(row[1]) > 9:
                continue
            ink = list(map(int, row[2:]))
            new.writerow(row[:2] + [sum(ink[28 * (4 * a + r) + 4 * b + c] for r in range(4)
                                        for c in range(4)) / 16
                                    for a in range(7) for b in range(7)])


def world(name, half, about, make, low, high, others=STANDARD["others"], **more):
    return Set(name, half, about, make=make, scale={"target": [low, high], "others": others},
               **more)


def logits(name, half, about, make, **more):
    return Set(name, half, about, make=make, loss="logistic", scale=STANDARD, **more)


def panel(name, half, about, target, *columns):
    ranges = {f"x{k + 1}": list(r) for k, r in enumerate(columns)}
    return Set(name, half, about, panel=name, train=0.5,
               scale={"target": target, "columns": ranges, **UNIT})


SETS = [
    # -- real
    Set("school", "tune", "139 schools x 33 x 27, exam scores", file="school/data.csv",
        scale={"target": [0, 70], "columns": {"x4": [0, 100], "x5": [0, 100]}, **UNIT}),
    Set("chem97", "tune", "2,410 schools x 4 x 5, exam scores", file="chem97/data.csv",
        scale={"target": [0, 10], "columns": {"x1": [0, 8], "x2": [0, 64], "x3": [0, 1],
                                              "x4": [-6, 5], "x5": [0, 8]}}),
    Set("landmine", "tune", "29 fields x 153 x 9, mine or clutter", file="landmine/data.csv",
        loss="logistic", scale=STANDARD),
    Set("lsoa2", "tune", "41 questions x 953 x 292, the same people", file="lsoa2/data.csv.gz",
        loss="logistic", scale=STANDARD, part=0.25),
    Set("digits", "tune", "105 writers x 33 x 49, ten digits", derive=digits, loss="softmax",
        outputs=10, flags="--classes 10", scale={"others": [0, 255]}, part=0.5),
    Set("chem97-lea", "report", "131 authorities x 71 x 5, exam scores", derive=authorities,
        scale={"target": [0, 10], "columns": {"x1": [0, 8], "x2": [0, 64], "x3": [0, 1],
                                              "x4": [-6, 5], "x5": [0, 8]}}),
    Set("lsoa2-health", "report", "3 questions x 980 x 292, the same people", derive=health,
        scale={"target": [-3, 3], **STANDARD}),
    Set("bank_conjoint", "report", "946 people x 5 x 14, choices",
        file="bank_conjoint/data.csv", loss="logistic", scale={"others": [-1, 1]}),
    Set("heart4", "report", "4 hospitals x 69 x 20, heart disease", file="heart4/data.csv",
        loss="logistic", scale={"columns": {"x1": [20, 90], "x3": [80, 200], "x4": [100, 600],
                                            "x6": [60, 220], "x8": [-3, 7]}, **UNIT}),
    Set("emails15", "report", "15 people x 120 x 500, spam", file="emails15/data.csv.gz",
        loss="logistic", scale={"others": [0, 5]}, part=0.5),
    # -- panels of R's plm, see panels.py
    panel("wages", "tune", "595 people x 4 x 11, log wages", [4, 9], (0, 50), (0, 52), *7 * [(0, 1)],
          (4, 17)),
    panel("empluk", "tune", "140 firms x 4 x 4, log employment", [-3, 5], (1976, 1984), (2, 4),
          (-5, 4), (4, 5)),
    panel("sumhes", "report", "125 countries x 13 x 3, log product", [5, 10], (1960, 1985),
          (3, 14), (-5, 50)),
    panel("gasoline", "report", "18 countries x 10 x 4, log use of petrol", [3, 7], (1960, 1978),
          (-9, -5), (-3, 2), (-14, -7)),
    panel("cigar", "report", "46 states x 15 x 4, packs a head", [0, 300], (0, 200), (0, 150),
          (0, 25000), (0, 200)),
    panel("produc", "report", "48 states x 9 x 4, log product", [8, 14], (7, 12), (8, 13), (4, 10),
          (0, 20)),
    panel("males", "report", "545 people x 4 x 8, log wages", [-4, 5], (1980, 1987), (0, 20),
          (0, 20)),
    panel("crime", "report", "90 counties x 4 x 6, log crime rate", [-7, -1], (81, 87), (-3, 1),
          (-3, 4), (-3, 0), (1, 4), (-8, -3)),
    panel("laborsupply", "report", "532 men x 5 x 4, log hours", [2, 9], (0, 5), (0, 6), (20, 60)),
    panel("snmesp", "report", "738 firms x 4 x 4, log employment", [2, 10], (1983, 1990), (-2, 2),
          (3, 12), (1, 13)),
    panel("ricefarms", "report", "171 farms x 3 x 6, rice", [0, 20000], (0, 5), (0, 1000),
          (0, 1000), (0, 1000), (0, 5000), (0, 200)),
    # -- generated
    Set("blocks", "tune", "320 x 30 x 30, low-rank worlds of the paper",
        synth="low-rank", flags="--no-intercept",
        scale={"target": [-50, 50], "others": [-1, 1]}),
    world("mean-rank2", "tune", "400 x 15 x 20, mean + rank 2",
          w.regressions(400, 15, 15, 20, w.around(20, 1, 2, .5, .2, 5, 1), w.gaussian(2)),
          -20, 30, train=.5),
    world("nothing", "tune", "300 x 40 x 15, nothing shared",
          w.regressions(300, 40, 20, 15, w.around(15, 0, 0, 0, 1, 0, 3), w.gaussian(2)),
          -20, 20, train=2 / 3),
    world("fedrep", "tune", "2,000 x 10 x 30, a subspace of 2, no mean",
          w.regressions(2000, 10, 10, 30, w.subspace(30, 2), w.gaussian(.3)), -5, 5, train=.5),
    world("tiny", "tune", "5,000 x 3 x 5, mean and own intercepts",
          w.regressions(5000, 3, 9, 5, w.around(5, 1, 0, 0, .2, 10, 1), w.gaussian(2)),
          0, 20, train=.25),
    world("wrong-range", "tune", "500 x 10 x 8, ranges 20 times too wide",
          w.regressions(500, 10, 10, 8, w.around(8, 1, 0, 0, .3, 0, 1), w.gaussian(1)),
          -200, 200, others=[-60, 60], train=.5),
    logits("logit-mean", "tune", "1,000 x 15 x 10, two classes, mean + rank 2",
           w.labelled(1000, 15, 15, 10, w.around(10, .7, 2, .4, .2, 0, .7)), train=.5),
    logits("logit-36", "tune", "36 x 80 x 12, two classes, own models around a mean",
           w.labelled(36, 80, 160, 12, w.around(12, .5, 0, 0, .5, 0, .5)), train=1 / 3),
    Set("sparse", "report", "320 x 30 x 30, group-sparse worlds of the paper",
        synth="group-sparse", flags="--no-intercept",
        scale={"target": [-50, 50], "others": [-1, 1]}),
    world("nothing-wide", "report", "1,000 x 12 x 25, nothing shared, rows fewer than features",
          w.regressions(1000, 12, 12, 25, w.around(25, 0, 0, 0, 1, 0, 1), w.gaussian(1)),
          -20, 20, train=.5),
    world("subspace3", "report", "1,500 x 12 x 24, a subspace of 3, correlated columns",
          w.regressions(1500, 12, 12, 24, w.subspace(24, 3), w.gaussian(.5),
                        w.correlated(24, .7)), -6, 6, train=.5),
    Set("heavy", "report", "400 x 5-60 x 10, heavy tails in rows and noise", make=w.heavy,
        scale={"target": [-20, 40], "others": [0, 10]}, train=.5),
    world("many", "report", "10,000 x 20 x 20, mean + rank 2",
          w.regressions(10000, 20, 5, 20, w.around(20, .5, 2, .3, .3, 2, 1), w.gaussian(2)),
          -20, 20, train=.8, part=.25),
    world("few", "report", "20 x 300 x 10, mean, many rows",
          w.regressions(20, 300, 100, 10, w.around(10, 1, 0, 0, .3, 0, 1), w.gaussian(3)),
          -15, 15, train=.75),
    world("wide", "report", "300 x 100 x 200, 20 features matter",
          w.regressions(300, 100, 20, 200, w.few_matter(200, 20, 1, .3), w.gaussian(2)),
          -20, 20, train=100 / 120, part=.25),
    Set("growth", "report", "300 children x 6 x 2, growth curves", make=w.growth, train=.5,
        scale={"target": [70, 160], "columns": {"2": [0, 12], "3": [0, 144]}}),
    logits("logit-nothing", "report", "60 x 60 x 8, two classes, nothing shared",
           w.labelled(60, 60, 120, 8, w.around(8, 0, 0, 0, 1, 0, .5)), train=1 / 3),
    logits("logit-23", "report", "23 x 60 x 50, two classes, a mean",
           w.labelled(23, 60, 180, 50, w.around(50, .5, 0, 0, .1, 0, .3)), train=.25),
    logits("logit-many", "report", "10,000 x 8 x 10, two classes, mean + rank 2",
           w.labelled(10000, 8, 8, 10, w.around(10, .5, 2, .3, .3, 0, .5)), train=.5, part=.25),
    logits("logit-wide", "report", "300 x 60 x 200, two classes, 20 features matter",
           w.labelled(300, 60, 30, 200, w.few_logits(200, 20, .7, .2)), train=2 / 3, part=.25),
    Set("classes-many", "report", "2,000 x 10 x 8, four classes, a mean", loss="softmax", outputs=4,
        make=w.classed(2000, 10, 10, 8, 4, .7, .3, .5), flags="--classes 4", scale=STANDARD,
        train=.5, part=.25),
    Set("classes-wide", "report", "200 x 60 x 100, three classes, a mean", loss="softmax",
        outputs=3, make=w.classed(200, 60, 30, 100, 3, .2, .1, .5), flags="--classes 3",
        scale=STANDARD, train=2 / 3, part=.25),
    Set("classes", "report", "100 x 30 x 20, five classes", loss="softmax", outputs=5,
        synth="classes --tasks 100 --features 20 --labels 5", flags="--classes 5",
        scale={"others": [-1, 1]}, part=.5),
]


class Place:
    """Where a set's rows are for one seed: the words of `billboard train` that name them."""

    def __init__(self, one, program, data, kept, scratch):
        self.one, self.program, self.data = one, program, data
        self.kept, self.scratch = kept, scratch

    def words(self, seed):
        """Makes what is missing. Generated files are the caller's to remove (self.scratch)."""
        one = self.one
        words = one.flags.split() + ["--loss", one.loss]
        if one.scale:
            words += ["--scale", self.ranges()]
        if one.synth:
            path = f"{self.scratch}/w.csv"
            subprocess.run([self.program, "synth", *one.synth.split(), "--seed", str(seed), "-o",
                            path], check=True, capture_output=True)
            return [path, "--test", f"{self.scratch}/w.test.csv", *words]
        words += ["--train-fraction", repr(one.train), "--split-seed", str(seed)]
        if not one.make:
            return [self.table(), *words]
        path = f"{self.scratch}/w.npy"
        w.write(path, one.make, random.Random(f"{one.name} {seed}"))
        return [path, "--task", "0", "--target", "1", *words]

    def ranges(self):
        path = f"{self.scratch}/ranges.json"
        with open(path, "w", encoding="ascii") as file:
            json.dump(self.one.scale, file)
        return path

    def there(self):
        if self.one.panel:
            return bool(panels.fetch(self.kept))
        return self.one.generated or os.path.exists(self.source())

    def source(self):
        of = {"chem97-lea": "chem97", "lsoa2-health": "lsoa2", "digits": "femnist105"}
        return f"{self.data}/{self.one.file or of[self.one.name]}"

    def table(self):
        """A plain file, kept: unpacking takes longer than reading."""
        one = self.one
        if one.file and not one.file.endswith(".gz"):
            return self.source()
        path = f"{self.kept}/{one.name}.csv"
        if not os.path.exists(path):
            fresh = f"{self.scratch}/{one.name}.csv"
            if one.panel:
                panels.write(panels.fetch(self.kept), one.panel, fresh)
            elif one.derive:
                one.derive(self.data, fresh)
            else:
                with gzip.open(self.source()) as packed, open(fresh, "wb") as plain:
                    plain.write(packed.read())
            os.replace(fresh, path)
        return path
