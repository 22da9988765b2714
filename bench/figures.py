#!/usr/bin/env python3
"""The tables of figures in docs/methods, measured with the program itself.

    bench/figures.py [--billboard build/billboard] [--data ../shared/data] [--seeds 100-109]
                     [TABLE...]

Tables: low-rank group-sparse school chem97 adjacency other published tuning. Without a name,
all but the last. Needs Python 3 and nothing else; one process at a time, one thread: about
fifteen minutes for everything with ten seeds, one to four minutes a table, five for the tuning.

A cell is the mean over the seeds of the pooled nMSE on held-out rows, and its standard error. A
seed is a new synthetic world, or a new split of a data set; the noise comes from the system's
secure generator, so a second run gives other figures. `low-rank`, `group-sparse`, `published`
and `tuning` make their data with `billboard synth`, `chem97` is in examples/schools, and the
others are read from --data: school/data.csv, bank_conjoint/data.csv, landmine/data.csv (CSV,
columns task, y, x1...); without them the table is left out.

Rows named "best of" try penalties and show the one that is best on the held-out rows: a favour to
the methods that are not private. The published algorithms get one, too: options found by random
search for each epsilon on other worlds (`tuning` repeats the search), which a private run
would have to pay for.
"""
import argparse
import json
import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EPSILONS = (0.1, 0.5, 1, 3, 10)
EARLIER = "--set combine=geometric --set vote=false --set odds=100"
PENALTIES = [f"{10 ** (e / 2):.3g}" for e in range(-10, 1)]
TRACE = [f"{10 ** (e / 4):.3g}" for e in range(-8, 5)]


def tuned(penalty, clip, rounds, step, momentum):
    return (f"--set lambda={penalty} --set clip={clip} --rounds {rounds} --set step={step}"
            f" --set momentum={momentum}")


# What `tuning` found; with Wishart noise and epsilon .5 or more, what a second search of 22
# settings around the best ones found.
TUNED = {
    ("low-rank", "gaussian"): {
        0.1: tuned(0.82, 80, 40, 7, "nesterov"),
        0.5: tuned(0.44, 120, 40, 15, "nesterov"),
        1: tuned(0.96, 120, 80, 3, "nesterov"),
        3: tuned(0.3, 120, 80, 15, "nesterov"),
        10: tuned(0.42, 60, 160, 1, "nesterov"),
    },
    ("low-rank", "wishart-published"): {
        0.1: tuned(0.34, 80, 40, 7, "none"),
        0.5: tuned(0.18, 69, 87, 19, "nesterov"),
        1: tuned(0.16, 69, 93, 16, "nesterov"),
        3: tuned(0.34, 60, 40, 7, "nesterov"),
        10: tuned(0.27, 66, 45, 7.2, "nesterov"),
    },
    ("group-sparse", "gaussian"): {
        0.1: tuned(0.042, 120, 40, 3, "nesterov"),
        0.5: tuned(0.15, 120, 40, 15, "nesterov"),
        1: tuned(0.32, 120, 80, 15, "none"),
        3: tuned(0.27, 120, 40, 15, "nesterov"),
        10: tuned(0.16, 80, 160, 7, "nesterov"),
    },
}


