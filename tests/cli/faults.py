"""What goes wrong between `billboard silo` and `billboard curator`, and within each: connections
that fail, processes that are killed at every step, places that are slow, of another version, with
another clock or a full disk, and very many of them. Nothing is lost, ledgers agree, and no round is
published twice.

    faults.py BILLBOARD CLOCK MANY [CASE]
"""
import contextlib, json, os, random, re, resource, signal, struct, subprocess, sys, time
import urllib.request

from spoil import *

CLOCK, MANY = map(os.path.abspath, sys.argv[2:4])  # of clock.c and many.c

# -- the way between them --


def a_bad_line_changes_nothing():
    with folder():
        plan(rounds=15)
        make_keys()
        spoil = Spoiler(1)
        proxy = Proxy(spoil)
        places = {who: begin_by_proxy(who, signs(who)) for who in ["curator", *SILOS]}
        for who, process in places.items():
            ends(process, who=who)
        proxy.close()
        assert all(spoil.done.get(what) for what in ("late", "cut", "twice", "later", "half",
                                                     "lost")), spoil.done
        check_as_one()


def a_bad_line_publishes_nothing_twice():
    with folder():
        plan(seed=None, rounds=15)
        policy(ledger="north.ledger", population="north",
               **{"budget-epsilon": 4, "budget-delta": 1e-5, "allow-open": False})
        policy("other.json", **{"allow-open": False})
        proxy = Proxy(Spoiler(2))
        places = {who: begin_by_proxy(who, LEDGER if who == "curator" else (), policy=(
            "policy.json" if who == "north" else "other.json")) for who in ["curator", *SILOS]}
        for who, process in places.items():
            ends(process, who=who)
        proxy.close()
        charged_once("joint.ledger", "north.ledger")
        one_billboard()


# -- kills at every step --


def a_silo_killed_at_every_step_goes_on():
    kill_at_every_step("south", Proxy, begin_by_proxy)


def a_curator_killed_at_every_step_goes_on():
    kill_at_every_step("curator", Proxy, begin_by_proxy)


# -- places --


def shown(who="curator"):
    """What the curator's page says; None before it says anything."""
    at = re.findall(r"http://127\.0\.0\.1:\d+/", said(who))
    with contextlib.suppress(OSError, IndexError):
        with urllib.request.urlopen(at[-1] + "status.json", timeout=LIMIT) as answer:
            return {s["name"]: s["state"] for s in json.load(answer)["silos"]}


def a_silo_that_stands_still_is_not_lost():
    with folder():
        plan(fewest=2, rounds=10)
        more = ["--patience", "0.2", "--page", "0"]
        places = {who: start(who, "socket", more=more if who == "curator" else ())
                  for who in ("curator", "east")}
        wait_for(lambda: (shown() or {}).get("east") == "joined")
        places["east"].send_signal(signal.SIGSTOP)
        places.update({who: start(who, "socket") for who in ("north", "south")})
        for who in ("north", "south"):
            ends(places[who], who=who)
        ends(places["curator"], who="curator")
        assert "east has not said that it has its models" in said("curator")
        places["east"].send_signal(signal.SIGCONT)
        # the others have gone: where their good-byes came too late, nobody says them again
        again = start("curator", "socket", more=["--patience", "30"])
        for process in (again, places["east"]):
            ends(process, who="curator")
        one_billboard()
        assert len(models_of("out-east")) > 1


def another_version_is_refused_by_name():
    def newer(frame):
        return frame[:4] + struct.pack("<I", struct.unpack_from("<I", frame, 4)[0] + 1) + frame[8:]

    with folder():
        other = [("south", "curator")]

        def fault(sender, to, frame, later):
            return [newer(frame) if (sender, to) in other else frame]

        proxy = Proxy(fault)
        places = {who: begin_by_proxy(who) for who in ["curator", *SILOS]}
        words = (f"a frame of version {VERSION + 1}; this program speaks {VERSION}: all places need "
                 "the same Billboard")
        wait_for(lambda: "a message of south was left out: " + words in said("curator"))
        wait_for(lambda: "no word from the curator yet" in said("south"))
        assert "south is there" not in said("curator") and "no word" not in said("north")
        other[:] = [("curator", "south")]
        places["south"].kill()
        places["south"].wait()
        places["south"] = begin_by_proxy("south")
        wait_for(lambda: "a message was left out: " + words in said("south"))
        other.clear()  # it is brought up to date
        places["south"].kill()
        places["south"].wait()
        places["south"] = begin_by_proxy("south")
        for who, process in places.items():
            ends(process, who=who)
        proxy.close()
        check_as_one()


YEARS = 365 * 24 * 3600


