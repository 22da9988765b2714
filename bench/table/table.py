#!/usr/bin/env python3
"""The table of docs/benchmarks.md: Billboard beside what a user would write with NumPy, pandas,
scikit-learn and polars, in turn, in one run.

    bench/table/table.py BUILD [--only WORD[,WORD...]] [--repeats N] [--data FOLDER] [-o FILE]

Every ratio is the median over N pairs of runs that follow each other, with the least and the most
in brackets. Times are those of processors, user and system, with one thread, which other work on
the machine changes least; where it says so, those on the clock. Floor: the least that we know how
to measure for such work, and theirs by it: a program that reads, prepares and writes the same and
learns nothing; an iteration's arithmetic alone; a product of all rows a round. The peers have a
virtual environment of their own, BUILD/bench-venv, and the same kernels of OpenBLAS as ours;
worlds are made up once, in BUILD/bench-data. --data FOLDER has school/data.csv and
emails15/data.libsvm.gz for the lines that need them. Needs 3 GB there, 4 GB of memory, and an
hour."""

import argparse
import concurrent.futures
import importlib.metadata
import json
import math
import multiprocessing
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["numpy", "pandas", "scikit-learn", "polars"]
PRIVACY = ["--epsilon", "1", "--standardize", "task"]


# -- the environment, and what is measured of a process --

def enter_environment(build):
    """Goes on in BUILD/bench-venv, which is made where there is none."""
    place = os.path.join(os.path.abspath(build), "bench-venv")
    python = os.path.join(place, "bin", "python")
    if not os.path.exists(os.path.join(place, "ready")):
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([os.path.join(HERE, "../../scripts/venv-install"), place, *PACKAGES],
                       check=True)
        open(os.path.join(place, "ready"), "w").close()
    if os.path.abspath(sys.prefix) != place:
        os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])


def core_of(build):
    """The kernels that our OpenBLAS takes, for the peers' to take them, too."""
    done = subprocess.run([f"{build}/bench/bench_round", "2x2x2", "1", "10", "1"], check=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return re.search(r"(\S+) kernels", done.stderr).group(1)


class Spent:
    def __init__(self, wall, processor, memory, output):
        self.wall, self.processor, self.memory, self.output = wall, processor, memory, output


def run(command, threads=1):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads),
                   "OMP_NUM_THREADS": str(threads), "POLARS_MAX_THREADS": str(threads)}
    if command[0] == sys.executable:
        environment["OPENBLAS_CORETYPE"] = run.core
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, env=environment, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        out.seek(0)
        err.seek(0)
        if status:
            sys.exit(f"{' '.join(command)} failed:\n{err.read().decode()[-2000:]}")
        return Spent(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                     out.read().decode())


def train(bench, data, method, *more, threads=1, folder=None):
    folder = folder or bench.run
    shutil.rmtree(folder, ignore_errors=True)
    return run([f"{bench.build}/billboard", "train", data, "-o", folder, "--method", method,
                "--threads", str(threads), *PRIVACY, *more], threads)


def peer(*words):
    return run([sys.executable, os.path.join(HERE, words[0]), *map(str, words[1:])])


# -- figures --

def three(values, form="{:.1f}"):
    values = sorted(values)
    return (f"{form.format(statistics.median(values))} "
            f"({form.format(values[0])}–{form.format(values[-1])})")


def seconds(values):
    middle = statistics.median(values)
    if middle < 1e-3:
        return f"{1e6 * middle:.0f} µs"
    return f"{1e3 * middle:.3g} ms" if middle < 1 else f"{middle:.3g} s"


