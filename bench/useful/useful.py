#!/usr/bin/env python3
"""Is what the program does by default worth having? One protocol, one table.

    bench/useful/useful.py [--billboard build/billboard] [--data ../shared/data]
                           [--method FLAGS] [--half tune|report|all] [--sets A,B,...]
                           [--epsilons E,...] [--seeds N] [--quick] [--jobs N]
                           [--no-ranges] [--baselines own|any] [--cache DIR]
                           [-o TABLES.md] [--csv ROWS.csv]

Trains on every set of sets.py (real ones under --data, worlds of worlds.py) at every epsilon
with seeds 1, 2, ... (half of the sets, `tune`) or 1001, 1002, ... (the other half, `report`), and
sets the figures on test rows beside what can be had without privacy (--compare stl): every task
alone with one penalty for all, which looks at all tasks' rows (alone), every task alone with a
penalty that its own rows choose (own; not of several classes), one model for all, a mixed model. A
seed is a new split of a real set's rows or a new world, and a new stream of noise (--seed, so the
same program gives the same table).

--method is how to learn, as the program's flags: `--method mp-prior', or `--method "fedprox
--rounds 12"'; by default no flag at all: what the program does by itself. --no-ranges tells
it nothing of columns, either. --quick is three seeds, three epsilons, and no set that takes long.

Runs are kept in the cache by what the program, sets.py and worlds.py are made of, so an
interrupted table goes on where it was. --baselines any takes those of other programs, too, if
there are any: for tuning. Needs Python 3 and nothing else.
"""
import argparse
import csv
import hashlib
import json
import math
import multiprocessing
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
from sets import Place, SETS  # noqa: E402

EPSILONS = (0.1, 0.5, 1, 3, 10)
QUICK = (0.5, 1, 3)
FIGURE = {"squared": ("nmse", "nMSE"), "logistic": ("auc", "AUC"), "softmax": ("accuracy",
                                                                           "accuracy")}
BASELINES = ("stl", "own", "pooled", "mixed")
SHOWN = ("alone", "own", "pooled", "mixed")
LIMIT = 900  # seconds a run may take
OPEN = 0  # in place of an epsilon: a method that exchanges everything in the clear


# -- what a figure means ---------------------------------------------------------------


def loses(loss, value, alone):
    """By how much worse than alone: relative for nMSE, differences for AUC and accuracy."""
    return value / alone - 1 if loss == "squared" else alone - value


def tolerated(loss, single):
    """A mean may lose 1 % (.003), a single run 5 % (.015)."""
    return (0.05 if single else 0.01) if loss == "squared" else (0.015 if single else 0.003)


def gdp(epsilon, delta):
    """mu of the Gaussian mechanism that is (epsilon, delta)."""
    phi = statistics.NormalDist().cdf

    def over(mu):
        tail = phi(-epsilon / mu - mu / 2)
        return phi(-epsilon / mu + mu / 2) - (math.exp(epsilon) * tail if tail else 0.0) > delta

    low, high = 1e-6, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if over(middle) else (middle, high)
    return low


def gate(tasks, features, outputs, epsilon):
    """m mu / (2 sqrt p): at 2 a centre of length 1 has twice its noise's length."""
    mu = gdp(epsilon, min(1e-5, 1 / (10 * tasks)))
    return tasks * mu / (2 * math.sqrt((features + 1) * outputs))


# -- runs ------------------------------------------------------------------------------


def digest(paths):
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(hashlib.sha256(file.read()).digest())
    return total.hexdigest()[:16]


def program_digest(program):
    """Of the program and of the library beside it."""
    folder = os.path.dirname(os.path.realpath(program))
    libraries = {os.path.realpath(os.path.join(place, name))
                 for place in (folder, os.path.join(folder, "../lib")) if os.path.isdir(place)
                 for name in os.listdir(place) if name.startswith("libbillboard.so")}
    return digest([program, *sorted(libraries)])


def noise_seed(name, seed, epsilon):
    text = f"{name} {seed} {epsilon:g}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def train(program, words, scratch):
    """The JSON of a run, or {"error": why}."""
    command = [program, "train", *words, "--threads", "1", "--json", "--force", "-o",
               f"{scratch}/run"]
    begun = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT,
                              env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
    except subprocess.TimeoutExpired:
        return {"error": f"more than {LIMIT} seconds"}
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr else "?"}
    return dict(json.loads(done.stdout), wall=time.monotonic() - begun)


