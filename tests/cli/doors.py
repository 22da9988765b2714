"""Runs `billboard helper` beside silos and curator, the second of two doors: the models of one
process, whoever is killed; nobody but both doors together sees a sum; and what is refused.

    doors.py BILLBOARD
"""
import json, os, random, shutil, signal, struct, subprocess, sys, time

from joint import *

ALL = ["curator", "helper", *SILOS]


def begin(who, way="socket", **other):
    more = [*signs(who), *other.pop("more", [])]
    return start(who, way, more=more, **other)


def ledger(name):
    return ["--ledger", name, "--population", "all", "--budget-epsilon", "4", "--budget-delta",
            "1e-5"]


def entries(name):
    return json.loads(call("ledger", name, "--json"))["entries"]


def two_doors_give_the_models_of_one_process():
    for way, method in [("folder", {"rounds": 4}),
                        ("folder", {"rounds": 3, "sampling": "poisson:0.4"}),
                        ("socket", {"method": "mp-mixed", "rounds": None}),
                        ("socket", {"method": "mp-lowrank", "set": {"clip": 1}})]:
        with folder():
            plan(doors=2, **method)
            keys = make_keys(["helper"])
            assert keys["helper"] in call("identity", "check", "roster.json")
            policy(helpers=keys["helper"])
            assert keys["helper"] in call("policy", "check", "policy.json")
            places = {who: begin(who, way) for who in ALL}
            for who, process in places.items():
                ends(process, who=who)
            check_as_one()
            whole, helped = record_of("curator"), record_of("helper")
            assert helped["place"] == "helper" and helped["charged"] is None, helped
            assert [helped[k] for k in ("run", "terms", "rounds", "curator")] == [
                whole[k] for k in ("run", "terms", "rounds", "curator")], (helped, whole)
            assert os.listdir("out-helper") == ["operator"]
            assert os.listdir("out-helper/operator") == ["record.json"]
            # both promises are printed, and say from whom
            told = read("out-curator/public/statement.txt").decode()
            assert "whoever keeps one of the two doors" in told, told
            one, both = json.loads(read("out-curator/public/privacy.json"))["guarantees"][:2]
            assert one["claimed_epsilon"] == 4 and 2 < both["claimed_epsilon"] < 3, (one, both)
            assert "neither door" in both["adversary"] and "one of the two" in one["adversary"]
            assert abs(both["noise_multiplier"] / one["noise_multiplier"] - 2 ** 0.5) < 1e-9
            # and is another run than one with one door
            plan("other.json", doors=1, **method)
            call("train", "all.csv", "--config", "of-other.json", "-o", "other")
            assert read("other/public/billboard.bin") != read("one/public/billboard.bin")


def whoever_is_killed_goes_on_and_ledgers_are_charged_once():
    for way in ("socket", "folder"):
        with folder():
            plan(doors=2, rounds=40)
            make_keys(["helper"])
            places = {who: begin(who, way) for who in ALL}
            killed = until_all_have_ended(places, lambda who: begin(who, way),
                                          random.Random(17), 20)
            assert killed > 7, killed
            check_as_one()
    with folder():
        plan(doors=2, rounds=40, seed=None)
        policy(**{"allow-open": False})
        make_keys(["helper"])

        def again(who):
            of = {"curator": "leads.ledger", "helper": "helps.ledger"}
            return begin(who, more=ledger(of[who]) if who in of else [])

        places = {who: again(who) for who in ALL}
        until_all_have_ended(places, again, random.Random(18), 20)
        for name in ("leads.ledger", "helps.ledger"):
            assert [e["state"] for e in entries(name)] == ["done"], (name, entries(name))
        assert record_of("helper")["charged"] == {
            "ledger": "helps.ledger", "entry": 1, "epsilon": 4, "delta": 1e-5,
            "adjacency": "replace-one"}, record_of("helper")
        one, both = json.loads(read("out-curator/public/privacy.json"))["guarantees"][:2]
        assert one["epsilon"] == 4 and 2 < both["epsilon"] < 3


def either_ledger_refuses():
    small = ["--ledger", "small.ledger", "--population", "all", "--budget-epsilon", "1",
             "--budget-delta", "1e-5"]
    with folder():
        plan(doors=2, seed=None)
        policy(**{"allow-open": False})
        make_keys(["helper"])
        places = {who: begin(who, more=small if who == "helper" else []) for who in ALL}
        ends(places["helper"], 3, "helper")
        wait_for(lambda: "the helper refuses to take part: its own ledger" in said("curator"))
        assert not os.path.exists("small.ledger") and not os.path.exists("helper.state")
        for who in ["curator", *SILOS]:
            places[who].send_signal(signal.SIGINT)
            ends(places[who], 130, who)


