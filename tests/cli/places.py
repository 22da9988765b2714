"""Runs `billboard silo` and `billboard curator` as processes of their own: the same models and
billboard as in one process, over every carrier, and whoever is killed; and what ends badly ends
with one message.

    places.py BILLBOARD
"""
import contextlib, json, os, random, signal, socket, struct, subprocess, sys, tempfile, threading
import time

BILLBOARD = os.path.abspath(sys.argv[1])
SILOS = ["north", "south", "east"]
TASKS, FEATURES, LIMIT = 24, ["age", "dose"], 20
HELLO, SILO_AT = b"BBHI", 56


# -- a population, and what was agreed on --


def write(path, value):
    with open(path, "w") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))


def site_of(task):
    return SILOS[task % 3 if task % 5 else 1]


def make_world():
    draw = random.Random(7)
    rows = []
    for task in range(TASKS):
        for _ in range(6 + task % 3):
            age, dose = draw.uniform(-1, 1), draw.uniform(-1, 1)
            y = age + 0.3 * dose * (task % 4) + draw.gauss(0, 0.1)
            rows.append((task, f"ward{task},{age:.4f},{dose:.4f},{y:.4f}\n"))
    header = "ward,age,dose,y\n"
    write("all.csv", header + "".join(line for _, line in rows))
    for silo in SILOS:
        write(f"{silo}.csv", header + "".join(x for t, x in rows if site_of(t) == silo))


def plan(name="plan.json", fewest=None, **options):
    said = {"task": "ward", "method": "fedprox", "epsilon": 4, "rounds": 12, "seed": 3, **options}
    agreed = {"options": {name: value for name, value in said.items() if value is not None},
              "tasks": [f"ward{t}" for t in range(TASKS)], "features": FEATURES, "silos": SILOS}
    if fewest:
        agreed["fewest-silos"] = fewest
    write(name, agreed)
    write(f"of-{name}", agreed["options"])


def policy(name="policy.json", **more):
    write(name, {"most-epsilon": 4, "most-delta": 1e-5, "allow-open": True, **more})


# -- processes --


@contextlib.contextmanager
def folder():
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        make_world()
        plan()
        policy()
        os.mkdir("box")
        try:
            yield
        finally:
            os.chdir(before)


WAYS = {"socket": ["--socket", "run.sock"], "folder": ["--folder", "box"], "stdio": ["--stdio"]}


def line_of(who, way, plan="plan.json", policy="policy.json", more=()):
    kept = ["--checkpoint", f"{who}.state", "-o", f"out-{who}"]
    if who == "curator":
        return [BILLBOARD, "curator", "--plan", plan, *WAYS[way], *kept, *more]
    return [BILLBOARD, "silo", f"{who}.csv", "--plan", plan, "--name", who, "--policy", policy,
            *WAYS[way], *kept, *more]


def start(who, way, **other):
    pipe = subprocess.PIPE if way == "stdio" else subprocess.DEVNULL
    with open(f"{who}.err", "a") as errors:
        return subprocess.Popen(line_of(who, way, **other), stdin=pipe,
                                stdout=subprocess.PIPE if way == "stdio" else errors,
                                stderr=errors)


def ends(process, code=0, who=""):
    try:
        got = process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        got = "no end"
    assert got == code, (who, got, said(who) if who else "")


def said(who):
    with open(f"{who}.err") as f:
        return f.read()


