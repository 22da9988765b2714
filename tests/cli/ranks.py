"""Runs the program alone and as ranks of MPI: the same run directories, to the byte; and
whatever goes wrong on one rank ends all of them, with one message and nothing half-written.

    ranks.py BILLBOARD SOURCE_DIR MPIRUN ARGUMENT...
"""
import concurrent.futures, contextlib, gzip, json, os, random, shlex, signal, struct, subprocess
import sys, tempfile, time, zipfile

BILLBOARD, SOURCE = sys.argv[1:3]
MPIRUN = sys.argv[3:-2]  # without -n 1
TASKS, ROWS, FEATURES = 30, 8, 4
LIMIT = 200  # seconds; only a rank that hangs takes so long
SESSIONS = tempfile.TemporaryDirectory()


def ranks(count, *arguments):
    """With a folder for the session alone: Open MPI's own is one for all of a user's, which
    one mpirun may remove while another makes it."""
    session = tempfile.mkdtemp(dir=SESSIONS.name)
    return [*MPIRUN, "--mca", "orte_tmpdir_base", session, "-n", str(count), *arguments]


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    return done.returncode, done.stdout, done.stderr


def at_once(function, cases):
    """function(k, *case) for every case, a few at a time: mpirun mostly waits."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(function, k, *case) for k, case in enumerate(cases)]:
            done.result()


def files_of(folder):
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


def without_clock(text):
    """run.json but for seconds, and the name of the directory itself."""
    run = json.loads(text)
    del run["seconds"], run["options"]["output"]
    return run


def check_same(case, one, other):
    a, b = files_of(one), files_of(other)
    assert a.keys() == b.keys(), (case, sorted(a), sorted(b))
    for name in a:
        same = a[name] == b[name]
        if name == "operator/run.json":
            same = without_clock(a[name]) == without_clock(b[name])
        assert same, f"{case}: {name} differs"


# -- populations --


def rows(target, seed=1, tasks=TASKS, times=1):
    """Task, features and target of every row; tasks of different sizes, rows shuffled."""
    draw = random.Random(seed)
    found = []
    for i in range(tasks):
        w = [1.0 + draw.gauss(0, 0.3) for _ in range(FEATURES)]
        for _ in range(times * ROWS + i % 5):
            x = [draw.uniform(-0.5, 0.5) for _ in range(FEATURES)]
            z = sum(a * b for a, b in zip(x, w)) + draw.gauss(0, 0.1)
            found.append((f"t{i}", x, target(z)))
    draw.shuffle(found)
    return found


def write_csv(path, table, task=str, more=lambda k: "", ends="\n", header=None):
    names = "task," + ",".join(f"x{k}" for k in range(FEATURES))
    text = header or names + ("," + more(None) if more(None) else "") + ",y"
    text += ends
    for name, x, y in table:
        text += task(name) + "," + ",".join(f"{v:.5f}" for v in x)
        text += ("," + more(name) if more(None) else "") + f",{y}{ends}"
    with open(path, "w", newline="") as f:
        f.write(text)


def write_libsvm(path, table, target):
    with open(path, "w") as f:
        for name, x, y in table:
            entries = " ".join(f"{k + 1}:{v:.5f}" for k, v in enumerate(x) if v > -0.2)
            f.write(f"{target(y)} qid:{name[1:]} {entries}\n")


def npy(shape, numbers, order="<f8"):
    """The bytes of a NumPy array."""
    header = f"{{'descr': '{order}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(numbers)}{order[1] == 'f' and 'd' or 'q'}", *numbers))


def write_npz(path, table, packed=False):
    arrays = {"X": npy((len(table), FEATURES), [v for _, x, _ in table for v in x]),
              "y": npy((len(table),), [float(y) for _, _, y in table]),
              "task": npy((len(table),), [int(t[1:]) for t, _, _ in table], "<i8")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as z:
        for name, bytes_ in arrays.items():
            z.writestr(name + ".npy", bytes_)


def make_files():
    number = lambda z: f"{z:.5f}"
    label = lambda z: int(z > 0)
    classes = lambda z: min(2, max(0, int(z + 1.2)))
    write_csv("squared.csv", rows(number))
    write_csv("labels.csv", rows(label))
    write_csv("classes.csv", rows(classes))
    # names in quotes, with separators and quotes inside, but no line ends
    write_csv("quoted.csv", rows(number), lambda name: f'"{name}, a ""task"""', ends="\r\n")
    # and with: such a file is read by rank 0
    write_csv("lines.csv", rows(number), lambda name: f'"{name}\nx"')
    write_csv("missing.csv", [(t, x, y if k % 7 else "NA")
                              for k, (t, x, y) in enumerate(rows(number))])
    group = lambda name: "group" if name is None else str(int(name[1:]) % 3)
    write_csv("groups.csv", rows(number), more=group)
    write_csv("test.csv", rows(number, seed=2, tasks=TASKS - 3))
    write_csv("slow.csv", rows(number, times=100))
    write_csv("few.csv", rows(number, tasks=2))
    write_npz("squared.npz", rows(number))
    write_npz("packed.npz", rows(number), packed=True)
    with open("squared.npy", "wb") as f:
        f.write(npy((len(rows(number)), FEATURES + 2),
                    [float(v) for t, x, y in rows(number) for v in (t[1:], y, *x)]))
    write_libsvm("labels.libsvm", rows(lambda z: sorted({classes(z), classes(-z)})),
                 lambda y: ",".join(map(str, y)))
    with open("squared.csv", "rb") as f, gzip.open("packed.csv.gz", "wb") as g:
        g.write(f.read())
    write_libsvm("sparse.libsvm", rows(number), str)
    for name, options in (("squared.csv", []), ("sparse.libsvm", ["--features", str(FEATURES)])):
        done = call([BILLBOARD, "convert", name, *options, "-o", name.split(".")[0] + ".bb"])
        assert done[0] == 0, done


