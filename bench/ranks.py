#!/usr/bin/env python3
"""Two ranks of MPI against one, one thread each: the same whole run in turn, PAIRS times. And
what two ranks could reach on this machine: two processes at once that know nothing of each other,
with half of the tasks each.

    bench/ranks.py build/billboard [PAIRS [TASKS ROWS FEATURES [FLAG...]]]

Makes a population in a temporary folder (10,000 tasks of 99 rows, 100 features: a CSV file of
2 GB), and prints the medians of seconds, of the ratios within a turn, and of the memory of the
largest rank. FLAGs in place of `--method fedprox --rounds 20 --epsilon 1`. The models of every
pair are compared."""
import itertools, json, os, statistics, subprocess, sys, tempfile, time

MEASURES = sys.argv[1] == "--measure"
if not MEASURES:
    PROGRAM = os.path.abspath(sys.argv[1])
    PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    TASKS, ROWS, FEATURES = sys.argv[3:6] if len(sys.argv) > 5 else ("10000", "100", "100")
    FLAGS = sys.argv[6:] or "--method fedprox --rounds 20 --epsilon 1".split()
MPIRUN = "mpirun -q --oversubscribe --bind-to none -n 2".split()


def begin(folder, data, out, launcher=()):
    command = [PROGRAM, "train", os.path.join(folder, data), *FLAGS, "--seed", "1",
               "--threads", "1", "--force", "--output", out]
    measure = [sys.executable, os.path.abspath(__file__), "--measure", out, *command]
    return subprocess.Popen([*launcher, *measure], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def figures(out, ranks, wall):
    with open(os.path.join(out, "operator", "run.json")) as f:
        report = json.load(f)
    sizes = []
    for rank in range(ranks):
        with open(f"{out}.memory{rank}") as f:
            sizes.append(float(f.read()))
    seconds = report["seconds"]
    return (seconds["read"], seconds["solve"], seconds["total"], wall, max(sizes),
            report["models_sha256"])


def run(folder, ranks):
    out = os.path.join(folder, f"run{ranks}")
    start = time.monotonic()
    process = begin(folder, "data.csv", out, MPIRUN if ranks == 2 else ())
    assert process.wait() == 0
    return figures(out, ranks, time.monotonic() - start)


def run_halves(folder):
    outs = [os.path.join(folder, f"half{k}") for k in (1, 2)]
    start = time.monotonic()
    for process in [begin(folder, os.path.basename(out) + ".csv", out) for out in outs]:
        assert process.wait() == 0
    wall = time.monotonic() - start
    both = [figures(out, 1, wall) for out in outs]
    return (*(max(one, other) for one, other in zip(both[0][:-1], both[1][:-1])), "")


def cut(folder):
    """The file's first half of the tasks, and the other: all tasks have as many rows."""
    with open(os.path.join(folder, "data.csv"), "rb") as f:
        header, lines = f.readline(), sum(1 for _ in f)
        f.seek(len(header))
        first = lines // int(TASKS) * (int(TASKS) // 2)
        for k, count in ((1, first), (2, lines - first)):
            with open(os.path.join(folder, f"half{k}.csv"), "wb") as out:
                out.write(header)
                out.writelines(itertools.islice(f, count))


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
        cut(folder)
        turns = []
        for _ in range(PAIRS):
            turn = run(folder, 1), run(folder, 2), run_halves(folder)
            assert turn[0][-1] == turn[1][-1], "the models differ"
            turns.append(turn)
            print("  one rank %.2f s, two %.2f s, two halves apart %.2f s" % (
                turn[0][3], turn[1][3], turn[2][3]), flush=True)
    print("medians of %d turns:        one rank   two ranks   ratio   halves apart   ratio" % PAIRS)
    for name, k in (("reading, s", 0), ("training, s", 1), ("all of it, s", 2),
                    ("with starting, s", 3), ("memory of a rank, GB", 4)):
        one, two, apart = ([t[s][k] for t in turns] for s in (0, 1, 2))
        ratio, most = (statistics.median(a / b for a, b in zip(one, other))
                       for other in (two, apart))
        print("%-24s %10.2f %11.2f %7.2f %14.2f %7.2f" % (
            name, statistics.median(one), statistics.median(two), ratio,
            statistics.median(apart), most))


measure() if MEASURES else main()