def call(*arguments):
    done = subprocess.run([BILLBOARD, *arguments], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- what comes out --


def read(path):
    with open(path, "rb") as f:
        return f.read()


def models_of(run):
    return read(f"{run}/operator/models.csv").splitlines()


def check_as_one(silos=SILOS, of="of-plan.json"):
    call("train", "all.csv", "--config", of, "-o", "one")
    assert read("one/public/billboard.bin") == read("out-curator/public/billboard.bin")
    assert len(models_of("out-curator")) == 1  # a header, and nobody's model
    header, *lines = models_of("one")
    found = []
    for silo in silos:
        first, *own = models_of(f"out-{silo}")
        assert first == header
        assert own and all(site_of(int(x.split(b",")[0][4:])) == silo for x in own), own
        found += own
    assert sorted(found) == sorted(lines)
    assert not [name for name in os.listdir(".") if name.endswith((".state", ".lock"))]


# -- cases --


def every_carrier_gives_the_models_of_one_process():
    for way in ("socket", "folder"):
        with folder():
            places = {who: start(who, way) for who in ["curator", *SILOS]}
            for who, process in places.items():
                ends(process, who=who)
            check_as_one()
            assert not os.path.exists("run.sock")


def message_of(stream):
    head = stream.read(8)
    if len(head) < 8:
        return None
    return head + stream.read(struct.unpack("<Q", head)[0])


def silo_of(message):
    body = message[8:]
    return struct.unpack_from("<I", body, 8 if body[:4] in (HELLO, b"BBBY") else SILO_AT)[0]


def carry(stream, find):
    """Until it ends: every message to where it belongs."""
    for message in iter(lambda: message_of(stream), None):
        with contextlib.suppress(BrokenPipeError):
            find(message).write(message)
            find(message).flush()


def standard_streams_need_no_more_than_a_router():
    with folder():
        places = {who: start(who, "stdio") for who in ["curator", *SILOS]}
        at_silo = [places[silo].stdin for silo in SILOS]
        threads = [threading.Thread(target=carry, args=(
            places["curator"].stdout, lambda m: at_silo[silo_of(m) - 1]))]
        threads += [threading.Thread(target=carry, args=(
            places[silo].stdout, lambda m: places["curator"].stdin)) for silo in SILOS]
        for thread in threads:
            thread.start()
        for who, process in places.items():
            ends(process, who=who)
        for thread in threads:
            thread.join()
        check_as_one()


def until_all_have_ended(places, begin, draw, kills):
    """Somebody is killed every moment, and started again as before."""
    pause, killed, until = 0.02, 0, time.monotonic() + LIMIT
    while places and time.monotonic() < until:
        time.sleep(pause * draw.random())
        who = draw.choice(list(places))
        if places[who].poll() is None and killed < kills:
            places[who].kill()
            places[who].wait()
            killed += 1
            pause *= 1.08
        code = places[who].poll()
        assert code in (None, 0, -signal.SIGKILL), (who, code, said(who))
        over = os.path.exists(f"out-{who}") and not os.path.exists(f"{who}.state")
        if code == 0 or (code is not None and over):
            del places[who]
        elif code is not None:
            places[who] = begin(who)
    assert not places, {who: said(who) for who in places}
    for name in os.listdir("."):
        if name.endswith(".lock"):  # of one that was killed
            os.remove(name)
    return killed


def whoever_is_killed_goes_on():
    for way in ("socket", "folder"):
        with folder():
            plan(rounds=60)
            places = {who: start(who, way) for who in ["curator", *SILOS]}
            killed = until_all_have_ended(places, lambda who: start(who, way),
                                          random.Random(11), 25)
            assert killed > 10, killed
            check_as_one()


def ledgers_are_charged_once():
    with folder():
        plan(seed=None, rounds=60)
        policy(ledger="north.ledger", population="north",
               **{"budget-epsilon": 4, "budget-delta": 1e-5, "allow-open": False})
        policy("other.json", **{"allow-open": False})
        more = ["--ledger", "joint.ledger", "--population", "all", "--budget-epsilon", "4",
                "--budget-delta", "1e-5"]

        def begin(who):
            if who == "curator":
                return start(who, "socket", more=more)
            return start(who, "socket", policy="policy.json" if who == "north" else "other.json")

        places = {who: begin(who) for who in ["curator", *SILOS]}
        until_all_have_ended(places, begin, random.Random(12), 25)
        for name in ("joint.ledger", "north.ledger"):
            kept = json.loads(call("ledger", name, "--json"))
            assert [e["state"] for e in kept["entries"]] == ["done"], (name, kept)
        hashes = {json.load(open(f"out-{who}/operator/run.json"))["billboard_sha256"]
                  for who in ["curator", *SILOS]}
        assert len(hashes) == 1, hashes


def a_silo_that_never_comes_is_not_waited_for():
    with folder():
        plan(fewest=2)
        call("train", "all.csv", "--config", "of-plan.json", "-o", "whole")
        places = {who: start(who, "socket") for who in SILOS[:2]}
        places["curator"] = start("curator", "socket", more=["--patience", "0.5"])
        for who, process in places.items():
            ends(process, who=who)
        assert read("whole/public/billboard.bin") != read("out-curator/public/billboard.bin")
        assert len(models_of("out-north")) + len(models_of("out-south")) == 2 + sum(
            site_of(t) != "east" for t in range(TASKS))


def a_policy_is_kept_before_anything_is_said():
    cases = [({"most-epsilon": 3.9}, "allows epsilon 3.9, not 4"),
             ({"most-delta": 1e-7}, "allows delta 1e-07"),
             ({"methods": "mp-mixed,fedavg"}, "forbids method fedprox"),
             ({"adjacencies": "add-remove"}, "forbids adjacency replace-one"),
             ({"allow-open": False}, "forbids seeded noise"),
             ({"fewest-tasks": 25}, "asks for 25 tasks")]
    with folder():
        for more, message in cases:
            policy(**more)
            with contextlib.suppress(FileNotFoundError):
                os.remove("north.err")
            ends(start("north", "folder"), 2)
            assert message in said("north"), said("north")
            assert not os.listdir("box/curator") if os.path.exists("box/curator") else True
            with contextlib.suppress(FileNotFoundError):
                os.remove("north.state")
        policy(**{"fewest-silos": 4})  # what only an offer says
        places = [start(who, "folder") for who in ("curator", "north")]
        ends(places[1], 2)
        assert "asks for 4 silos, not 3" in said("north"), said("north")
        places[0].send_signal(signal.SIGINT)
        ends(places[0], 130)


def what_differs_is_told_and_nothing_is_trained():
    with folder():
        plan("other.json", rounds=13)
        north = start("north", "socket", plan="other.json")
        rest = [start(who, "socket") for who in ("curator", "south", "east")]
        until = time.monotonic() + LIMIT
        while "left out" not in said("north") and time.monotonic() < until:
            time.sleep(0.05)
        assert "not the one that this silo agreed to: the rounds" in said("north"), said("north")
        for process in [north, *rest]:
            process.send_signal(signal.SIGTERM)
        for process in [north, *rest]:
            ends(process, 130)
        assert not os.path.exists("out-north") and not os.path.exists("out-curator")


def the_end_of_a_curator_is_told():
    with folder():
        curator = subprocess.Popen([BILLBOARD, "curator", "--plan", "plan.json", "--socket",
                                    "run.sock", "-o", "out"], stderr=subprocess.PIPE, text=True)
        places = [start(who, "socket") for who in SILOS[:2]]
        there = 0
        while there < 2:
            line = curator.stderr.readline()
            assert line, "the curator has ended"
            there += "is there" in line
        curator.send_signal(signal.SIGINT)
        assert curator.communicate(timeout=LIMIT)[1] == "billboard: interrupted\n"
        assert curator.returncode == 130
        for who, process in zip(SILOS, places):
            ends(process, 130)
            assert "cancelled" in said(who), said(who)
        assert not os.path.exists("out")


def strangers_disturb_nobody():
    with folder():
        places = {"curator": start("curator", "socket")}
        until = time.monotonic() + LIMIT
        while not os.path.exists("run.sock") and time.monotonic() < until:
            time.sleep(0.02)
        assert os.stat("run.sock").st_mode & 0o077 == 0
        strangers = []
        word = struct.pack("<4sII", HELLO, 1, 9)
        for said_so in (b"x" * 4000, struct.pack("<Q", 2**60) + b"y" * 100,
                        struct.pack("<Q", 12) + word, struct.pack("<Q", 3) + b"abc"):
            strangers.append(socket.socket(socket.AF_UNIX))
            strangers[-1].connect("run.sock")
            strangers[-1].sendall(said_so)
        places.update({who: start(who, "socket") for who in SILOS})
        for who, process in places.items():
            ends(process, who=who)
        assert "silo 9 was left out" in said("curator"), said("curator")
        check_as_one()


def lines_that_make_no_sense():
    with folder():
        write("bad.json", "{")
        write("list.json", [])
        write("twice.json", {"options": {}, "tasks": ["a"], "features": ["x"],
                             "silos": ["north", "north"]})
        write("unknown.json", {"options": {}, "task": ["a"]})
        write("empty.json", {"options": {}, "tasks": [], "features": ["x"], "silos": ["north"]})
        write("many.json", {"options": {}, "tasks": ["a"], "features": ["x"], "silos": ["north"],
                            "fewest-silos": 2})
        for name, code, words in [("bad.json", 1, "bad.json: line 1"), ("list.json", 2, "object"),
                                  ("twice.json", 2, "\"north\" is there twice"),
                                  ("unknown.json", 2, "\"task\": expected options, tasks"),
                                  ("empty.json", 2, "\"tasks\": expected a list"),
                                  ("many.json", 2, "from 1 to 1"), ("none.json", 1, "none.json")]:
            done = subprocess.run(line_of("curator", "socket", plan=name), capture_output=True,
                                  text=True)
            assert done.returncode == code and words in done.stderr, (name, done)
        done = subprocess.run([*line_of("north", "socket"), "--name", "west"], capture_output=True,
                              text=True)
        assert done.returncode == 2 and "no silo \"west\"" in done.stderr, done
        done = subprocess.run(line_of("north", "socket", plan="plan.json", policy="plan.json"),
                              capture_output=True, text=True)
        assert done.returncode == 2 and "options" in done.stderr, done
        write("half.json", {"most-epsilon": 1})
        done = subprocess.run([BILLBOARD, "policy", "check", "half.json"], capture_output=True,
                              text=True)
        assert done.returncode == 2 and "expected \"most-delta\"" in done.stderr, done
        os.mkdir("out-north")
        done = subprocess.run(line_of("north", "socket"), capture_output=True, text=True)
        assert done.returncode == 2 and "out-north: exists already" in done.stderr, done


for case in [every_carrier_gives_the_models_of_one_process,
             standard_streams_need_no_more_than_a_router, whoever_is_killed_goes_on,
             ledgers_are_charged_once,
             a_silo_that_never_comes_is_not_waited_for, a_policy_is_kept_before_anything_is_said,
             what_differs_is_told_and_nothing_is_trained, the_end_of_a_curator_is_told,
             strangers_disturb_nobody, lines_that_make_no_sense]:
    if len(sys.argv) > 2 and sys.argv[2] not in case.__name__:
        continue
    began = time.monotonic()
    case()
    print(f"{case.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)