NOISE = ["--epsilon", "2", "--seed", "5"]
OPEN = ["--mechanism", "none"]
SPLIT = ["--train-fraction", "0.7"]

CASES = [
    ("linear", 4, "squared.csv", "--method mp-prior".split() + NOISE + SPLIT),
    ("the default", 3, "squared.csv", NOISE + SPLIT),
    ("the default for labels", 2, "labels.csv", ["--loss", "logistic"] + NOISE + SPLIT),
    ("classes by label", 2, "labels.csv",
     "--method ppsgd --loss logistic --rounds 4".split() + NOISE + SPLIT),
    ("softmax", 3, "classes.csv", "--method fedprox --loss softmax --classes 3 --rounds 3".split()
     + NOISE + SPLIT),
    ("classes counted", 2, "classes.csv", "--method fedprox --loss softmax --rounds 3".split()
     + OPEN + SPLIT),
    ("lists of labels, sparse", 3, "labels.libsvm",
     "--method pmtl --loss multilabel --rounds 3".split() + OPEN + SPLIT),
    ("z-scores", 4, "squared.csv", "--method mtl-trace --standardize task".split() + SPLIT),
    ("baselines", 2, "squared.csv", "--method mp-prior --compare stl,no-privacy".split()
     + NOISE + SPLIT),
    ("baselines in own units", 2, "squared.csv",
     "--method mp-prior --standardize magnitude --compare stl,no-privacy".split() + NOISE + SPLIT),
    ("quotes", 3, "quoted.csv", "--method fedprox --rounds 3".split() + NOISE + SPLIT),
    ("lines in quotes", 2, "lines.csv", "--method fedprox --rounds 3".split() + NOISE + SPLIT),
    ("missing values", 3, "missing.csv",
     "--method fedprox --rounds 3 --missing drop-rows".split() + NOISE + SPLIT),
    ("compressed", 2, "packed.csv.gz", "--method fedprox --rounds 3".split() + NOISE + SPLIT),
    ("arrays", 3, "squared.npz", "--method fedprox --rounds 3".split() + NOISE + SPLIT),
    ("packed arrays", 2, "packed.npz", "--method fedprox --rounds 3".split() + NOISE + SPLIT),
    ("a table of numbers", 4, "squared.npy",
     "--method fedprox --rounds 3 --task 0 --target 1".split() + NOISE + SPLIT),
    ("own files", 2, "squared.bb", "--method fedprox --rounds 3".split() + NOISE + SPLIT),
    ("own files, little memory", 3, "squared.bb",
     "--method mp-prior --standardize task --memory 64".split() + NOISE + SPLIT),
    ("own sparse files, little memory", 2, "sparse.bb",
     "--method fedprox --rounds 3 --standardize unit-rows --memory 64".split() + NOISE + SPLIT),
    ("groups", 3, "groups.csv", "--method pmtl-clusters --cluster group --rounds 3".split() + OPEN + SPLIT),
    ("groups that are public", 2, "groups.csv",
     "--method pmtl-clusters --cluster group --clusters 3 --rounds 3".split() + NOISE + SPLIT),
    ("test rows in a file", 4, "squared.csv",
     "--method fedprox --rounds 3 --test test.csv".split() + NOISE),
    ("more ranks than tasks", 4, "few.csv", "--method fedprox --rounds 3".split() + NOISE),
    ("alone", 3, "squared.csv", "--method stl".split() + SPLIT),
    ("phases", 2, "squared.csv", "--method fedprox --rounds 3 --finetune mean,penalty=0.3".split()
     + NOISE + SPLIT),
    ("a sample of tasks", 3, "squared.csv",
     "--method fedprox --rounds 3 --sampling poisson:0.4".split() + NOISE + SPLIT),
]