def clocks_may_differ():
    with folder():
        plan(seed=None, rounds=5)
        make_keys()
        policy(ledger="north.ledger", population="north",
               **{"budget-epsilon": 4, "budget-delta": 1e-5})
        policy("other.json")
        wrong = {"curator": 10 * YEARS, "north": -30 * YEARS, "south": 3600, "east": 0}
        places = {}
        for who, seconds in wrong.items():
            os.environ.update(LD_PRELOAD=CLOCK, BB_TEST_CLOCK=str(seconds))
            more = LEDGER if who == "curator" else []
            places[who] = start(who, "socket", more=[*signs(who), *more], policy=(
                "policy.json" if who == "north" else "other.json"))
            del os.environ["LD_PRELOAD"], os.environ["BB_TEST_CLOCK"]
        for who, process in places.items():
            ends(process, who=who)
        years = [json.loads(call("ledger", f"{name}.ledger", "--json"))["entries"][0]["time"][:4]
                 for name in ("joint", "north")]
        assert 39 <= int(years[0]) - int(years[1]) <= 41, years
        charged_once("joint.ledger", "north.ledger")
        one_billboard()


def limited(who, most, **other):
    """No file of this place gets longer than `most` bytes: as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        return start(who, "socket", **other)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def a_full_disk_loses_nothing():
    with folder():
        plan(rounds=40)
        places = {who: start(who, "socket") for who in ("north", "south")}
        for most in (200, 5000):  # before anybody is asked; when much was published
            curator = limited("curator", most)
            if most > 200:
                ends(limited("east", 1000), 1)
                assert "east.state: cannot be written: File too large" in said("east"), said("east")
                places["east"] = start("east", "socket")
            ends(curator, 1, "curator")
            assert all(process.poll() is None for process in places.values())
        assert "curator.state: cannot be written: File too large" in said("curator")
        assert "the silos wait: start this again as it was" in said("curator")
        places["curator"] = start("curator", "socket")
        for who, process in places.items():
            ends(process, who=who)
        check_as_one()


def a_result_that_cannot_be_stored_is_stored_later():
    with folder():
        def begin(who, **other):
            return start(who, "socket", more=["-o", f"later/out-{who}"])

        places = {who: begin(who) for who in ["curator", *SILOS]}
        ends(places["curator"], 1, "curator")  # silos may have got their models, or not yet
        places["curator"] = begin("curator")
        ends(places["curator"], 1, "curator")
        os.mkdir("later")
        places["curator"] = begin("curator")
        late = time.monotonic() + LIMIT
        while None in [process.poll() for process in places.values()] and time.monotonic() < late:
            for who in SILOS:
                if places[who].poll() == 1:  # it had its models before there was a folder
                    places[who] = begin(who)
            time.sleep(0.1)
        for who, process in places.items():
            ends(process, who=who)
        for who in places:
            os.rename(f"later/out-{who}", f"out-{who}")
        check_as_one()


# -- very many --


def make_many(silos, **options):
    draw, header, rows = random.Random(5), "ward,age,dose,y\n", []
    for k in range(1, silos + 1):
        own = []
        for _ in range(4):
            age, dose = draw.uniform(-0.7, 0.7), draw.uniform(-0.7, 0.7)
            own.append(f"ward{k},{age:.3f},{dose:.3f},{age + 0.3 * dose * (k % 4):.3f}\n")
        write(f"{k}.csv", header + "".join(own))
        rows += own
    write("all.csv", header + "".join(rows))
    plan(**options)
    write("plan.json", {**json.load(open("plan.json")),
                        "tasks": [f"ward{k}" for k in range(1, silos + 1)],
                        "silos": [f"s{k}" for k in range(1, silos + 1)]})


def a_thousand_silos_make_one_run():
    """With as many open files as a login shell may have; the curator asks for more."""
    with folder():
        make_many(1000, rounds=3, seed=5)
        least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, most), most))
        try:
            curator = start("curator", "socket", more=["--page", "0"])
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
        done = subprocess.run([MANY, "plan.json", "policy.json", "run.sock"],
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (done, said("curator")[-2000:])
        ends(curator, who="curator")
        call("train", "all.csv", "--config", "of-plan.json", "-o", "one")
        assert read("one/public/billboard.bin") == read("out-curator/public/billboard.bin")
        assert not os.path.exists("curator.state")


def too_few_files_for_all_silos_are_refused():
    with folder():
        make_many(1000)
        line = ["bash", "-c", "ulimit -n 900; exec \"$@\"", "-", *line_of("curator", "socket")]
        done = subprocess.run(line, capture_output=True, text=True)
        assert done.returncode == 1 and "1008 connections need 1108 open files" in done.stderr, done


for case in [a_bad_line_changes_nothing, a_bad_line_publishes_nothing_twice,
             a_silo_killed_at_every_step_goes_on, a_curator_killed_at_every_step_goes_on,
             a_silo_that_stands_still_is_not_lost, another_version_is_refused_by_name,
             clocks_may_differ, a_full_disk_loses_nothing,
             a_result_that_cannot_be_stored_is_stored_later,
             a_thousand_silos_make_one_run, too_few_files_for_all_silos_are_refused]:
    if len(sys.argv) > 4 and sys.argv[4] not in case.__name__:
        continue
    began = time.monotonic()
    case()
    print(f"{case.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)