def kept_of(found, figure, epsilon):
    """What the cache keeps of a run."""
    if "error" in found:
        return {"error": found["error"]}
    test = found["test"]
    kept = {"value": test[figure], "log_loss": test["log_loss"], "seconds": found["wall"],
            "note": found["note"], "tasks": found["tasks"], "features": found["features"]}
    if epsilon is None:
        compare = found["compare"]
        for key, what in (("baselines", figure), ("log_losses", "log_loss")):
            kept[key] = {name: compare[name]["test"][what]
                         for name in BASELINES if compare.get(name)}
    return kept


def work(job):
    """All runs of one set and seed: [(epsilon, what is kept)]; epsilon None: the baselines."""
    number, seed, epsilons, arguments = job
    one = SETS[number]
    figure = FIGURE[one.loss][0]
    results = []
    with tempfile.TemporaryDirectory(dir=arguments.cache, prefix="work-") as scratch:
        place = Place(one, arguments.billboard, arguments.data, arguments.cache, scratch)
        words = place.words(seed)
        for epsilon in epsilons:
            if epsilon is None:
                more = ["--method", "stl", "--compare", "stl"]
            elif epsilon == OPEN:
                more = arguments.method
            else:
                more = [*arguments.method, "--epsilon", f"{epsilon:g}", "--seed",
                        str(noise_seed(one.name, seed, epsilon))]
            found = train(arguments.billboard, words + more, scratch)
            results.append((epsilon, kept_of(found, figure, epsilon)))
    return number, seed, results