class Program:
    """Runs `billboard` in a folder of its own."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")

    def call(self, *words):
        done = subprocess.run([self.path, *words], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"figures.py: {shlex.join(done.args)}: {done.stderr.strip()}")
        return done.stdout

    def nmse(self, data, flags):
        words = shlex.split(f"{data} {flags}")
        out = self.call("train", *words, "--threads", "1", "--json", "--force", "-o", "run")
        return json.loads(out)["test"]["nmse"]


class Synthetic:
    """Worlds of `billboard synth`, one a seed, made when first needed."""

    def __init__(self, program, kind, tasks=320, samples=30, features=30,
                 flags="--standardize none --no-intercept"):
        self.program, self.flags = program, flags
        self.make = f"{kind} --tasks {tasks} --samples {samples} --features {features}"
        self.stem = f"{kind}-{tasks}-{samples}-{features}"

    def shown(self):
        return (f"billboard synth {self.make} --seed $S -o W.csv; "
                f"billboard train W.csv --test W.test.csv {self.flags}".rstrip())

    def words(self, seed, flags=None):
        name = f"{self.stem}-{seed}"
        if not os.path.exists(os.path.join(self.program.folder, f"{name}.test.csv")):
            self.program.call("synth", *self.make.split(), "--seed", str(seed),
                              "-o", f"{name}.csv")
        return f"{name}.csv --test {name}.test.csv {self.flags if flags is None else flags}"


class Drawn:
    """Worlds that `billboard synth` does not write: tasks of different sizes, rows of unit norm,
    noise of deviation 2, 60 test rows a task. `none`: 300 tasks, 10 features, 5 to 40 rows,
    models N(0, 100) each for itself. `mean`: 600 tasks, 12 features, 6 to 10 rows, models around
    a common one (N(0, 64)) with deviations of rank 2 (N(0, 25) times N(0, 1)) and N(0, 1)."""

    flags = "--standardize none --no-intercept"

    def __init__(self, program, kind):
        self.folder, self.kind = program.folder, kind

    def shown(self):
        return f"billboard train W.csv --test W.test.csv {self.flags}"

    def words(self, seed):
        name = os.path.join(self.folder, f"drawn-{self.kind}-{seed}")
        if not os.path.exists(f"{name}.test.csv"):
            self.draw(name, random.Random(f"{self.kind} {seed}"))
        return f"{name}.csv --test {name}.test.csv {self.flags}"

    def draw(self, name, source):
        normal = source.gauss
        tasks, d, least, most = (300, 10, 5, 40) if self.kind == "none" else (600, 12, 6, 10)
        mean, one, two = ([normal(0, 1) for _ in range(d)] for _ in range(3))
        with open(f"{name}.csv", "w", encoding="ascii") as train, \
                open(f"{name}.test.csv", "w", encoding="ascii") as test:
            for file in (train, test):
                file.write("task,y," + ",".join(f"x{k}" for k in range(d)) + "\n")
            for i in range(tasks):
                a, b = normal(0, 5), normal(0, 5)
                w = [10 * normal(0, 1) if self.kind == "none" else
                     8 * mean[k] + a * one[k] + b * two[k] + normal(0, 1) for k in range(d)]
                for file, n in ((train, source.randint(least, most)), (test, 60)):
                    for _ in range(n):
                        x = [normal(0, 1) for _ in range(d)]
                        norm = sum(v * v for v in x) ** 0.5
                        x = [v / norm for v in x]
                        y = sum(v * u for v, u in zip(x, w)) + normal(0, 2)
                        file.write(f"{i},{y!r}," + ",".join(map(repr, x)) + "\n")


class Split:
    """A data set of which 30 % of every task's rows train, drawn by the seed."""

    def __init__(self, name, path, flags):
        self.name, self.path, self.flags = name, os.path.abspath(path), flags

    def shown(self):
        flags = " ".join(os.path.basename(f) for f in self.flags.split())
        return f"billboard train {self.name} --train-fraction .3 --split-seed $S {flags}"

    def words(self, seed):
        path = shlex.quote(self.path)
        return f"{path} --train-fraction .3 --split-seed {seed} {self.flags}"