def check_same_run(k, case, count, data, options):
    command = [BILLBOARD, "train", data, *options, "--threads", "1", "--output"]
    alone = call([*command, f"one{k}"])
    together = call(ranks(count, *command, f"many{k}"))
    assert alone[0] == together[0] == 0, (case, alone, together)
    assert alone[2] == together[2], (case, alone[2], together[2])
    check_same(case, f"one{k}", f"many{k}")


# -- what goes wrong --


def left(output):
    """The run directory itself, and what is beside it while it is made."""
    return [name for name in os.listdir(".") if name.split(".")[0] == output]


def check_error(k, case, count, data, *options):
    """The same message and exit code as one process, once, and nothing left behind."""
    output = f"bad{k}"
    command = [BILLBOARD, "train", data, "--method", "fedprox", *OPEN, "--output", output, *options]
    alone, together = call(command), call(ranks(count, *command))
    assert alone[0] != 0 and alone[1] == together[1] == "", (case, alone, together)
    assert together[0] == alone[0], (case, alone, together)
    assert together[2] == alone[2], (case, alone, together)
    assert not left(output), (case, left(output))


def spoilt_files():
    """Files with bad rows in one rank's part, or in several: the first one is said."""
    with open("squared.csv") as f:
        lines = f.read().split("\n")
    middle, end = len(lines) // 2, len(lines) - 20
    for k, which in enumerate([(end,), (middle, end), (1,), (3, end)]):
        spoilt = list(lines)
        for line in which:
            spoilt[line] = spoilt[line].replace(",0.", ",zero.").replace(",-0.", ",zero.")
        with open(f"spoilt{k}.csv", "w") as f:
            f.write("\n".join(spoilt))
        yield f"spoilt{k}.csv"


def errors():
    table = rows(lambda z: f"{z:.5f}")
    table[-3] = (*table[-3][:2], "nan")
    write_npz("spoilt.npz", table)
    with open("mixed.csv", "w") as f:  # 0 and 1 in one part of the file, -1 and 1 in another
        f.write("task,x,y\n" + "".join(f"t{k % 5},1,{k % 2}\n" for k in range(40))
                + "".join(f"t{k % 5},1,{k % 2 * 2 - 1}\n" for k in range(60)))
    return [
        *[("rows", 3, name, "--mechanism", "gaussian", *NOISE) for name in spoilt_files()],
        ("not a number", 3, "spoilt.npz"),
        ("no array", 3, "squared.npz", "--target", "z"),
        ("no file", 3, "nowhere.csv"),
        ("no method", 3, "squared.csv", "--method", "none-such"),
        ("no number", 3, "squared.csv", "--epsilon", "many"),
        ("no option", 3, "squared.csv", "--no-such-option"),
        ("no column", 3, "squared.csv", "--target", "z"),
        ("unknown task", 3, "few.csv", "--test", "test.csv"),
        ("no labels", 3, "squared.csv", "--loss", "logistic"),
        ("exists", 3, "squared.csv", "--output", "one0"),
        ("mixed labels", 2, "mixed.csv", "--loss", "logistic"),
    ]