def a_run_that_never_begins_costs_the_helper_nothing():
    """Nor does a ledger that is full when it has joined; it goes on when there is room."""
    full = [word if word != "4" else "1" for word in ledger("helps.ledger")]
    with folder():
        plan(doors=2, seed=None)
        policy(**{"allow-open": False})
        make_keys(["helper"])

        def helps(of):
            return begin("helper", "folder", more=of)

        places = {"curator": begin("curator", "folder"), "helper": helps(ledger("helps.ledger"))}
        wait_for(lambda: "helper is there" in said("curator"))
        time.sleep(0.5)
        wait_for(lambda: not messages_in("box/curator"))  # it has joined
        places["helper"].send_signal(signal.SIGINT)
        ends(places["helper"], 130, "helper")
        assert not os.path.exists("helps.ledger"), entries("helps.ledger")
        ends(helps(full), 3, "helper")
        wait_for(lambda: "the helper refuses to take part: its own ledger" in said("curator"))
        assert not os.path.exists("helps.ledger") and os.path.exists("helper.state")
        places["helper"] = helps(ledger("helps.ledger"))
        places |= {who: begin(who, "folder") for who in SILOS}
        for who, process in places.items():
            ends(process, who=who)
        assert [e["state"] for e in entries("helps.ledger")] == ["done"]
        assert record_of("helper")["charged"]["entry"] == 1, record_of("helper")


def a_helper_whose_ledger_has_no_room_any_more_is_kept():
    """Another run has taken it between the offer and the first round: nobody else has this run's
    key, with which it goes on when there is room."""
    with folder():
        plan(doors=2, seed=None)
        policy(**{"allow-open": False})
        make_keys(["helper"])
        places = {"curator": begin("curator", "folder")}
        places["helper"] = begin("helper", "folder", more=ledger("helps.ledger"))
        wait_for(lambda: "helper is there" in said("curator"))
        time.sleep(0.5)
        wait_for(lambda: not messages_in("box/curator"))  # it has joined
        call("synth", "low-rank", "--tasks", "24", "--features", "2", "-o", "some.csv")
        call("train", "some.csv", "--method", "fedprox", "--epsilon", "3",
             *ledger("helps.ledger"), "-o", "some")
        places |= {who: begin(who, "folder") for who in SILOS}
        ends(places["helper"], 3, "helper")
        assert [e["epsilon"] for e in entries("helps.ledger")] == [3], entries("helps.ledger")
        assert os.path.exists("helper.state")
        wait_for(lambda: "the helper refuses to take part: its own ledger" in said("curator"))
        places["helper"] = begin("helper", "folder", more=ledger("other.ledger"))
        for who, process in places.items():
            ends(process, who=who)
        assert [e["state"] for e in entries("other.ledger")] == ["done"]


def a_silo_that_drops_out_costs_nothing_more():
    """One is there at the beginning, and gone for the rest: the doors agree on the others."""
    with folder():
        plan(doors=2, fewest=2)
        make_keys(["helper"])
        places = {who: begin(who, more=["--patience", "0.5"] if who == "curator" else [])
                  for who in ["curator", "helper", "north", "south"]}
        for who, process in places.items():
            ends(process, who=who)
        hashes = {json.load(open(f"out-{who}/operator/run.json"))["billboard_sha256"]
                  for who in ["curator", "north", "south"]}
        assert len(hashes) == 1
        assert len(models_of("out-north")) > 1 and not os.path.exists("out-east")


def a_silo_that_is_lost_is_waited_for_once():
    with folder():
        plan(doors=2, fewest=2, rounds=60)
        make_keys(["helper"])
        places = {who: begin(who, more=["--patience", "2"] if who == "curator" else [])
                  for who in ALL}
        wait_for(lambda: os.path.getsize("curator.state") > 3000  # a round was published
                 if os.path.exists("curator.state") else False)
        places["east"].kill()
        places.pop("east").wait()
        lost = time.monotonic()
        wait_for(lambda: "goes on without east" in said("curator"))
        for who in ("north", "south"):
            ends(places.pop(who), who=who)
        assert time.monotonic() - lost < 2 * 2 + 10, said("curator")  # not 2 s a round
        assert said("curator").count("goes on without east") == 1, said("curator")
        begin("east")
        wait_for(lambda: "east is back" in said("curator"))
        for who, process in [*places.items(), ("east", started[-1])]:
            ends(process, who=who)
        whole = record_of("curator")
        assert whole["silos"][2]["rounds_answered"] < whole["rounds"] == 60, whole