class Bench:
    def __init__(self, arguments):
        self.build, self.repeats = os.path.abspath(arguments.build), arguments.repeats
        self.only = arguments.only.split(",") if arguments.only else None
        self.shared = arguments.data
        self.data = os.path.join(self.build, "bench-data")
        self.run = os.path.join(self.data, "run")
        self.rows = []
        os.makedirs(self.data, exist_ok=True)

    def asks(self, name):
        return not self.only or any(word in name for word in self.only)

    def line(self, *cells):
        self.rows.append(cells)
        print("| " + " | ".join(cells) + " |", flush=True)

    def row(self, work, against, ours, theirs, ratios, target, floor, more):
        met = "" if target is None else ("yes" if statistics.median(ratios) >= target else "**no**")
        goal = "" if target is None else f"{target:g}"
        least = f"{seconds(floor)}, {statistics.median(theirs) / statistics.median(floor):.1f}" \
            if floor else ""
        self.line(work, against, seconds(ours), seconds(theirs), three(ratios), goal, met, least,
                  more)

    def pairs(self, work, against, ours, theirs, target, value=lambda s: s.processor, more=None,
              floor=None, repeats=None):
        """Ours and theirs in turn. floor: from our runs, the least seconds for such work."""
        if not self.asks(work):
            return
        first, second = [], []
        for k in range(repeats or self.repeats):
            both = [(first, ours), (second, theirs)]
            for seen, job in both if k % 2 == 0 else reversed(both):
                seen.append(job())
        a, b = [value(s) for s in first], [value(s) for s in second]
        self.row(work, against, a, b, [y / x for x, y in zip(a, b)], target,
                 floor(first) if floor else [], more(first, second) if more else "")


def memory(first, second):
    a, b = (statistics.median(s.memory for s in seen) for seen in (first, second))
    return f"{a:.0f} MB, {a / b:.2f} of the peer's"


# -- worlds --

def made(path, make, *arguments, **more):
    """The file, made by another process: what is started from a large one counts its memory."""
    if not os.path.exists(path):
        with concurrent.futures.ProcessPoolExecutor(
                1, mp_context=multiprocessing.get_context("spawn")) as pool:
            pool.submit(make, path, *arguments, **more).result()
    return path


def population(bench, tasks, rows, features, labels=False):
    kind = "classes" if labels else "numbers"
    return made(os.path.join(bench.data, f"{kind}-{tasks}x{rows}x{features}.csv"),
                make_population, tasks, rows, features, labels)


