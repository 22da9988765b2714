"""What tests of `billboard silo` and `billboard curator` have in common: a population, its places
as processes in a folder of their own, and the frames that they exchange. The first argument of a
program that imports it is BILLBOARD.
"""
import contextlib, hashlib, json, os, random, signal, socket, struct, subprocess, sys, tempfile
import threading, time

BILLBOARD = os.path.abspath(sys.argv[1])
SILOS = ["north", "south", "east"]
TASKS, FEATURES = 24, ["age", "dose"]
LIMIT = 180  # seconds; only a place that hangs takes so long
SILO_AT = 56
VERSION = 6  # of frames: src/core/wire.h


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


started = []


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
            for process in started:  # of a case that has failed
                process.kill()
                process.wait()
            started.clear()
            os.chdir(before)


WAYS = {"socket": ["--socket", "run.sock"], "folder": ["--folder", "box"], "stdio": ["--stdio"]}


def line_of(who, way, plan="plan.json", policy="policy.json", more=()):
    kept = ["--checkpoint", f"{who}.state", "-o", f"out-{who}"]
    if who == "curator":
        return [BILLBOARD, "curator", "--plan", plan, *WAYS[way], *kept, *more]
    if who == "helper":  # of the second door: doors.py
        return [BILLBOARD, "helper", "--plan", plan, *WAYS[way], *kept, *more]
    return [BILLBOARD, "silo", f"{who}.csv", "--plan", plan, "--name", who, "--policy", policy,
            *WAYS[way], *kept, *more]


def start(who, way, before=(), **other):
    pipe = subprocess.PIPE if way == "stdio" else subprocess.DEVNULL
    with open(f"{who}.err", "a") as errors:
        started.append(subprocess.Popen([*before, *line_of(who, way, **other)], stdin=pipe,
                                        stdout=subprocess.PIPE if way == "stdio" else errors,
                                        stderr=errors))
    return started[-1]


def ends(process, code=0, who=""):
    try:
        got = process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        got = "no end"
    assert got == code, (who, got, said(who) if who else "")


def nothing_is_left():
    """No checkpoint but those of silos whose good-bye the curator has heard, and which have not
    heard so: a bad line loses that, too."""
    left = [name for name in os.listdir(".") if name.endswith((".state", ".lock"))]
    assert all(f"{name} is kept" in said(name.partition(".")[0]) for name in left), left


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


def models_of(run, name="models.csv"):
    return read(f"{run}/operator/{name}").splitlines()


def record_of(who):
    return json.loads(read(f"out-{who}/operator/record.json"))


def check_records(silos=SILOS, lost=()):
    """All places write down the same run; the curator, who took part in how much of it."""
    whole = record_of("curator")
    for silo in silos:
        own = record_of(silo)
        assert [own[k] for k in ("run", "terms", "rounds", "curator")] == [
            whole[k] for k in ("run", "terms", "rounds", "curator")], (own, whole)
        assert own["began"] <= own["ended"] and "silos" not in own, own
    for told in whole["silos"]:
        took_part = told["name"] in silos
        assert told["joined"] == took_part, told
        if told["name"] not in lost:
            assert told["rounds_answered"] == (whole["rounds"] if took_part else 0), whole
    for half in ("out-curator", *(f"out-{silo}" for silo in silos)):
        assert "record.json" not in os.listdir(f"{half}/public")


def check_as_one(silos=SILOS, of="of-plan.json"):
    call("train", "all.csv", "--config", of, "-o", "one")
    assert read("one/public/billboard.bin") == read("out-curator/public/billboard.bin")
    for name in "models.csv", "limits.csv":
        assert len(models_of("out-curator", name)) == 1  # a header, and nobody's model
        header, *lines = models_of("one", name)
        found = []
        for silo in silos:
            first, *own = models_of(f"out-{silo}", name)
            assert first == header
            assert own and all(site_of(int(x.split(b",")[0][4:])) == silo for x in own), own
            found += own
        assert sorted(found) == sorted(lines)
    check_records(silos)
    note = json.loads(read("one/operator/run.json"))["note"]
    for who in ("curator", *silos):
        for name in ("operator/run.json", "public/billboard.json"):
            assert json.loads(read(f"out-{who}/{name}"))["note"] == note, (who, name, note)
    nothing_is_left()