def alone(program, world):
    """The same rows with a column of ones, in which a task alone has what it has in mp-prior: a
    penalised intercept, not a free one."""
    name = os.path.basename(os.path.dirname(world.path)) + "-ones"
    with open(world.path, encoding="utf-8") as rows, \
            open(os.path.join(program.folder, f"{name}.csv"), "w", encoding="utf-8") as copy:
        copy.write(next(rows).rstrip() + ",one\n")
        copy.writelines(row.rstrip() + ",1\n" for row in rows)
    public = os.path.join(program.folder, world.flags.split()[1])
    with open(public, encoding="utf-8") as file:
        scale = json.load(file)
    scale["columns"]["one"] = 1
    with open(os.path.join(program.folder, f"{name}.json"), "w", encoding="utf-8") as file:
        json.dump(scale, file)
    return Split(name, os.path.join(program.folder, f"{name}.csv"),
                 f"--scale {name}.json --no-intercept")


def ranges(program, path):
    """The columns' ranges, looked up in the data: a simulation of public ones."""
    name = os.path.basename(os.path.dirname(path)) + "-ranges.json"
    program.call("info", os.path.abspath(path), "--ranges", "-o", name)
    return name


def cell(values):
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    mean = f"{statistics.mean(values):.4f}"[1 if statistics.mean(values) < 1 else 0:]
    return f"{mean} ± {f'{error:.4f}'[1:]}"


class Table:
    """Prints its rows as they come."""

    def __init__(self, program, seeds, title):
        self.program, self.seeds = program, seeds
        print(f"\n{title}\n\n| ε | " + " | ".join(f"{e:g}".lstrip("0") for e in EPSILONS) + " |")
        print("|---" * (1 + len(EPSILONS)) + "|", flush=True)

    def measure(self, world, flags):
        return [self.program.nmse(world.words(seed), flags) for seed in self.seeds]

    def private(self, label, world, flags, tuned=None):
        cells = []
        for e in EPSILONS:
            more = tuned[e] if tuned else ""
            cells.append(cell(self.measure(
                world, f"--epsilon {e:g} --delta paper {flags} {more}")))
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)

    def once(self, label, world, flags):
        print(f"| {label} | {cell(self.measure(world, flags))} |" + " |" * (len(EPSILONS) - 1),
              flush=True)

    def best(self, label, world, flags, penalties):
        tried = {p: self.measure(world, f"{flags} --set lambda={p}") for p in penalties}
        p = min(tried, key=lambda k: statistics.mean(tried[k]))
        print(f"| {label}, best of {len(penalties)}: λ = {p} | {cell(tried[p])} |"
              + " |" * (len(EPSILONS) - 1), flush=True)


def low_rank(program, arguments):
    world = Synthetic(program, "low-rank")
    table = Table(program, arguments.seeds, f"`{world.shown()}`")
    given = "--set lambda=5e-4"
    table.once(f"`stl {given}`", world, f"--method stl {given}")
    table.best("`mtl-trace`", world, "--method mtl-trace --set centre=zero", TRACE)
    table.once(f"`mp-prior {given} --mechanism none`", world,
               f"--method mp-prior {given} --mechanism none")
    for flags in (given, "", f"{given} {EARLIER}", EARLIER):
        table.private(f"`mp-prior {flags}`".replace(" `", "`"), world,
                      f"--method mp-prior {flags}")
    world.flags = ""
    table.private("`mp-prior`, and without `--no-intercept`", world, "--method mp-prior")


def group_sparse(program, arguments):
    world = Synthetic(program, "group-sparse")
    table = Table(program, arguments.seeds, f"`{world.shown()}`")
    given, pattern = "--set lambda=5e-4", "--set pattern=group-sparse"
    table.once(f"`stl {given}`", world, f"--method stl {given}")
    table.best("`mtl-l21`", world, "--method mtl-l21 --set centre=zero", TRACE)
    table.once(f"`mp-prior {pattern} {given} --mechanism none`", world,
               f"--method mp-prior {pattern} {given} --mechanism none")
    table.private(f"`mp-prior {pattern} {given}`", world, f"--method mp-prior {pattern} {given}")
    table.private(f"`mp-prior {pattern}`", world, f"--method mp-prior {pattern}")


