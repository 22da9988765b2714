"""Carriers that lose, double, delay, reorder, halve and cut what `billboard silo` and `billboard
curator` say to each other, and that kill who has said it; and what must be so afterwards.
"""
import contextlib, itertools, json, os, random, socket, struct, threading, time

from joint import *

NAMES = {1: "OFFER", 2: "JOIN", ROUND: "ROUND", SUM: "SUM", 5: "END", HELLO: "HELLO", BYE: "BYE"}


class Carrier:
    """`fault(sender, to, frame, later)` gives the frames that are carried in place of this one;
    CUT ends the connection, and `later` carries one afterwards. What rounds say is kept."""

    def __init__(self, fault):
        self.fault, self.lock, self.over, self.rounds = fault, threading.Lock(), False, {}

    def instead_of(self, sender, to, frame, later):
        if kind_of(frame) == ROUND:
            number = struct.unpack_from("<I", frame, 48)[0]
            with self.lock:
                self.rounds.setdefault(number, set()).add(frame[HEADER:])
        return self.fault(sender, to, frame, later)

    def check(self):
        """What was asked of silos follows from what was published before."""
        assert self.rounds
        assert all(len(said) == 1 for said in self.rounds.values()), "a round was asked in two ways"


def no_fault(sender, to, frame, later):
    return [frame]


class Proxy(Carrier):
    """Between the socket of each silo and that of the curator."""

    def __init__(self, fault=no_fault):
        super().__init__(fault)
        self.listeners = []
        for silo in SILOS:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(f"{silo}.sock")
            listener.listen(16)
            self.listeners.append(listener)
            threading.Thread(target=self.accept, args=(silo, listener), daemon=True).start()

    def accept(self, silo, listener):
        while not self.over:
            with contextlib.suppress(OSError):
                near, _ = listener.accept()
                far = socket.socket(socket.AF_UNIX)
                try:
                    far.connect("run.sock")
                except OSError:
                    near.close()
                    far.close()
                    continue
                for a, b, sender, to in [(near, far, silo, "curator"),
                                         (far, near, "curator", silo)]:
                    threading.Thread(target=self.carry, args=(a, b, sender, to),
                                     daemon=True).start()

    def carry(self, a, b, sender, to):
        writing = threading.Lock()

        def send(part):
            with writing, contextlib.suppress(OSError):
                b.sendall(part if part is HALF else struct.pack("<Q", len(part)) + part)

        with contextlib.suppress(OSError), a.makefile("rb") as stream:
            for message in iter(lambda: message_of(stream), None):
                said = self.instead_of(sender, to, message[8:], send)
                for part in said:
                    if part is not CUT:
                        send(part)
                if CUT in said:
                    break
        for s in (a, b):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.over = True
        for listener in self.listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.check()


class Boxes(Carrier):
    """Between a folder of each silo and that of the curator, like a program that keeps folders in
    step. HALF: a file that is not whole."""

    def __init__(self, fault=no_fault):
        super().__init__(fault)
        self.count, self.threads = itertools.count(), []
        for number, silo in enumerate(SILOS, 1):
            os.mkdir(f"box-{silo}")
            for ways in [(f"box-{silo}/curator", "box/curator", silo, "curator"),
                         (f"box/silo-{number}", f"box-{silo}/silo-{number}", "curator", silo)]:
                a, b = map(os.path.abspath, ways[:2])
                self.threads.append(threading.Thread(target=self.carry, args=(a, b, *ways[2:]),
                                                     daemon=True))
                self.threads[-1].start()

    def carry(self, a, b, sender, to):
        def put(part):
            name, whole = f"{time.time_ns()}-{sender}-{next(self.count)}", part is not HALF
            with contextlib.suppress(OSError):
                with open(f"{b}/.{name}" if whole else f"{b}/{name}", "wb") as f:
                    f.write(part if whole else HALF[8:])
                if whole:
                    os.rename(f"{b}/.{name}", f"{b}/{name}")

        while not self.over:
            time.sleep(0.02)
            names = sorted(os.listdir(a)) if os.path.isdir(a) and os.path.isdir(b) else []
            for name in names:
                if name[0] == ".":
                    continue
                frame = read(f"{a}/{name}")
                os.remove(f"{a}/{name}")
                for part in self.instead_of(sender, to, frame, put):
                    if part is not CUT:
                        put(part)

    def close(self):
        self.over = True
        for thread in self.threads:
            thread.join(LIMIT)
        self.check()


CUT = None
HALF = struct.pack("<Q", 1000) + b"BBBF"  # the beginning of a frame