def sums_are_hidden_from_each_door():
    """What two runs of the same seed send: the same models, and no share alike; and the seeds
    that the helper is told of are sealed."""
    seen = []
    with folder():
        plan(doors=2, rounds=3)
        make_keys(["helper"])
        for run in range(2):
            shares, seeds = {}, []

            def spy(to, frame):
                silo, = struct.unpack_from("<I", frame, SILO_AT)
                if kind_of(frame) == SUM and silo <= len(SILOS):
                    shares[(silo, struct.unpack_from("<I", frame, 48)[0])] = frame[HEADER + 84:]
                if kind_of(frame) == SEEDS:
                    seeds.append(frame)
                return [(to, frame)] * 2  # and everything twice

            conduct_by_hand(spy, ALL)
            seen.append((shares, read("out-curator/public/billboard.bin")))
            assert len(shares) == 9 and len(seeds) >= 3
            # bytes of uniform numbers: of 2^64 the highest byte takes nearly all values
            high = {share[k] for share in shares.values() for k in range(15, len(share), 8)}
            assert len(high) > 15, high
            for who in ALL:
                shutil.rmtree(f"out-{who}", ignore_errors=True)
    (first, one), (second, other) = seen
    assert one == other
    assert all(first[key] != second[key] for key in first)


def what_two_doors_need_is_told():
    with folder():
        keys = make_keys(["helper", "stranger"])
        policy(helpers=keys["stranger"])
        plan(doors=2)
        ends(begin("north", "folder"), 2)
        assert "does not know the helper " + keys["helper"] in said("north"), said("north")
        policy(helpers=keys["helper"])
        plan("one.json")
        ends(begin("south", "folder", plan="one.json"), 2)
        assert "asks for two doors" in said("south"), said("south")
        assert [kind_of(m) for m in messages_in("box/curator")] == [REFUSE, REFUSE]
        cases = [("helper", "plan.json", [], "whose --key?"),
                 ("curator", "plan.json", [], "two doors need keys"),
                 ("helper", "one.json", signs("helper"), "needs no helper"),
                 ("helper", "plan.json", signs("stranger"), "has for the helper")]
        plan("selects.json", doors=2, method="mp-lowrank")
        plan("samples.json", doors=2, sampling="fixed:8")
        plan("open.json", doors=2, mechanism="none", epsilon=None)
        cases += [("curator", "selects.json", signs("curator"), "cannot select privately"),
                  ("curator", "samples.json", signs("curator"), "need not draw it fairly"),
                  ("curator", "open.json", signs("curator"), "mechanism none has one")]
        for who, of, more, words in cases:
            done = subprocess.run(line_of(who, "folder", plan=of, more=more),
                                  capture_output=True, text=True)
            assert done.returncode == 2 and words in done.stderr, (who, of, done)
            for name in [name for name in os.listdir(".") if name.startswith(f"{who}.state")]:
                os.remove(name)
        # a roster without helper
        call("identity", "roster", "bare.json", "--key", "curator.key",
             *[f"{silo}={keys[silo]}" for silo in SILOS])
        done = subprocess.run(line_of("curator", "folder", more=signs("curator", "bare.json")),
                              capture_output=True, text=True)
        assert done.returncode == 2 and "names no helper" in done.stderr, done


def a_helper_that_lost_its_state_is_not_taken():
    with folder():
        plan(doors=2, rounds=10)
        make_keys(["helper"])
        places = {who: begin(who, "folder") for who in ["curator", "helper", *SILOS[1:]]}
        wait_for(lambda: "helper is there" in said("curator"))
        places["north"] = begin("north", "folder")
        places["north"].send_signal(signal.SIGSTOP)  # some round waits for it, or none begins
        wait_for(lambda: os.path.exists("helper.state"))
        places["helper"].kill()
        places["helper"].wait()
        os.remove("helper.state")
        places["north"].send_signal(signal.SIGCONT)
        places["helper"] = begin("helper", "folder")
        wait_for(lambda: "the helper has begun anew" in said("curator")
                 or os.path.exists("out-curator"))
        for process in places.values():
            process.send_signal(signal.SIGINT)
            process.wait()


for case in [two_doors_give_the_models_of_one_process,
             whoever_is_killed_goes_on_and_ledgers_are_charged_once, either_ledger_refuses,
             a_run_that_never_begins_costs_the_helper_nothing,
             a_helper_whose_ledger_has_no_room_any_more_is_kept,
             a_silo_that_drops_out_costs_nothing_more, a_silo_that_is_lost_is_waited_for_once,
             sums_are_hidden_from_each_door,
             what_two_doors_need_is_told, a_helper_that_lost_its_state_is_not_taken]:
    if len(sys.argv) > 2 and sys.argv[2] not in case.__name__:
        continue
    began = time.monotonic()
    case()
    print(f"{case.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)