def school(program, arguments):
    path = os.path.join(arguments.data, "school/data.csv")
    if not os.path.exists(path):
        return print(f"\nschool: no {path}")
    unit = Split("school.csv", path, "--standardize unit-rows")
    bare = Split("school.csv", path, "--standardize unit-rows --no-intercept")
    scaled = Split("school.csv", path, f"--scale {ranges(program, path)}")
    table = Table(program, arguments.seeds, f"`{unit.shown()}`")
    given = "--set lambda=3.16e-5"
    table.best("`stl`", unit, "--method stl", PENALTIES)
    table.once(f"`stl {given} --no-intercept`", bare, f"--method stl {given}")
    table.private(f"`mp-prior {given}`", unit, f"--method mp-prior {given}")
    table.private("`mp-prior`", unit, "--method mp-prior")
    table.private(f"`mp-prior {given} --no-intercept`", bare, f"--method mp-prior {given}")
    table.private("`mp-prior --no-intercept`", bare, "--method mp-prior")
    table = Table(program, arguments.seeds, f"`{scaled.shown()}`")
    table.best("`stl`", scaled, "--method stl", PENALTIES)
    table.best("`stl` with the constant penalised", alone(program, scaled), "--method stl",
               PENALTIES)
    table.best("`mtl-trace`", scaled, "--method mtl-trace --set centre=zero", TRACE)
    table.private("`mp-prior`", scaled, "--method mp-prior")


def schools_of_the_demo():
    folder = os.path.join(HERE, "../examples/schools")
    public = os.path.abspath(os.path.join(folder, "ranges.json"))
    return Split("examples/schools/chem97.csv", os.path.join(folder, "chem97.csv"),
                 f"--scale {public}")


def chem97(program, arguments):
    world = schools_of_the_demo()
    table = Table(program, arguments.seeds, f"`{world.shown()}`")
    table.best("`stl`", world, "--method stl", PENALTIES)
    table.best("`stl` with the constant penalised", alone(program, world), "--method stl",
               PENALTIES)
    table.best("`mtl-trace`", world, "--method mtl-trace --set centre=zero", TRACE)
    table.once("`mp-prior --mechanism none`", world, "--method mp-prior --mechanism none")
    table.private("`mp-prior`", world, "--method mp-prior")
    table.private(f"`mp-prior {EARLIER}`", world, f"--method mp-prior {EARLIER}")


def adjacency(program, arguments):
    table = Table(program, arguments.seeds, "`mp-prior --adjacency add-remove`")
    flags = "--method mp-prior --adjacency add-remove"
    table.private("low-rank, automatic λ", Synthetic(program, "low-rank"), flags)
    table.private("chem97, automatic λ", schools_of_the_demo(), flags)


def other(program, arguments):
    """Data and sizes that no constant of the recipe was chosen on."""
    worlds = []
    for kind in ("low-rank", "group-sparse"):
        for sizes in ((100, 15, 10), (1000, 10, 20)):
            worlds.append((f"{kind}, %d tasks, %d rows, %d features" % sizes,
                           Synthetic(program, kind, *sizes),
                           "--set pattern=group-sparse" if kind == "group-sparse" else ""))
    worlds.append(("nothing to share, 300 tasks of 5 to 40 rows, 10 features",
                   Drawn(program, "none"), ""))
    worlds.append(("a mean and rank 2, 600 tasks of 6 to 10 rows, 12 features",
                   Drawn(program, "mean"), ""))
    for name, how in (("landmine", "unit-rows"), ("bank_conjoint", "ranges")):
        path = os.path.join(arguments.data, name, "data.csv")
        if not os.path.exists(path):
            print(f"\n{name}: no {path}")
            continue
        flags = "--standardize unit-rows"
        if how == "ranges":
            flags = f"--scale {ranges(program, path)}"
        worlds.append((f"{name}, squared loss", Split(f"{name}.csv", path, flags), ""))
    for title, world, flags in worlds:
        table = Table(program, arguments.seeds, f"{title}: `{world.shown()}`")
        table.best("`stl`", world, "--method stl", PENALTIES)
        if "--scale" in world.flags:
            table.best("`stl` with the constant penalised", alone(program, world),
                       "--method stl", PENALTIES)
        table.once(f"`mp-prior {flags} --mechanism none`".replace("  ", " "), world,
                   f"--method mp-prior {flags} --mechanism none")
        table.private(f"`mp-prior {flags}`".replace(" `", "`"), world,
                      f"--method mp-prior {flags}")
        if isinstance(world, Drawn):
            table.private(f"`mp-prior {EARLIER}`", world, f"--method mp-prior {EARLIER}")
        if isinstance(world, Split):
            given = "--set lambda=0.1"
            table.private(f"`mp-prior {given}`", world, f"--method mp-prior {given}")