# -- frames (docs/wire.md) --

ROUND, SUM, HELLO, REFUSE, BYE, SEEDS = 3, 4, 7, 8, 9, 10
SEAL_AT, START_AT, SIGNATURE_AT, HEADER = 72, 104, 136, 200


def kind_of(frame):
    return struct.unpack_from("<I", frame, 8)[0]


def messages_in(box):
    return [read(f"{box}/{name}") for name in sorted(os.listdir(box)) if name[0] != "."]


def sealed_again(frame):
    covered = frame[:SEAL_AT] + frame[START_AT:SIGNATURE_AT] + frame[HEADER:]
    return frame[:SEAL_AT] + hashlib.sha256(covered).digest() + frame[START_AT:]


def changed(frame, at):
    return frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1:]


def wait_for(what):
    until = time.monotonic() + LIMIT
    while not what():
        assert time.monotonic() < until, {who: said(who) for who in ["curator", *SILOS]
                                          if os.path.exists(f"{who}.err")}
        time.sleep(0.02)


def message_of(stream):
    head = stream.read(8)
    if len(head) < 8:
        return None
    return head + stream.read(struct.unpack("<Q", head)[0])


def silo_of(message):
    return struct.unpack_from("<I", message, 8 + SILO_AT)[0]


# -- keys --


def make_keys(more=()):
    """A key for everybody, a roster of them, and what lines say of both."""
    keys = {who: call("identity", "new", f"{who}.key").strip()
            for who in ["curator", *SILOS, *more]}
    helps = ["--helper", keys["helper"]] if "helper" in keys else []
    call("identity", "roster", "roster.json", "--key", "curator.key", *helps,
         *[f"{silo}={keys[silo]}" for silo in SILOS])
    return keys


def signs(who, roster="roster.json"):
    return ["--key", f"{who}.key", "--roster", roster]


# -- certificates (openssl) --

TLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/silos/tls.py")


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def make_authority(name):
    openssl("req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", f"{name}.pem", "-out",
            f"{name}.crt", "-subj", f"/CN={name}", "-days", "1")


def make_certificate(who, authority="joint", days="1", at="127.0.0.1"):
    openssl("req", "-newkey", "ed25519", "-nodes", "-keyout", f"{who}.pem", "-out", f"{who}.csr",
            "-subj", f"/CN={who}")
    write("names", f"subjectAltName=IP:{at}")
    openssl("x509", "-req", "-in", f"{who}.csr", "-CA", f"{authority}.crt", "-CAkey",
            f"{authority}.pem", "-CAcreateserial", "-days", days, "-extfile", "names", "-out",
            f"{who}.crt")


def start_tls(place, at, socket_at, who, authority="joint"):
    with open(f"{who}-tls.err", "a") as errors:
        return subprocess.Popen([sys.executable, TLS, place, "--at", at, "--socket", socket_at,
                                 "--certificate", f"{who}.crt", "--key", f"{who}.pem",
                                 "--authority", f"{authority}.crt"], stderr=errors)


# -- kills, ports --


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


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# -- keys, and messages by hand --



def conduct_by_hand(spoil, names=("curator", *SILOS)):
    """Everybody signs and speaks by pipes; `spoil` has what is said, as (to, frame), and gives
    what arrives."""
    places = {who: start(who, "stdio", more=signs(who)) for who in names}
    lock = threading.Lock()

    def deliver(sender):
        for message in iter(lambda: message_of(places[sender].stdout), None):
            to = [*SILOS, "helper"][silo_of(message) - 1] if sender == "curator" else "curator"
            with lock:
                for who, frame in spoil(to, message[8:]):
                    with contextlib.suppress(BrokenPipeError):
                        places[who].stdin.write(struct.pack("<Q", len(frame)) + frame)
                        places[who].stdin.flush()

    threads = [threading.Thread(target=deliver, args=(who,)) for who in places]
    for thread in threads:
        thread.start()
    for who, process in places.items():
        ends(process, who=who)
    for thread in threads:
        thread.join()