def make_population(path, tasks, rows, features, labels):
    """Tasks around one centre, a CSV file."""
    import numpy as np
    import pandas as pd
    rng = np.random.default_rng(1)
    centre = rng.standard_normal(features) / np.sqrt(features)
    step = max(1, min(tasks, 2_000_000 // (rows * features)))
    with open(path + ".part", "w") as file:
        for first in range(0, tasks, step):
            m = min(step, tasks - first)
            X = rng.standard_normal((m, rows, features)).round(6)
            w = centre + 0.3 * rng.standard_normal((m, features)) / np.sqrt(features)
            y = np.einsum("mnd,md->mn", X, w) + 0.5 * rng.standard_normal((m, rows))
            if labels:
                y = (y > 0).astype(int)
                y[:, 0], y[:, 1] = 0, 1
            table = pd.DataFrame(X.reshape(-1, features),
                                 columns=[f"x{k}" for k in range(features)])
            table.insert(0, "y", y.ravel().round(6))
            table.insert(0, "task", np.repeat([f"t{i}" for i in range(first, first + m)], rows))
            table.to_csv(file, index=False, header=first == 0)
    os.rename(path + ".part", path)


def world(bench, name, *arguments, **more):
    return made(os.path.join(bench.data, name), make_world, *arguments, **more)


def make_world(path, tasks, rows, features, rank, sparse=False, shared=False):
    """Tasks whose models have this rank, or so many features; as bench_solve reads it."""
    import numpy as np
    rng = np.random.default_rng(1)
    if sparse:
        W = rng.standard_normal((tasks, features)) * (np.arange(features) < rank)
    else:
        W = rng.standard_normal((tasks, rank)) @ rng.standard_normal((rank, features))
        W /= np.sqrt(features)
    X = rng.standard_normal((1 if shared else tasks, rows, features))
    y = (X @ W[:, :, None])[:, :, 0] + 0.5 * rng.standard_normal((tasks, rows))
    with open(path + ".part", "wb") as file:
        np.array([tasks, rows, features], np.uint64).tofile(file)
        np.ascontiguousarray(np.broadcast_to(X, (tasks, rows, features))).tofile(file)
        y.tofile(file)
    os.rename(path + ".part", path)


def shared_file(bench, *words):
    """None where it is not there."""
    path = os.path.join(bench.shared, *words) if bench.shared else ""
    return path if os.path.exists(path) else None


# -- the lines --

# tasks of 20 rows and 20 features, methods, the aim
PROGRAMS = ((100_000, ("mp-mixed", "mp-prior", "fedprox"), 4), (10_000, ("mp-centre", "pmtl"), 5))
# a made-up world: its name, bench_round's word for it, rounds, the aim
ITERATIONS = (("320 × 30 × 30", "320x30x30", 1000, 4),
              ("10,000 × 100 × 100", "10000x100x100", 100, 3),
              ("1,000 × 1,000 × 200", "1000x1000x200", 100, 2))
# norm, tasks, rows, features, lambda, rank or features that matter, the aim
OPTIMA = (("trace", 100, 50, 2000, 300, 5, 2), ("trace", 2000, 50, 200, 300, 5, 5),
          ("l21", 2000, 50, 200, 300, 20, 5))


def rows_of(bench, tasks, rows, features, method):
    return population(bench, tasks, rows, features, labels=method == "mp-centre")


def program(bench, tasks, rows, features, method, threads=1, folder=None):
    loss = ["--loss", "logistic"] if method == "mp-centre" else []
    return train(bench, rows_of(bench, tasks, rows, features, method), method, *loss,
                 threads=threads, folder=folder)


def world_of(bench, norm, m, n, d, rank):
    return world(bench, f"{norm}-{m}x{n}x{d}.raw", m, n, d, rank, sparse=norm == "l21")


def nothing_learned(bench, data, method):
    """Rows read and prepared, one step of one round, models written."""
    loss = ["--loss", "logistic"] if method == "mp-centre" else []
    return train(bench, data, "fedavg", "--rounds", "1", "--batch", "1", "--finetune", "none",
                 "--set", "steps=1", "--set", "clip=1", "--set", "guard=off", *loss)


def said(word, unit=1.0):
    """What our bench programs print at this place of their line."""
    return lambda spent: unit * float(spent.output.split()[word])


def whole_programs(bench):
    for tasks, methods, target in PROGRAMS:
        for method in methods:
            work = f"{tasks:,} × 20 × 20, `{method}`, whole program"
            if not bench.asks(work):
                continue
            data = rows_of(bench, tasks, 20, 20, method)
            program(bench, tasks, 20, 20, method)
            with open(os.path.join(bench.run, "public", "billboard.json")) as file:
                rounds = len(json.load(file)["releases"])
            least = [nothing_learned(bench, data, method) for _ in range(bench.repeats)]
            kept = statistics.median(s.memory for s in least)
            bench.pairs(work, "NumPy, pandas",
                        lambda: program(bench, tasks, 20, 20, method),
                        lambda: peer("peers.py", method, data, rounds), target,
                        more=lambda a, b: f"{memory(a, b)}; {kept:.0f} MB learn nothing",
                        floor=lambda _: [s.processor for s in least])


def iterations(bench):
    """Of MP-MTL, by processor time; bench_round and round.py leave reading out."""
    school = shared_file(bench, "school", "data.csv")
    chem = os.path.join(HERE, "..", "..", "examples", "schools", "chem97.csv")
    for name, what, rounds, target in (("School", school, 1000, 3), *ITERATIONS,
                                       ("chem97, 2,410 tasks × 5 features", chem, 1000, None)):
        if what:
            bench.pairs(f"MP-MTL iteration, {name}", "NumPy",
                        lambda: run([f"{bench.build}/bench/bench_round", what, "1", str(rounds),
                                     "1"]),
                        lambda: peer("../round.py", what, max(50, rounds // 4), 1), target,
                        value=said(1, 1e-6),
                        floor=lambda seen: list(map(said(2, 1e-6), seen)))


def reading(bench):
    name = "CSV, 413 MB, two threads, on the clock"
    data = population(bench, 100_000, 20, 20) if bench.asks(name) else None
    code = {"pandas": "import sys, time, pandas as p; s = time.perf_counter(); "
                      "p.read_csv(sys.argv[1]); print(0, time.perf_counter() - s)",
            "polars": "import sys, time, polars as p; s = time.perf_counter(); "
                      "p.read_csv(sys.argv[1]); print(0, time.perf_counter() - s)"}
    def used(ours, _):
        of, least = (statistics.median(map(said(k), ours)) for k in (2, 3))
        return f"{of:.2f} s of processors, of which the kernel's {least:.2f} are the floor"

    for reader, target in (("pandas", 4), ("polars", 2)):
        bench.pairs(name, f"{reader}, two threads",
                    lambda: run([f"{bench.build}/bench/bench_read", data, "2"], 2),
                    lambda: run([sys.executable, "-c", code[reader], data], 2), target,
                    value=said(1), more=used)


def optima(bench):
    for norm, m, n, d, lam, rank, target in OPTIMA:
        name = f"`mtl-{norm}`, {m:,} × {n} × {d:,}, certified to 1e-6"
        if not bench.asks(name):
            continue
        data = world_of(bench, norm, m, n, d, rank)
        ours = [f"{bench.build}/bench/bench_solve", data, norm, str(lam)]
        optimum = run(ours).output.split()[3]
        bench.pairs(name, "NumPy, FISTA", lambda: run(ours),
                    lambda: peer("solvers.py", data, norm, lam, optimum), target,
                    value=said(0), floor=lambda seen: list(map(said(5), seen)), repeats=3)
    name = "`mtl-l21`, 2,000 × 100 × 200, rows shared"
    if bench.asks(name):
        data = world(bench, "l21-shared.raw", 2000, 100, 200, 20, sparse=True, shared=True)
        bench.pairs(name, "MultiTaskLasso",
                    lambda: run([f"{bench.build}/bench/bench_solve", data, "l21", "300"]),
                    lambda: peer("solvers.py", data, "lasso", 300), 5,
                    value=said(0), floor=lambda seen: list(map(said(5), seen)), repeats=3)


LOOP = """import sys, pandas as p, warnings
from sklearn.linear_model import LogisticRegression
warnings.simplefilter("ignore")
t = p.read_csv(sys.argv[1])
for _, g in t.groupby("task"):
    LogisticRegression(C=1.0).fit(g.drop(columns=["task", "y"]).to_numpy(), g["y"].to_numpy())"""


def wide(bench):
    name = "`mp-centre`, 100 × 100 × 784, whole program"
    if bench.asks(name):
        data = rows_of(bench, 100, 100, 784, "mp-centre")
        bench.pairs(name, "scikit-learn, one fit a task",
                    lambda: program(bench, 100, 100, 784, "mp-centre"),
                    lambda: run([sys.executable, "-c", LOOP, data]), 2, more=memory)
    name = "`mp-centre`, emails15, 152,543 sparse columns"
    data = shared_file(bench, "emails15", "data.libsvm.gz")
    if data and bench.asks(name):
        shutil.rmtree(bench.run, ignore_errors=True)
        seen = run([f"{bench.build}/billboard", "train", data, "-o", bench.run, "--features",
                    "152543", "--loss", "logistic", "--method", "mp-centre", "--epsilon", "1",
                    "--standardize", "unit-rows", "--threads", "1"])
        met = "yes" if seen.memory < 1000 else "**no**"
        bench.line(name, "–", seconds([seen.processor]), "", "", "< 1 GB", met, "",
                   f"{seen.memory:.0f} MB")


def threads(bench):
    """Two in place of one, on the clock, which is what other work on the machine changes; and
    what two of the same program with one thread each do at once, which have nothing in common
    but the machine."""
    def at_once(job):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda k: job(1, f"{bench.run}-{k}"), range(2)))

    def line(work, job, value, repeats=None):
        def more(_, alone):
            if repeats:
                return ""
            both = [value(s) for _ in range(bench.repeats) for s in at_once(job)]
            most = 2 * statistics.median(map(value, alone)) / statistics.median(both)
            return f"two programs at once {most:.1f}"

        bench.pairs(f"{work}, two threads, on the clock", "one thread", lambda: job(2),
                    lambda: job(1), 1.85, value=value, more=more, repeats=repeats)

    def whole(tasks, rows, features, method):
        line(f"{tasks:,} × {rows} × {features}, `{method}`",
             lambda n, folder=None: program(bench, tasks, rows, features, method, n, folder),
             lambda s: s.wall)

    for tasks, methods, _ in PROGRAMS:
        for method in methods:
            whole(tasks, 20, 20, method)
    whole(100, 100, 784, "mp-centre")
    whole(16, 3000, 60, "mp-centre")  # few tasks with much to do each
    for k, (name, size, rounds, _) in enumerate(ITERATIONS):  # later ones take a minute to open
        line(f"MP-MTL iteration, {name}",
             lambda n, _=None: run([f"{bench.build}/bench/bench_round", size, str(n),
                                    str(rounds), "1"]),
             said(0, 1e-6), repeats=2 if k else None)
    line("CSV, 413 MB", lambda n, _=None: run([f"{bench.build}/bench/bench_read",
                                               population(bench, 100_000, 20, 20), str(n)]),
         said(1))
    for norm, m, n, d, lam, rank, _ in OPTIMA:
        line(f"`mtl-{norm}`, {m:,} × {n} × {d:,}",
             lambda k, _=None: run([f"{bench.build}/bench/bench_solve",
                                    world_of(bench, norm, m, n, d, rank), norm, str(lam),
                                    str(k)]), said(1))


def grow(bench, name, sizes, once):
    """Processor seconds beyond those of a tenth of the size: the slope of logarithms."""
    if not bench.asks(name):
        return
    seen = []
    for size in sizes:
        runs = [once(size) for _ in range(3 if size < 10**6 else 1)]
        seen.append((statistics.median(s.processor for s in runs),
                     statistics.median(s.memory for s in runs)))
    slopes = [math.log10(b[0] / a[0]) for a, b in zip(seen, seen[1:])]
    memories = ", ".join(f"{s[1]:.0f}" for s in seen)
    bench.line(name, "–", ", ".join(seconds([s[0]]) for s in seen), "",
               "slopes " + ", ".join(f"{s:.2f}" for s in slopes), "≤ 1.05",
               "yes" if max(slopes) <= 1.05 else "**no**", "", f"{memories} MB")


def growth(bench):
    grow(bench, "growth from 10³ to 10⁶ tasks of 5 × 5, `mp-mixed`",
         [1000, 10_000, 100_000, 1_000_000],
         lambda tasks: train(bench, population(bench, tasks, 5, 5), "mp-mixed"))
    grow(bench, "growth from 10 to 10⁴ rows of each of 1,000 tasks, 5 features, `mp-mixed`",
         [10, 100, 1000, 10_000],
         lambda rows: train(bench, population(bench, 1000, rows, 5), "mp-mixed"))
    grow(bench, "growth from 10 to 10³ rounds, 10,000 × 20 × 5, `fedavg`",
         [10, 100, 1000],
         lambda rounds: train(bench, population(bench, 10_000, 20, 5), "fedavg",
                              "--rounds", str(rounds)))


# -- the page --

def machine(bench):
    version_of = importlib.metadata.version
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read()).group(1)
    version = run([f"{bench.build}/billboard", "--version"]).output.split("\n")[0]
    return (f"{version}; {os.cpu_count()} cores, {model}, {platform.libc_ver()[0]} "
            f"{platform.libc_ver()[1]}, kernels of OpenBLAS: {run.core}; Python "
            f"{platform.python_version()}, NumPy {version_of('numpy')}, pandas "
            f"{version_of('pandas')}, scikit-learn {version_of('scikit-learn')}, polars "
            f"{version_of('polars')}; load "
            f"{' '.join(f'{x:.1f}' for x in os.getloadavg())}; "
            f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC; {bench.repeats} pairs")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", help="lines that have one of these words, between commas")
    parser.add_argument("--repeats", type=int, default=5, help="pairs of runs")
    parser.add_argument("--data", help="folder of School and emails15")
    parser.add_argument("-o", "--output", help="the table as Markdown")
    arguments = parser.parse_args()
    enter_environment(arguments.build)
    bench = Bench(arguments)
    run.core = core_of(bench.build)
    start = machine(bench)
    print(start)
    head = "| work | against | ours | theirs | theirs / ours | aim | met | floor | memory |"
    rule = "|---" * 9 + "|"
    print(head + "\n" + rule, flush=True)
    for part in (whole_programs, iterations, reading, optima, wide, threads, growth):
        part(bench)
    end = f"Load at the end {' '.join(f'{x:.1f}' for x in os.getloadavg())}."
    print(end)
    if arguments.output:
        with open(arguments.output, "w") as file:
            file.write("\n".join([start, "", head, rule,
                                  *("| " + " | ".join(row) + " |" for row in bench.rows), "", end, ""]))


if __name__ == "__main__":
    main()