def published(program, arguments):
    for kind, method, mechanism in SEARCHED:
        world = Synthetic(program, kind)
        table = Table(program, arguments.seeds, f"`{world.shown()}`")
        broken = "" if mechanism == "gaussian" else \
            f" --mechanism {mechanism} --allow-broken-privacy"
        table.private(f"`{method}{broken} --set start-lambda=5e-4`, tuned", world,
                      f"--method {method}{broken} --set keep=own --set start-lambda=5e-4",
                      TUNED[kind, mechanism])


SEARCHED = (("low-rank", "mp-lowrank", "gaussian"),
            ("low-rank", "mp-lowrank", "wishart-published"),
            ("group-sparse", "mp-groupsparse", "gaussian"))


def tuning(program, arguments):
    """Random search: 60 settings on world 200, the best six again on 201 to 203."""
    del arguments
    draw = random.Random(5)
    for kind, method, mechanism in SEARCHED:
        world = Synthetic(program, kind)

        def score(flags, seeds):
            return statistics.mean(program.nmse(world.words(s), flags) for s in seeds)

        print(f"\n{kind}, {method}, {mechanism}")
        for e in EPSILONS:
            tried = []
            for _ in range(60):
                flags = (f"--set lambda={10 ** draw.uniform(-2, 1.5):.2g}"
                         f" --set clip={draw.choice((40, 60, 80, 120))}"
                         f" --rounds {draw.choice((1, 2, 5, 10, 20, 40, 80, 160))}"
                         f" --set step={draw.choice((1, 3, 7, 15))}"
                         f" --set momentum={draw.choice(('nesterov', 'nesterov', 'none'))}")
                fixed = (f"--method {method} --set keep=own --mechanism {mechanism} --allow-broken-privacy"
                         f" --epsilon {e:g} --delta paper --set start-lambda=5e-4")
                tried.append((score(f"{fixed} {flags}", (200,)), fixed, flags))
            best = min((score(f"{f} {g}", (201, 202, 203)), g) for _, f, g in sorted(tried)[:6])
            print(f"{e:g}: {best[0]:.4f} with {best[1]}", flush=True)


TABLES = {"low-rank": low_rank, "group-sparse": group_sparse, "school": school,
          "chem97": chem97, "adjacency": adjacency, "other": other, "published": published,
          "tuning": tuning}


def seed_range(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--billboard", default=os.path.join(HERE, "../build/billboard"))
    parser.add_argument("--data", default=os.path.join(HERE, "../../shared/data"))
    parser.add_argument("--seeds", type=seed_range, default=seed_range("100-109"))
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=" ".join(TABLES))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.tables if name not in TABLES]
    if unknown:
        parser.error(f"no table {unknown[0]}: there are {' '.join(TABLES)}")
    with tempfile.TemporaryDirectory() as folder:
        program = Program(os.path.abspath(arguments.billboard), folder)
        for name in arguments.tables or [t for t in TABLES if t != "tuning"]:
            TABLES[name](program, arguments)


if __name__ == "__main__":
    main()
