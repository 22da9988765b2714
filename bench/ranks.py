#!/usr/bin/env python3
"""Two ranks of MPI against one, one thread each: the same whole run in turn, PAIRS times.

    bench/ranks.py build/billboard [PAIRS [TASKS ROWS FEATURES [FLAG...]]]

Makes a population in a temporary folder (10,000 tasks of 99 rows, 100 features: 2 GB), and prints
the medians of seconds, of the ratios within a pair, and of the memory of the largest rank. FLAGs
in place of `--method fedprox --rounds 20 --epsilon 1`. Every pair's models are compared."""
import json, os, statistics, subprocess, sys, tempfile

MEASURES = sys.argv[1] == "--measure"
if not MEASURES:
    PROGRAM = os.path.abspath(sys.argv[1])
    PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    TASKS, ROWS, FEATURES = sys.argv[3:6] if len(sys.argv) > 5 else ("10000", "100", "100")
    FLAGS = sys.argv[6:] or "--method fedprox --rounds 20 --epsilon 1".split()
MPIRUN = "mpirun -q --oversubscribe --bind-to none -n 2".split()


def run(folder, ranks):
    out = os.path.join(folder, f"run{ranks}")
    command = [PROGRAM, "train", os.path.join(folder, "data.csv"), *FLAGS, "--seed", "1",
               "--threads", "1", "--force", "--output", out]
    measure = [sys.executable, os.path.abspath(__file__), "--measure", out, *command]
    subprocess.run((MPIRUN if ranks == 2 else []) + measure, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(os.path.join(out, "operator", "run.json")) as f:
        report = json.load(f)
    sizes = []
    for rank in range(ranks):
        with open(f"{out}.memory{rank}") as f:
            sizes.append(float(f.read()))
    seconds = report["seconds"]
    return seconds["read"], seconds["solve"], seconds["total"], max(sizes), report["models_sha256"]


def measure():
    """Runs a command, and writes the most memory that it had, in GB."""
    import resource
    code = subprocess.run(sys.argv[3:]).returncode
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    with open(f"{sys.argv[2]}.memory{os.environ.get('OMPI_COMM_WORLD_RANK', '0')}", "w") as f:
        f.write(str(most))
    sys.exit(code)


def main():
    with tempfile.TemporaryDirectory() as folder:
        # its test rows, nine times as many as it has training rows
        subprocess.run([PROGRAM, "synth", "low-rank", "--tasks", TASKS, "--features", FEATURES,
                        "--samples", str(round(int(ROWS) / 9)),
                        "--output", os.path.join(folder, "world.csv")], check=True)
        os.rename(os.path.join(folder, "world.test.csv"), os.path.join(folder, "data.csv"))
        pairs = []
        for _ in range(PAIRS):
            pair = run(folder, 1), run(folder, 2)
            assert pair[0][4] == pair[1][4], "the models differ"
            pairs.append(pair)
            print("  one rank %.2f s, two %.2f s" % (pair[0][2], pair[1][2]), flush=True)
    print("medians of %d pairs:        one rank   two ranks   ratio" % PAIRS)
    for name, k in (("reading, s", 0), ("training, s", 1), ("all of it, s", 2),
                    ("memory of a rank, GB", 3)):
        one, two = ([p[s][k] for p in pairs] for s in (0, 1))
        ratio = statistics.median(a / b for a, b in zip(one, two))
        print("%-24s %10.2f %11.2f %7.2f" % (name, statistics.median(one),
                                              statistics.median(two), ratio))


measure() if MEASURES else main()