def check_missing_on_one_rank():
    script = ('if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then cd elsewhere; fi; '
              f'exec "{BILLBOARD}" train squared.csv --method fedprox --mechanism none --output gone')
    os.mkdir("elsewhere")
    code, out, err = call(ranks(3, "sh", "-c", script))
    assert code == 1 and out == "" and not left("gone"), (code, out, err)
    assert err == "billboard: rank 1: squared.csv: No such file or directory\n", err


def rank_of(process):
    with contextlib.suppress(OSError):
        with open(f"/proc/{process}/environ", "rb") as f:
            for setting in f.read().split(b"\0"):
                if setting.startswith(b"OMPI_COMM_WORLD_RANK="):
                    return int(setting.split(b"=")[1])
    return None


def children_of(process):
    found = []
    with contextlib.suppress(OSError):
        with open(f"/proc/{process}/task/{process}/children") as f:
            for child in f.read().split():
                found += [int(child)] + children_of(child)
    return found


def states(ledger):
    return [charge["state"] for charge in
            json.loads(call([BILLBOARD, "ledger", ledger, "--json"])[1] or "{}").get("entries", [])]


def check_signal(k, case, rank, number, expected):
    """A run that takes longer than anybody waits, and is ended once it has paid."""
    output, ledger = f"ended{k}", f"ended{k}-ledger.db"
    command = [BILLBOARD, "train", "slow.csv", "--method", "fedprox", "--rounds", "200000",
               "--epsilon", "1", "--ledger", ledger, "--population", "p",
               "--budget-epsilon", "50", "--budget-delta", "1e-3", "--output", output]
    job = subprocess.Popen(ranks(3, *command), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    while not os.path.exists(ledger) or not states(ledger):
        assert job.poll() is None, job.communicate()
        time.sleep(0.2)
    processes = {rank_of(p): p for p in children_of(job.pid)}
    os.kill(job.pid if rank is None else processes[rank], number)
    out, err = job.communicate(timeout=LIMIT)
    assert job.returncode in expected, (case, job.returncode, err)
    lost = number == signal.SIGKILL
    # who is killed cannot tidy up
    assert out == "" and (left(output) == [] or (lost and rank == 0)), (case, out, left(output))
    assert not os.path.exists(output), case
    said = [line for line in err.splitlines()
            if line.startswith("billboard: ") and "warning" not in line]
    assert len(said) == 1, (case, err)
    assert (f"rank {rank} was lost" in said[0]) == lost, (case, err)
    assert f"ledger {ledger} keeps the charge" in said[0], (case, err)
    assert ("nothing was written" in said[0]) == (not lost or rank != 0), (case, err)
    # mpirun may end a moment before its ranks do
    ended = time.monotonic() + 10
    while states(ledger) != ["died"] and time.monotonic() < ended:
        time.sleep(0.1)
    assert states(ledger) == ["died"], (case, states(ledger))


SIGNALS = [
    ("a rank is killed", 1, signal.SIGKILL, [137]),
    ("a rank is interrupted", 2, signal.SIGINT, [130]),
    ("rank 0 is told to end", 0, signal.SIGTERM, [130]),
    ("rank 0 is killed", 0, signal.SIGKILL, [137]),
    ("mpirun is interrupted", None, signal.SIGINT, [1, 130]),
]


# -- runs that go on --


KEPT = "--method pmtl --rounds 300 --threads 1".split() + NOISE + SPLIT + ["--output"]


def check_checkpoint(k, rank, number):
    """Killed or told to end on any rank, and gone on with by as many: the bytes of a run that
    nobody touched. Fewer ranks are refused, and change nothing."""
    kept, out = f"kept{k}.ckpt", f"again{k}"
    job = subprocess.Popen(
        ranks(3, BILLBOARD, "train", "slow.csv", *KEPT, out, "--checkpoint", kept,
              "--checkpoint-every", "0"),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    releases = kept + ".billboard"
    while not os.path.exists(releases) or os.path.getsize(releases) < 500:
        assert job.poll() is None, job.communicate()
        time.sleep(0.02)
    processes = {rank_of(p): p for p in children_of(job.pid)}
    os.kill(processes[rank], number)
    err = job.communicate(timeout=LIMIT)[1]
    assert job.returncode == (137 if number == signal.SIGKILL else 130), err
    assert kept in err, (rank, number, err)
    assert os.path.exists(kept) and not os.path.exists(out), err
    code, _, err = call([BILLBOARD, "train", "--resume", kept])
    assert code == 2 and "is of a run in 3 processes" in err, (code, err)
    code, _, err = call(ranks(3, BILLBOARD, "train", "--resume", kept))
    assert code == 0, err
    a, b = files_of("whole"), files_of(out)
    assert a.keys() == b.keys()
    for name in a:
        assert a[name] == b[name] or name == "operator/run.json", (rank, name)
    assert not [name for name in os.listdir(".") if name.startswith(kept)]


def check_checkpoints():
    assert call([BILLBOARD, "train", "slow.csv", *KEPT, "whole"])[0] == 0
    at_once(check_checkpoint,
            [(1, signal.SIGKILL), (2, signal.SIGTERM), (0, signal.SIGKILL)])


# -- the page --


def block_of(page, begin):
    """The indented block of a page that begins with this line."""
    lines = page.split("\n")
    at = next(k for k, line in enumerate(lines) if line == "    " + begin)
    found = []
    while lines[at].startswith("    ") or not lines[at]:
        found.append(lines[at][4:])
        at += 1
    return "\n".join(found)


def check_page():
    """What docs/scaling.md says to type; as `srun`, mpirun with fewer ranks."""
    with open(f"{SOURCE}/docs/scaling.md", encoding="utf-8") as f:
        page = f.read()
    header = "school,score," + ",".join(f"x{k}" for k in range(FEATURES))
    with open("squared.csv") as f:
        table = [line.rstrip("\n").split(",") for line in f][1:]
    with open("pupils.csv", "w") as f:
        f.write(header + "\n")
        f.writelines(",".join([r[0], r[-1], *r[1:-1]]) + "\n" for r in table)
    os.mkdir("bin")
    for name, text in [
        ("billboard", f'exec "{BILLBOARD}" "$@"'),
        ("mpirun", f'shift 3; exec {shlex.join(ranks(2))} "$@"'),
        ("srun", f'echo "$1 $2" >> srun.log; shift 2; exec {shlex.join(ranks(3))} "$@"'),
        ("scontrol", 'echo "$@" >> scontrol.log'),
    ]:
        with open(f"bin/{name}", "w") as f:
            f.write(f"#!/bin/sh\n{text}\n")
        os.chmod(f"bin/{name}", 0o755)
    environment = {**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"],
                   "SLURM_JOB_ID": "7"}
    def sh(text, **more):
        return subprocess.Popen(["sh", "-c", text], env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, **more)
    typed = sh(block_of(page, next(line.strip() for line in page.split("\n")
                                   if line.startswith("    mpirun "))))
    err = typed.communicate(timeout=LIMIT)[1]
    assert typed.returncode == 0 and os.path.isdir("run"), err
    os.rename("run", "run.mpirun")
    script = block_of(page, "#!/bin/sh")
    # a run that is told to end asks to be started again, and goes on then
    job = sh(script.replace("--epsilon 1", "--epsilon 1 --rounds 12000"), start_new_session=True)
    while not os.path.exists("pupils.ckpt"):
        assert job.poll() is None, job.communicate()
        time.sleep(0.05)
    time.sleep(0.2)
    for process in children_of(job.pid):
        if rank_of(process) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
    err = job.communicate(timeout=LIMIT)[1]
    assert job.returncode == 130 and not os.path.exists("run"), (job.returncode, err)
    with open("scontrol.log") as f:
        assert f.read() == "requeue 7\n"
    job = sh(script)
    err = job.communicate(timeout=LIMIT)[1]
    assert job.returncode == 0 and os.path.isdir("run"), err
    assert not os.path.exists("pupils.ckpt")
    with open("run/operator/run.json") as f:
        assert json.load(f)["options"]["rounds"] == 12000


def main():
    if not MPIRUN:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_files()
        at_once(check_same_run, CASES)
        at_once(check_error, errors())
        check_missing_on_one_rank()
        at_once(check_signal, SIGNALS)
        check_checkpoints()
        check_page()
        os.chdir("/")


main()