class Cache:
    """Lines of JSON, [key, what is kept]; a failure is not kept."""

    def __init__(self, arguments):
        self.path = os.path.join(arguments.cache, "runs.jsonl")
        self.program = program_digest(arguments.billboard)
        self.protocol = digest([f"{HERE}/{name}.py" for name in
                                ("sets", "worlds", "panels", "rdata")])
        self.protocol += ", no ranges" if arguments.no_ranges else ""
        self.method = shlex.join(arguments.method)
        self.any = arguments.baselines == "any"
        self.known, self.latest = {}, {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                for line in file:
                    self.remember(*json.loads(line))

    def remember(self, key, value):
        self.known[tuple(key)] = value
        if key[4] is None:
            self.latest[tuple(key[1:4])] = value

    def key(self, name, seed, epsilon):
        method = "" if epsilon is None else self.method
        return (self.program, self.protocol, name, seed, epsilon, method)

    def get(self, name, seed, epsilon):
        found = self.known.get(self.key(name, seed, epsilon))
        if found is None and epsilon is None and self.any:
            found = self.latest.get((self.protocol, name, seed))
        return found

    def put(self, name, seed, epsilon, value):
        key = self.key(name, seed, epsilon)
        self.remember(key, value)
        if "error" not in value:
            with open(self.path, "a", encoding="utf-8") as file:
                print(json.dumps([key, value]), file=file)


def seeds_of(one, count):
    first = 1 if one.half == "tune" else 1001
    return range(first, first + max(min(count, 2), round(count * one.part)))


def make(arguments, cache, chosen):
    jobs = []
    for number in chosen:
        one = SETS[number]
        for seed in seeds_of(one, arguments.seeds):
            missing = [e for e in (None, *arguments.epsilons)
                       if cache.get(one.name, seed, e) is None]
            if missing:
                jobs.append((number, seed, missing, arguments))
    with multiprocessing.Pool(arguments.jobs) as pool:
        for done, (number, seed, results) in enumerate(pool.imap_unordered(work, jobs)):
            for epsilon, value in results:
                cache.put(SETS[number].name, seed, epsilon, value)
            if sys.stderr.isatty():
                print(f"\r{done + 1} of {len(jobs)}: {SETS[number].name} {seed}",
                      end="\x1b[K", file=sys.stderr, flush=True)
    if jobs and sys.stderr.isatty():
        print(file=sys.stderr)


# -- tables ----------------------------------------------------------------------------


def mean(values):
    return statistics.fmean(values) if values else math.nan


def spread(values):
    return statistics.stdev(values) if len(values) > 1 else math.nan


def log_loss(values):
    """Their mean; of numbers, which have none, NaN."""
    return math.nan if None in values else mean(values)


def summary(one, cache, arguments, epsilon):
    """One row of the long table; where a run failed, with nothing but why."""
    loss, runs = one.loss, []
    baselines = {name: [] for name in BASELINES}
    log_losses = {name: [] for name in BASELINES}
    for seed in seeds_of(one, arguments.seeds):
        run, base = cache.get(one.name, seed, epsilon), cache.get(one.name, seed, None)
        for found in (run, base):
            if "error" in found:
                return {"set": one.name, "epsilon": epsilon, "error": found["error"]}
        runs.append(run)
        for name, value in base["baselines"].items():
            baselines[name].append(value)
            log_losses[name].append(base.get("log_losses", {}).get(name))
    alone = baselines["stl"]
    own = baselines["own"] or alone
    figures = [run["value"] for run in runs]
    over = [loses(loss, v, a) for v, a in zip(figures, alone)]
    over_own = [loses(loss, v, a) for v, a in zip(figures, own)]
    worst = max(range(len(over)), key=over.__getitem__)
    best = (min if loss == "squared" else max)(mean(v) for v in baselines.values() if v)
    gain = abs(mean(alone) - best)
    reached = math.nan
    if gain > tolerated(loss, False) * (best if loss == "squared" else 1):
        reached = (mean(figures) - mean(alone)) / (best - mean(alone))
    return {"set": one.name, "half": one.half, "loss": loss, "epsilon": epsilon,
            "seeds": len(runs), "tasks": runs[0]["tasks"], "features": runs[0]["features"],
            **{("alone" if n == "stl" else n): mean(v) for n, v in baselines.items()},
            "mean": mean(figures), "spread": spread(figures), "worst": figures[worst],
            "worst_alone": alone[worst],
            "lost": loses(loss, mean(figures), mean(alone)),
            "mean_is_worse": loses(loss, mean(figures), mean(alone)) > tolerated(loss, False),
            "runs_worse": sum(o > tolerated(loss, True) for o in over) / len(over),
            "mean_is_worse_than_own":
                loses(loss, mean(figures), mean(own)) > tolerated(loss, False),
            "runs_worse_than_own":
                sum(o > tolerated(loss, True) for o in over_own) / len(over_own),
            "gain_reached": reached,
            "log_loss": log_loss([run.get("log_loss") for run in runs]),
            **{"log_loss_" + ("alone" if n == "stl" else n): log_loss(v)
               for n, v in log_losses.items()},
            "gate": gate(runs[0]["tasks"], runs[0]["features"], one.outputs, epsilon),
            "noted": sum(run["note"] is not None for run in runs) / len(runs),
            "seconds": statistics.median(run["seconds"] for run in runs)}


def short(value, digits=3):
    if value is None or math.isnan(value):
        return "–"
    text = f"{value:.{digits}f}" if abs(value) < 100 else f"{value:.3g}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def cell(row):
    if "error" in row:
        return "–"
    mark = " **!**" if row["mean_is_worse"] else ""
    mark = " **!!**" if row["mean_is_worse_than_own"] else mark
    return f"{short(row['mean'])} ± {short(row['spread'])}{mark}"


def trouble(row):
    if "error" in row:
        return "–"
    share = f"{100 * row['runs_worse']:.0f} %" if row["runs_worse"] else "0"
    return f"{short(row['worst'])} ({short(row['worst_alone'])}), {share}"


def reach(row):
    if "error" in row:
        return "–"
    share = "–" if math.isnan(row["gain_reached"]) else f"{100 * row['gain_reached']:.0f} %"
    return share if row["gate"] >= 2 else f"({share})"


def line(words):
    return "| " + " | ".join(words) + " |\n"


def tables(rows, arguments):
    """Markdown. rows: {set: [a row for each epsilon]}."""
    epsilons = [f"ε = {e:g}" for e in arguments.epsilons]
    everything = [row for r in rows.values() for row in r]
    rows = {s: r for s, r in rows.items() if any("error" not in row for row in r)}
    text = ""
    for loss, (_, name) in FIGURE.items():
        some = {s: r for s, r in rows.items() if next(o for o in SETS if o.name == s).loss == loss}
        if not some:
            continue
        text += f"**{name}**: mean ± deviation over seeds; **!**: worse than alone by more than "
        text += "1 %" if loss == "squared" else ".003"
        text += ", **!!**: than own, too\n\n" + line(["set", *SHOWN, *epsilons])
        text += line(["---"] * (1 + len(SHOWN) + len(epsilons)))
        for s, r in some.items():
            good = next((row for row in r if "error" not in row), {})
            text += line([s, *(short(good.get(b, math.nan)) for b in SHOWN), *map(cell, r)])
        text += "\n"
        if loss != "squared":
            text += log_losses(some, epsilons)
    text += "**Share of the gain** from alone to the best without privacy; in brackets where "
    text += "m·μ/(2√p) < 2\n\n" + line(["set", *epsilons]) + line(["---"] * (1 + len(epsilons)))
    text += "".join(line([s, *map(reach, r)]) for s, r in rows.items())
    text += "\n**The worst run** (alone on the same rows), and the share of runs worse than alone "
    text += "by more than 5 % (.015 of AUC, accuracy)\n\n"
    text += line(["set", *epsilons]) + line(["---"] * (1 + len(epsilons)))
    text += "".join(line([s, *map(trouble, r)]) for s, r in rows.items())
    return text + "\n" + conclusions(everything)


def log_losses(rows, epsilons):
    """What probabilities are worth: less is better."""
    text = "**Log loss** (means)\n\n" + line(["set", *SHOWN, *epsilons])
    text += line(["---"] * (1 + len(SHOWN) + len(epsilons)))
    for s, r in rows.items():
        good = next((row for row in r if "error" not in row), {})
        text += line([s, *(short(good.get("log_loss_" + b, math.nan)) for b in SHOWN),
                      *(short(row.get("log_loss", math.nan)) for row in r)])
    return text + "\n"


def conclusions(rows):
    good = [row for row in rows if "error" not in row]
    failed = {}
    for row in rows:
        if "error" in row:
            failed.setdefault(row["error"], {})[row["set"]] = True
    runs = sum(row["seeds"] for row in good)
    text = ""
    for name, key in (("alone", ""), ("own", "_than_own")):
        bad = sum(row["seeds"] * row["runs_worse" + key] for row in good)
        worse = [f"{row['set']} at {row['epsilon']:g}" for row in good
                 if row["mean_is_worse" + key]]
        text += f"- Cells whose mean is worse than {name}: {len(worse)} of {len(good)}"
        text += f" ({', '.join(worse)})\n" if worse else "\n"
        text += f"- Single runs worse than {name} by more than 5 %: {bad:.0f} of {runs}"
        text += f" ({100 * bad / runs:.1f} %)\n" if runs else "\n"
    for epsilon, wanted in ((1, 50), (3, 85)):
        open_ = [row for row in good if row["epsilon"] == epsilon and row["gate"] >= 2
                 and not math.isnan(row["gain_reached"])]
        less = [f"{row['set']} {100 * row['gain_reached']:.0f}" for row in open_
                if row["gain_reached"] < wanted / 100]
        text += f"- At ε = {epsilon}, where m·μ/(2√p) ≥ 2, {len(open_) - len(less)} of "
        text += f"{len(open_)} sets reach {wanted} % of the gain"
        text += f"; less: {', '.join(less)}\n" if less else "\n"
    if good:
        slow = max(good, key=lambda row: row["seconds"])
        text += f"- Slowest: {slow['set']}, {slow['seconds']:.2f} s a run\n"
    return text + "".join(f"- Failed: {', '.join(names)}: {why}\n"
                          for why, names in failed.items())


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--billboard", default=f"{HERE}/../../build/billboard")
    parser.add_argument("--data", default=f"{HERE}/../../../shared/data")
    parser.add_argument("--method", default="", help="flags; the first word is a method")
    parser.add_argument("--half", choices=("tune", "report", "all"), default="all")
    parser.add_argument("--sets", default="")
    parser.add_argument("--epsilons", default="")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--no-ranges", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--baselines", choices=("own", "any"), default="own")
    parser.add_argument("--cache", default=f"{HERE}/../../build/useful")
    parser.add_argument("--output", "-o", default="")
    parser.add_argument("--csv", default="")
    arguments = parser.parse_args()
    arguments.method = shlex.split(f"--method {arguments.method}" if arguments.method else "")
    arguments.seeds = arguments.seeds or (3 if arguments.quick else 20)
    arguments.epsilons = tuple(float(e) for e in arguments.epsilons.split(",") if e) or (
        QUICK if arguments.quick else EPSILONS)
    for name in ("billboard", "data", "cache"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    os.makedirs(arguments.cache, exist_ok=True)
    return arguments


def choose(arguments):
    names = [name for name in arguments.sets.split(",") if name]
    unknown = set(names) - {one.name for one in SETS}
    if unknown:
        sys.exit(f"useful.py: no such set: {', '.join(sorted(unknown))}")
    chosen = []
    for number, one in enumerate(SETS):
        if names and one.name not in names or arguments.half not in ("all", one.half):
            continue
        if arguments.quick and one.part < 1 and not names:
            continue
        if Place(one, "", arguments.data, arguments.cache, "").there():
            chosen.append(number)
        else:
            print(f"useful.py: {one.name} is left out: no data", file=sys.stderr)
    return chosen


def main():
    arguments = parse()
    if arguments.no_ranges:
        SETS[:] = [replace(one, scale={}) for one in SETS]
    chosen = choose(arguments)
    cache = Cache(arguments)
    make(arguments, cache, chosen)
    rows = {SETS[number].name: [summary(SETS[number], cache, arguments, e)
                                for e in arguments.epsilons] for number in chosen}
    text = tables(rows, arguments)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
    if arguments.csv:
        flat = [row for r in rows.values() for row in r]
        names = list(max(flat, key=len))
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, [*names, "error"], lineterminator="\n")
            table.writeheader()
            table.writerows(flat)


if __name__ == "__main__":
    main()