def by_proxy(who):
    return [] if who == "curator" else ["--socket", f"{who}.sock"]


def start_by_proxy(who, **other):
    return start(who, "proxy" if who != "curator" else "socket", **other)


WAYS["proxy"] = []


def begin_by_proxy(who, more=(), **other):
    return start_by_proxy(who, more=[*by_proxy(who), *more], **other)


def begin_by_boxes(who, more=(), **other):
    at = "box" if who == "curator" else f"box-{who}"
    return start(who, "proxy", more=["--folder", at, *more], **other)


LEDGER = ["--ledger", "joint.ledger", "--population", "all", "--budget-epsilon", "4",
          "--budget-delta", "1e-5"]


def charged_once(*ledgers):
    for name in ledgers:
        kept = json.loads(call("ledger", name, "--json"))
        assert [e["state"] for e in kept["entries"]] == ["done"], (name, kept)


def one_billboard(silos=SILOS):
    hashes = {json.load(open(f"out-{who}/operator/run.json"))["billboard_sha256"]
              for who in ["curator", *silos]}
    assert len(hashes) == 1, hashes
    nothing_is_left()


# -- what goes wrong --


class Spoiler:
    """Delays, cuts, doubles, reorders and halves frames, each now and then, and loses a few: so
    many at most, since places wait for seconds before they ask for what was lost."""

    def __init__(self, seed, **most):
        self.draw, self.lock, self.done = random.Random(seed), threading.Lock(), {}
        self.most = {"lost": 1, **most}

    def __call__(self, sender, to, frame, later):
        with self.lock:
            what = self.draw.choices(["", "late", "cut", "twice", "later", "half", "lost"],
                                     [60, 15, 3, 10, 10, 3, 3])[0]
            pause = 0.05 * self.draw.random()
            if self.done.get(what, 0) >= self.most.get(what, 1000):
                what = ""
            self.done[what] = self.done.get(what, 0) + 1
        if what == "late":
            time.sleep(pause)
        if what == "later":  # others overtake it
            threading.Timer(pause, later, [frame]).start()
        return {"cut": [CUT], "half": [HALF, CUT], "twice": [frame, frame], "later": [],
                "lost": []}.get(what, [frame])


class Killer:
    """Kills `victim` at every kind of frame: before it gets it, when it has it, and when it has
    sent it; and starts it again."""

    def __init__(self, victim, begin):
        self.victim, self.begin, self.lock = victim, begin, threading.Lock()
        self.places, self.done = {}, set()
        self.held = "north" if victim != "curator" else ""

    def again(self, step):
        self.done.add(step)
        process = self.places[self.victim]
        process.kill()
        process.wait()
        if not self.is_over(self.victim):
            self.places[self.victim] = self.begin(self.victim)

    def is_over(self, who):
        return os.path.exists(f"out-{who}") and not os.path.exists(f"{who}.state")

    def __call__(self, sender, to, frame, later):
        kind = NAMES.get(kind_of(frame))
        if sender == "north" == self.held and kind == "BYE":  # so that the curator stays
            wait_for(lambda: self.is_over("south"))
        with self.lock:
            if sender == self.victim and (kind, "sent") not in self.done:
                self.again((kind, "sent"))
                return [frame, CUT]
            if to == self.victim and (kind, "lost") not in self.done:
                self.again((kind, "lost"))
                return [CUT]
            if to == self.victim and (kind, "taken") not in self.done:
                later(frame)
                self.again((kind, "taken"))
                return [CUT]
        return [frame]

    def wait(self):
        wait_for(lambda: all(p.poll() is not None for p in self.places.values()))
        with self.lock:
            for who, process in self.places.items():
                assert process.poll() == 0 or self.is_over(who), (who, process.poll(), said(who))
        for name in os.listdir("."):
            if name.endswith(".lock"):
                os.remove(name)


SAYS = {"curator": {"OFFER", "ROUND", "END", "BYE"}, "silo": {"HELLO", "JOIN", "SUM", "BYE"}}


def kill_at_every_step(victim, carrier, begin):
    with folder():
        plan(rounds=5)
        killer = Killer(victim, begin)
        way = carrier(killer)
        for who in ["curator", *SILOS]:
            killer.places[who] = begin(who)
        killer.wait()
        way.close()
        own, other = ("curator", "silo") if victim == "curator" else ("silo", "curator")
        steps = {(kind, "sent") for kind in SAYS[own]} | {
            (kind, how) for kind in SAYS[other] for how in ("lost", "taken")}
        assert killer.done == steps, steps ^ killer.done
        check_as_one()
