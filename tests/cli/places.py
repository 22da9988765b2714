"""Runs `billboard silo` and `billboard curator` as processes of their own: the same models and
billboard as in one process, over every carrier, and whoever is killed; and what ends badly ends
with one message.

    places.py BILLBOARD
"""
import contextlib, json, os, random, shutil, signal, socket, ssl, struct, subprocess, sys
import threading, time

from joint import *

# -- cases --


def every_carrier_gives_the_models_of_one_process():
    for way in ("socket", "folder"):
        with folder():
            places = {who: start(who, way) for who in ["curator", *SILOS]}
            for who, process in places.items():
                ends(process, who=who)
            check_as_one()
            assert not os.path.exists("run.sock")


def places_find_common_units_and_narrower_ranges():
    some = {"columns": {FEATURES[0]: [-2, 2]}, "others": "open"}
    wide = {"columns": {FEATURES[0]: [-80, 80]}, "others": [-2, 2], "target": [-9, 9]}
    for scale, epsilon, block in ((None, 20, "units"), (some, 20, "units"),
                                  (wide, 100, "widths in ranges")):
        with folder():
            plan(method=None, rounds=None, epsilon=epsilon, scale=scale)
            policy(**{"most-epsilon": epsilon})
            places = {who: start(who, "socket") for who in ["curator", *SILOS]}
            for who, process in places.items():
                ends(process, who=who)
            check_as_one()
            with open("one/public/billboard.json") as f:
                assert f'"{block}"' in f.read()


def every_place_is_told_that_nothing_was_found():
    """Of the last phase, or of one before it."""
    mixed = {"method": None, "rounds": None, "scale": {"others": [-2, 2], "target": [-9, 9]}}
    for options, words in ((mixed, "so few tasks cannot see anything"),
                           ({}, "the guard found nothing")):
        with folder():
            plan(**{"epsilon": 0.05, **options})
            places = {who: start(who, "socket") for who in ["curator", *SILOS]}
            for who, process in places.items():
                ends(process, who=who)
            check_as_one()
            assert words in said("north"), said("north")
            with open("out-north/operator/run.json") as f:
                assert words in json.load(f)["note"]
            call("report", "out-north", "-o", "north.html")
            assert words in read("north.html").decode()


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


def signed_places_give_the_models_of_one_process():
    with folder():
        keys = make_keys()
        assert all(os.stat(f"{who}.key").st_mode & 0o777 == 0o600 for who in keys)
        assert call("identity", "show", "north.key") == keys["north"] + "\n"
        told = call("identity", "check", "roster.json")
        assert all(key in told for key in keys.values()), told
        policy(curators=keys["curator"])
        for way in ("socket", "folder"):
            places = {who: start(who, way, more=signs(who)) for who in ["curator", *SILOS]}
            for who, process in places.items():
                ends(process, who=who)
            check_as_one()
            for who in ["one", *(f"out-{w}" for w in ["curator", *SILOS])]:
                shutil.rmtree(who)


def whoever_signs_and_is_killed_goes_on():
    for way in ("socket", "folder"):
        with folder():
            plan(rounds=40)
            make_keys()

            def begin(who):
                return start(who, way, more=signs(who))

            places = {who: begin(who) for who in ["curator", *SILOS]}
            killed = until_all_have_ended(places, begin, random.Random(13), 15)
            assert killed > 7, killed
            check_as_one()


def who_is_started_again_after_the_end_has_nothing_to_do():
    with folder():
        every = ["curator", *SILOS]
        for process in [start(who, "socket") for who in every]:
            ends(process)
        made = {who: read(f"out-{who}/public/billboard.bin") for who in every}
        for who in every:  # alone: nobody else is there
            ends(start(who, "socket"), who=who)
            assert f"out-{who} has what came of this run, which is over for this place" in said(who)
        check_as_one()
        assert made == {who: read(f"out-{who}/public/billboard.bin") for who in every}
        plan(rounds=7)
        for who in every:
            ends(start(who, "socket"), code=2, who=who)
            assert f"out-{who}: exists already" in said(who)


def nobody_speaks_for_another_and_nothing_is_said_twice():
    with folder():
        make_keys()
        plan(seed=None)
        policy(ledger="joint.ledger", population="all",
               **{"budget-epsilon": 40, "budget-delta": 1e-4})
        heard = []

        def listen(to, frame):
            heard.append((to, frame))
            return [(to, frame)]

        conduct_by_hand(listen)
        assert {kind_of(frame) for _, frame in heard} >= {1, 2, ROUND, SUM, HELLO, BYE}
        for who in ["curator", *SILOS]:
            shutil.rmtree(f"out-{who}")
            os.remove(f"{who}.err")
        played = {"curator": False, **{silo: False for silo in SILOS}}

        def play(to, frame):
            """Before the first frame all that was said to this place in the run before; before
            each one what somebody has changed, and has sealed again."""
            before = []
            if not played[to]:
                before = [(to, old) for at, old in heard if at == to and kind_of(old) != HELLO]
                played[to] = True
            wrong = changed(frame, len(frame) - 1 if len(frame) > HEADER else 48)
            return [*before, (to, wrong), (to, sealed_again(wrong)),
                    (to, changed(frame, SIGNATURE_AT)), (to, frame)]

        conduct_by_hand(play)
        for who, words in [("curator", ["a frame of another run", "key of silo 1", "key of silo 3",
                                        "SHA-256 is not that of its bytes"]),
                           ("north", ["an earlier start of this silo, or a replay",
                                      "not signed with the key of the curator",
                                      "SHA-256 is not that of its bytes"])]:
            for word in words:
                assert word in said(who), (who, word, said(who))
        # each of three silos has paid for each of two runs, once
        kept = json.loads(call("ledger", "joint.ledger", "--json"))
        assert [e["state"] for e in kept["entries"]] == 6 * ["done"], kept
        hashes = {json.load(open(f"out-{who}/operator/run.json"))["billboard_sha256"]
                  for who in ["curator", *SILOS]}
        assert len(hashes) == 1, hashes


def keys_that_are_not_the_places():
    with folder():
        keys = make_keys(more=["stranger"])
        roster = json.loads(read("roster.json"))
        write("short.json", {"options": {}})
        other = dict(roster, silos=dict(roster["silos"], north=keys["stranger"]))
        write("tampered.json", other)
        write("unsigned.json", {"curator": roster["curator"], "silos": roster["silos"]})
        call("identity", "roster", "two.json", "--key", "curator.key",
             f"north={keys['north']}", f"south={keys['south']}")
        shutil.copy("north.key", "open.key")
        os.chmod("open.key", 0o644)
        write("none.key", "no key")
        os.chmod("none.key", 0o600)
        for key, roster_at, code, words in [
                ("stranger.key", "roster.json", 2, "is not the key that roster.json has for silo "
                 "north"),
                ("south.key", "roster.json", 2, "is not the key that"),
                ("north.key", "two.json", 2, "two.json: there is no key of silo \"east\""),
                ("north.key", "tampered.json", 1, "has not signed it as it is"),
                ("north.key", "unsigned.json", 2, "expected a roster of keys"),
                ("north.key", "short.json", 2, "expected a roster of keys"),
                ("open.key", "roster.json", 2, "open.key: a private key that others may read"),
                ("none.key", "roster.json", 1, "none.key: expected a private key"),
                ("north.key", "no.json", 1, "no.json")]:
            done = subprocess.run([*line_of("north", "folder"), "--key", key, "--roster",
                                   roster_at], capture_output=True, text=True)
            assert done.returncode == code and words in done.stderr, (key, roster_at, done)
            assert not os.path.exists("north.state"), key
        done = subprocess.run([*line_of("curator", "folder"), "--key", "north.key", "--roster",
                               "roster.json"], capture_output=True, text=True)
        assert done.returncode == 2 and "has for the curator" in done.stderr, done
        done = subprocess.run([BILLBOARD, "identity", "new", "north.key"], capture_output=True,
                              text=True)
        assert done.returncode == 2 and "north.key: exists already" in done.stderr, done
        # a policy that pins another curator, and one that wants signatures
        policy(curators=keys["stranger"])
        ends(start("north", "folder", more=signs("north")), 2)
        assert "does not know the curator " + keys["curator"] in said("north"), said("north")
        policy(curators=keys["curator"])
        ends(start("north", "folder"), 2)
        assert "asks for a curator that signs" in said("north"), said("north")
        assert [kind_of(m) for m in messages_in("box/curator")] == [REFUSE, REFUSE]


def places_of_which_some_sign_do_not_go_together():
    with folder():
        keys = make_keys()
        places = [start("curator", "socket", more=signs("curator")), start("north", "socket")]
        wait_for(lambda: "a frame that is not signed: by the roster silo 1 signs" in said(
            "curator"))
        call("identity", "roster", "other.json", "--key", "curator.key",
             *[f"{silo}={keys[silo]}" for silo in SILOS], f"west={keys['north']}")
        places.append(start("south", "socket", more=signs("south", "other.json")))
        wait_for(lambda: "another roster of keys" in said("south"))
        ends(places.pop(), 1)
        for process in places:
            process.send_signal(signal.SIGINT)
            ends(process, 130)
        for name in [name for name in os.listdir(".") if name.endswith(".state")]:
            os.remove(name)
        # and the other way round: the silo's patience, not its trust
        places = [start("curator", "socket"), start("east", "socket", more=signs("east"))]
        wait_for(lambda: "a frame that is not signed: by the roster the curator" in said("east"))
        for process in places:
            process.send_signal(signal.SIGINT)
            ends(process, 130)


def a_silo_may_be_away_for_long():
    """Longer than the whole patience of every round; the curator is killed, too, and ends."""
    with folder():
        plan(fewest=2, rounds=5)
        make_keys()

        def begin(who, more=()):
            return start(who, "folder", more=[*more, *signs(who)])

        places = {who: begin(who) for who in ["curator", "east", "south"]}
        wait_for(lambda: "east is there" in said("curator"))
        time.sleep(0.5)
        wait_for(lambda: not messages_in("box/curator"))  # east has joined
        for who in ("east", "curator"):
            places[who].kill()
            places[who].wait()
        places["north"] = begin("north")
        places["curator"] = begin("curator", ["--patience", "0.4"])
        for who in ("north", "south", "curator"):
            ends(places[who], who=who)
        assert not os.path.exists("out-east") and os.path.exists("out-curator")
        assert "east has not said that it has its models: until it has, curator.state" in said(
            "curator"), said("curator")
        time.sleep(1)
        places = {who: begin(who) for who in ("curator", "east")}
        for who, process in places.items():
            ends(process, who=who)
        hashes = {json.load(open(f"out-{who}/operator/run.json"))["billboard_sha256"]
                  for who in ["curator", *SILOS]}
        assert len(hashes) == 1, hashes
        assert len(models_of("out-east")) > 1 and not os.path.exists("curator.state")


def mutual_tls_carries_frames_between_those_who_may():
    if not shutil.which("openssl"):
        return
    with folder():
        make_authority("joint")
        make_authority("foreign")
        for who in ("curator", *SILOS):
            make_certificate(who)
        make_certificate("stranger", "foreign")
        make_certificate("expired", days="0")
        at = f"127.0.0.1:{free_port()}"
        ways = {who: start_tls("silo", at, f"{who}.sock", who)
                for who in [*SILOS, "stranger", "expired"]}
        # one who takes the foreign authority for the curator's
        ways["fooled"] = start_tls("silo", at, "fooled.sock", "east", "foreign")
        ways["curator"] = start_tls("curator", at, "run.sock", "curator")
        places = {"curator": start("curator", "socket")}
        try:
            wait_for(lambda: os.path.exists("run.sock") and all(
                os.path.exists(f"{who}.sock") for who in [*SILOS, "stranger", "expired"]))
            time.sleep(1.5)  # until a certificate of no days has expired
            for who, words in [("stranger", "unable to get local issuer certificate"),
                               ("expired", "certificate has expired")]:
                line = [f"{who}.sock" if word == "run.sock" else word
                        for word in line_of("east", "socket")]
                refused = subprocess.Popen(line, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                wait_for(lambda: words in said("curator-tls"))
                refused.send_signal(signal.SIGINT)
                ends(refused, 130)
            with socket.socket(socket.AF_UNIX) as s:
                s.connect("fooled.sock")
                wait_for(lambda: "certificate verify failed" in said("east-tls"))
            # and one without any
            tls = ssl.create_default_context(cafile="joint.crt")
            host, port = at.split(":")
            with socket.create_connection((host, int(port))) as s:
                with contextlib.suppress(OSError):
                    with tls.wrap_socket(s, server_hostname=host) as bare:
                        bare.sendall(b"x")
                        assert bare.recv(1) == b"", "it was let in"
                wait_for(lambda: "did not return a certificate" in said("curator-tls"))
            assert "there" not in said("curator"), said("curator")
            for who in SILOS:
                line = [f"{who}.sock" if word == "run.sock" else word
                        for word in line_of(who, "socket")]
                with open(f"{who}.err", "a") as errors:
                    places[who] = subprocess.Popen(line, stdout=errors, stderr=errors)
            for who, process in places.items():
                ends(process, who=who)
            for name in [name for name in os.listdir(".") if name.startswith("east.state")]:
                os.remove(name)
            check_as_one()
        finally:
            for process in [*ways.values(), *places.values()]:
                process.kill()
                process.wait()


def a_silo_that_comes_too_late_is_told():
    with folder():
        plan(fewest=1)
        places = {"south": start("south", "folder"),
                  "curator": start("curator", "folder", more=["--patience", "0.4"])}
        ends(places["south"], who="south")
        ends(places["curator"], who="curator")
        ends(start("east", "folder"), 130, "east")
        assert "the run has begun without this silo\n" in said("east"), said("east")
        assert not os.path.exists("east.state")
    with folder():  # and the curator says so, if it is there
        plan(fewest=2, rounds=200)
        places = {"curator": start("curator", "socket", more=["--patience", "1"])}
        places |= {who: start(who, "socket") for who in ("north", "south")}
        wait_for(lambda: "of the plan are at no place" in said("curator"))  # it has begun
        places["north"].send_signal(signal.SIGSTOP)  # and some round waits for it
        ends(start("east", "socket"), 130, "east")
        assert "the run has begun without this silo\n" in said("east"), said("east")
        assert "billboard: east is there, too late for this run, which has begun without it: it " \
            "is told so\n" in said("curator"), said("curator")
        assert said("curator").count("too late") == 1, said("curator")
        places["north"].send_signal(signal.SIGCONT)
        for who, process in places.items():
            ends(process, who=who)


def a_curator_killed_at_the_end_waits_for_nobody_who_has_gone():
    for _ in range(5):  # until some silo has said that it goes when the curator was killed
        with folder():
            places = {who: start(who, "folder") for who in ["curator", *SILOS]}
            wait_for(lambda: os.path.exists("out-curator"))
            places["curator"].kill()
            places["curator"].wait()
            wait_for(lambda: all(os.path.exists(f"out-{silo}") for silo in SILOS))
            time.sleep(0.5)
            unanswered = {silo for silo in SILOS if places[silo].poll() is None}
            for silo in SILOS:  # it waits for an answer, for a while
                places[silo].send_signal(signal.SIGTERM)
                ends(places[silo], who=silo)
            waiting = {}
            for name in sorted(x for x in os.listdir("box/curator") if x[0] != "."):
                frame = read(f"box/curator/{name}")
                if kind_of(frame) == BYE:
                    waiting.setdefault(struct.unpack_from("<I", frame, SILO_AT)[0], []).append(
                        name)
                else:
                    os.remove(f"box/curator/{name}")
            for names in waiting.values():
                for name in names[1:]:
                    os.remove(f"box/curator/{name}")
            byes = [names[0] for names in waiting.values()]
            if not byes or not os.path.exists("curator.state"):
                continue
            kept = {name: read(f"box/curator/{name}") for name in byes}
            gone = [SILOS[struct.unpack_from("<I", kept[name], SILO_AT)[0] - 1] for name in byes]
            if unanswered - set(gone):  # taken, but how far the curator came with it is not known
                continue
            for name in byes[1:]:
                os.remove(f"box/curator/{name}")
            os.remove("curator.err")
            ends(start("curator", "folder", more=["--patience", "0.5"]), who="curator")
            for silo in SILOS:
                waits = f"{silo} has not said that it has its models" in said("curator")
                assert waits == (silo in gone[1:]), (silo, gone, said("curator"))
            assert os.path.exists("curator.state") == (len(gone) > 1)
            if len(gone) == 1:
                continue
            for name in byes[1:]:
                with open(f"box/curator/{name}", "wb") as f:
                    f.write(kept[name])
            ends(start("curator", "folder"), who="curator")
            assert not os.path.exists("curator.state")
            return
    raise AssertionError("no silo was late")


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
        check_records()
        for who, name in [("curator", "joint.ledger"), ("north", "north.ledger")]:
            charged = record_of(who)["charged"]
            assert charged == {"ledger": name, "entry": 1, "epsilon": 4, "delta": 1e-5,
                               "adjacency": "replace-one"}, charged
        assert record_of("south")["charged"] is None


def who_has_lost_a_checkpoint_is_told_that_it_is_charged_again():
    with folder():
        plan(seed=None, rounds=100)
        policy(ledger="north.ledger", **{"budget-epsilon": 8, "budget-delta": 1e-4,
                                         "allow-open": False})
        policy("other.json", **{"allow-open": False})

        def begin(who, *more):
            return start(who, "socket", more=more,
                         policy="policy.json" if who == "north" else "other.json")

        places = {who: begin(who) for who in ["curator", *SILOS]}
        wait_for(lambda: " running " in subprocess.run(
            [BILLBOARD, "ledger", "north.ledger"], capture_output=True, text=True).stdout)
        places["north"].kill()
        places["north"].wait()
        assert "entry 1" not in said("north")
        os.remove("north.state")
        places["north"] = begin("north")
        for who, process in places.items():
            ends(process, who=who)
        check_records()
        assert record_of("north")["charged"]["entry"] == 2
        assert "entry 1 of the ledger" in said("north") and "(died)" in said("north")
        kept = json.loads(call("ledger", "north.ledger", "--json"))
        assert [e["state"] for e in kept["entries"]] == ["died", "done"], kept


def a_checkpoint_from_before_the_charge_has_it_too():
    """As of a process that was killed behind the charge, before it could write that down."""
    with folder():
        plan(seed=None, rounds=100)
        policy(ledger="north.ledger", **{"budget-epsilon": 8, "budget-delta": 1e-4,
                                         "allow-open": False})
        policy("other.json", **{"allow-open": False})
        places = {who: start(who, "socket") for who in ("curator", "north")}
        wait_for(lambda: os.path.exists("north.state") and "north is there" in said("curator"))
        shutil.copy("north.state", "before.state")
        places |= {who: start(who, "socket", policy="other.json") for who in SILOS[1:]}
        wait_for(lambda: os.path.exists("north.ledger") and " running " in subprocess.run(
            [BILLBOARD, "ledger", "north.ledger"], capture_output=True, text=True).stdout)
        places["north"].kill()
        places["north"].wait()
        os.replace("before.state", "north.state")
        looked = subprocess.run([*line_of("north", "socket"), "--check"], capture_output=True,
                                text=True)
        assert "has charged it, which goes on" in looked.stdout, looked
        places["north"] = start("north", "socket")
        for who, process in places.items():
            ends(process, who=who)
        assert "beside it" not in said("north") + looked.stderr, said("north")
        kept = json.loads(call("ledger", "north.ledger", "--json"))
        assert [e["state"] for e in kept["entries"]] == ["done"], kept


def names_of_tasks_that_look_the_same():
    """Blanks at their ends are no part of them in a plan either; two normal forms of Unicode are
    told apart, with a message that says so."""
    with folder():
        plan()
        agreed = json.loads(read("plan.json"))
        agreed["tasks"] = [f"\t{name} " if k % 2 else name for k, name in
                           enumerate(agreed["tasks"])]
        write("plan.json", agreed)
        places = {who: start(who, "socket") for who in ["curator", *SILOS]}
        for who, process in places.items():
            ends(process, who=who)
        check_as_one()
    with folder():
        agreed = json.loads(read("plan.json"))
        [first, *others] = agreed["tasks"]
        write("plan.json", {**agreed, "tasks": ["K\u00f6ln", *others]})
        silo = SILOS[SILOS.index(site_of(int(first[4:])))]
        write(f"{silo}.csv", read(f"{silo}.csv").decode().replace(f"{first},", "Ko\u0308ln,"))
        done = subprocess.run([*line_of(silo, "socket"), "--check"], capture_output=True, text=True)
        assert done.returncode == 1, done
        assert "task \"Ko\u0308ln\" is not one of the run's 24 tasks; \"K\u00f6ln\" is one, which " \
            "looks the same, and is in another normal form of Unicode (NFC or NFD)" in done.stderr
        write("plan.json", {**agreed, "tasks": [" ", *others]})
        done = subprocess.run([*line_of(silo, "socket"), "--check"], capture_output=True, text=True)
        assert done.returncode == 2 and "a list of names, none empty" in done.stderr, done


def a_curators_model_answers_rows_of_any_column_of_tasks():
    """A plan need not name them: then the run has no names for them either."""
    with folder():
        plan(task=None, scale={"others": [-1, 1], "target": [-3, 3]})
        places = {who: start(who, "socket", more=["--task", "ward"] if who in SILOS else ())
                  for who in ["curator", *SILOS]}
        for who, process in places.items():
            ends(process, who=who)
        write("new.csv", "bed,age,dose\nb1,0.5,0\nb2,-0.5,0\n")
        told = call("predict", "out-curator", "new.csv", "--task", "bed", "--unknown", "shared",
                    "-o", "-")
        assert [line.split(",")[0] for line in told.split()] == ["task", "b1", "b2"], told


def a_box_of_a_folder_is_read_by_one_process():
    """The second is told, and says nothing to others; the first one's run goes on."""
    with folder():
        places = {who: start(who, "folder") for who in ("curator", "north")}
        wait_for(lambda: "north is there" in said("curator"))
        for who, box in (("curator", "box/curator"), ("north", "box/silo-1")):
            line = line_of(who, "folder")
            line[line.index(f"{who}.state")] = "other.state"
            second = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT)
            assert second.returncode == 1 and second.stderr.endswith(
                f"billboard: {box}: is in use already: another process reads the messages of this "
                "place\n"), second
            with contextlib.suppress(FileNotFoundError):
                os.remove("other.state")  # of a run of which nobody has heard
        places["north"].kill()  # whose successor finds the box free
        places["north"].wait()
        places["north"] = start("north", "folder")
        places.update({who: start(who, "folder") for who in SILOS[1:]})
        for who, process in places.items():
            ends(process, who=who)
        check_as_one()


def two_silos_of_one_name_at_a_socket_are_told_to_the_curator():
    with folder():
        words = "north speaks by a second connection while its first is open"
        places = [start(who, "socket") for who in ("curator", "north")]
        wait_for(lambda: "north is there" in said("curator"))
        places[0].send_signal(signal.SIGSTOP)  # who is killed and comes back has one connection
        places[1].kill()
        places[1].wait()
        places[1] = start("north", "socket")
        time.sleep(0.5)
        places[0].send_signal(signal.SIGCONT)
        time.sleep(1)
        assert words not in said("curator"), said("curator")
        again = line_of("north", "socket")
        again[again.index("north.state")] = "other.state"
        places.append(subprocess.Popen(again, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL))
        started.append(places[-1])
        wait_for(lambda: words in said("curator"))
        for place in places:
            place.send_signal(signal.SIGINT)
            ends(place, 130)


def a_silo_says_where_it_hears_nothing():
    with folder():
        places = [start("north", "socket"), start("south", "folder")]
        wait_for(lambda: "no word from the curator yet: nobody is at the socket run.sock" in said(
            "north"))
        wait_for(lambda: "no word from the curator yet (box): it is not there" in said("south"))
        for place in places:
            place.send_signal(signal.SIGINT)
            ends(place, 130)


def who_looks_needs_no_box():
    with folder():
        places = {who: start(who, "folder") for who in ("curator", "north")}
        wait_for(lambda: "north is there" in said("curator"))
        line = line_of("north", "folder")
        line[line.index("north.state")] = "other.state"
        looked = subprocess.run([*line, "--check"], capture_output=True, text=True, timeout=LIMIT)
        assert looked.returncode == 0 and "could take part" in looked.stdout, looked
        places.update({who: start(who, "folder") for who in SILOS[1:]})
        for who, process in places.items():
            ends(process, who=who)


def a_target_that_the_plan_names_is_the_same_everywhere():
    """Where it names none, each place calls its own as it likes."""
    with folder():
        rows = read("north.csv").decode().replace(",y\n", ",y,cost\n", 1)
        write("north.csv", "".join(line + ("" if line.startswith("ward,") else ",1") + "\n"
                                   for line in rows.splitlines()))
        agreed = dict(features="age,dose", scale={"others": [-1, 1], "target": [-3, 3]})
        plan(target="y", **agreed)
        looked = subprocess.run([*line_of("north", "socket", more=["--target", "cost"]),
                                 "--check"], capture_output=True, text=True)
        assert looked.returncode == 2 and looked.stderr.splitlines()[-1] == (
            'billboard: --target cost: the target that all places have agreed on is "y"; only where '
            'none is named each may call it otherwise'), looked
        looked = call(*line_of("north", "socket")[1:], "--check")
        assert 'columns    2, to predict "y"\n' in looked, looked
        plan("other.json", target="cost", **agreed)  # not the same file everywhere
        places = {who: start(who, "socket") for who in ("curator", "south", "east")}
        ends(start("north", "socket", plan="other.json"), 1, "north")
        assert "not the one that this silo agreed to: the names of tasks, features or target" in \
            said("north"), said("north")
        places["north"] = start("north", "socket")
        for who, process in places.items():
            ends(process, who=who)
    with folder():
        write("north.csv", read("north.csv").decode().replace(",y\n", ",outcome\n", 1))
        places = {who: start(who, "socket", more=["--target", "outcome"] if who == "north" else ())
                  for who in ["curator", *SILOS]}
        for who, process in places.items():
            ends(process, who=who)
        check_as_one()


def who_waits_says_for_whom_on_a_terminal():
    """And nowhere else: in one line, which is gone at the end."""
    try:
        ours, theirs = os.openpty()
    except OSError:  # a container without terminals
        return
    os.set_blocking(ours, False)
    seen = b""

    def shown(words):
        nonlocal seen
        with contextlib.suppress(BlockingIOError):
            seen += os.read(ours, 1 << 16)
        return words in seen.decode()

    with folder():
        plan(rounds=40)
        north = subprocess.Popen(line_of("north", "socket"), stdout=subprocess.DEVNULL,
                                 stderr=theirs)
        started.append(north)
        wait_for(lambda: shown("\r\x1b[Kwaiting for the curator (run.sock) since "))
        places = {who: start(who, "socket") for who in ("curator", "south")}
        wait_for(lambda: shown("\r\x1b[Kwaiting for the other places to join since "))
        wait_for(lambda: "south is there" in said("curator"))
        time.sleep(0.7)  # it has joined
        places["south"].send_signal(signal.SIGSTOP)
        places["east"] = start("east", "socket")
        wait_for(lambda: shown("\r\x1b[Kwaiting for the other places since "))
        places["south"].send_signal(signal.SIGCONT)
        ends(north)
        for who, process in places.items():
            ends(process, who=who)
            assert "waiting for the" not in said(who) and "\r" not in said(who), said(who)
        shown("")
        assert seen.endswith(b"\r\x1b[K"), seen[-200:]
        check_as_one()
    os.close(ours)
    os.close(theirs)


def a_silo_that_never_comes_is_not_waited_for():
    with folder():
        plan(fewest=2)
        call("train", "all.csv", "--config", "of-plan.json", "-o", "whole")
        places = {who: start(who, "socket") for who in SILOS[:2]}
        places["curator"] = start("curator", "socket", more=["--patience", "0.5"])
        for who, process in places.items():
            ends(process, who=who)
        assert read("whole/public/billboard.bin") != read("out-curator/public/billboard.bin")
        away = sum(site_of(t) == "east" for t in range(TASKS))
        assert f"{away} of {TASKS} tasks of the plan are at no place" in said("curator")
        assert "no place" not in read("out-curator/public/statement.txt").decode()
        check_records(SILOS[:2])
        assert len(models_of("out-north")) + len(models_of("out-south")) == 2 + sum(
            site_of(t) != "east" for t in range(TASKS))


def who_was_lost_is_written_down():
    with folder():
        plan(fewest=2, rounds=60)
        places = {who: start(who, "socket") for who in SILOS}
        places["curator"] = start("curator", "socket")  # all have time to join
        # a round was published, which without --patience all have answered
        wait_for(lambda: os.path.exists("curator.state") and os.path.getsize("curator.state") > 3000)
        for who in ("east", "curator"):
            places[who].kill()
            places.pop(who).wait()
        places["curator"] = start("curator", "socket", more=["--patience", "0.05"])
        for who in SILOS[:2]:
            ends(places[who], who=who)
        ends(places["curator"], who="curator")
        whole = record_of("curator")
        answered = {told["name"]: told["rounds_answered"] for told in whole["silos"]}
        assert all(told["joined"] for told in whole["silos"]), whole
        assert answered["east"] < whole["rounds"] == 60, whole
        assert answered["north"] > answered["east"], whole


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
            [told] = messages_in("box/curator")
            assert kind_of(told) == REFUSE and message.encode() in told, told
            shutil.rmtree("box/curator")
            with contextlib.suppress(FileNotFoundError):
                os.remove("north.state")
        policy(**{"fewest-silos": 4})  # what only an offer says
        places = [start(who, "folder") for who in ("curator", "north")]
        ends(places[1], 2)
        assert "asks for 4 silos, not 3" in said("north"), said("north")
        assert not os.path.exists("north.state")
        wait_for(lambda: "refuses" in said("curator"))
        places[0].send_signal(signal.SIGINT)
        ends(places[0], 130)
        assert "north: silo 1 refuses to take part: this silo's policy asks for 4 silos" in said(
            "curator"), said("curator")


def a_plan_whose_rounds_may_have_fewer_silos_than_a_policy_asks_for():
    with folder():
        plan(fewest=2)
        policy(**{"fewest-silos": 3})
        curator = start("curator", "folder")
        ends(start("north", "folder"), 2)
        assert "asks for 3 silos in every round; the plan lets one go on with 2" in said(
            "north"), said("north")
        wait_for(lambda: "north: silo 1 refuses to take part" in said("curator"))
        curator.send_signal(signal.SIGINT)
        ends(curator, 130)
        told = call("policy", "check", "policy.json")
        assert "silos, at least      3 that the plan names, and asks for in every round" in told


def rows_that_are_not_the_plans_are_told_to_their_operator():
    with folder():
        plan(scale={"target": [-3, 3], "columns": {"age": [0, 0.1], "dose": [-1, 1]}})
        places = [start(who, "folder") for who in ("curator", "north")]
        wait_for(lambda: "values lie outside of [0, 0.1], the public range" in said("north"))
        lines = read("north.csv").decode().splitlines()[1:]
        outside = sum(not 0 <= float(line.split(",")[1]) <= 0.1 for line in lines)
        assert f"warning: age: {outside} of {len(lines)} values" in said("north"), said("north")
        assert "dose:" not in said("north")
        wait_for(lambda: "north is there" in said("curator"))
        assert "outside" not in said("curator")
        for place in places:
            place.send_signal(signal.SIGINT)
            ends(place, 130)
        assert not any(b"outside" in message for message in messages_in("box/curator"))
        fields = [line.split(",") for line in read("south.csv").decode().splitlines()]
        write("south.csv", "".join(f"{f[0]},{f[1]},{f[3]}\n" for f in fields))
        ends(start("south", "folder"), 1)
        assert "the plan's features: south.csv: no column \"dose\"" in said("south"), said("south")


def empty_cells_are_in_no_unit():
    """With an indicator they become 0, which is not what the place has measured."""
    with folder():
        ages = [5, 6, 25, "", "", "", "", "", "", ""]  # one of three is outside
        rows = [f"ward{task},{age},,1\n" for task in range(3) for age in ages]
        write("holes.csv", "ward,age,dose,y\n" + "".join(rows))
        write("scale.json", {"columns": {"age": [4, 20], "dose": [60, 250], "age_missing": [0, 1],
                                         "dose_missing": [0, 1]}})
        done = subprocess.run([BILLBOARD, "train", "holes.csv", "--task", "ward", "--missing",
                               "indicator", "--scale", "scale.json", "--epsilon", "1"],
                              capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, done
        assert "age: 3 of 9 values lie outside of [4, 20], the public range:" in done.stderr, done
        assert "dose:" not in done.stderr, done


def columns_that_are_called_like_indicators_are_none():
    """A curator knows as much of it as the silos, though it has read no row."""
    with folder():
        plan(missing="indicator:dose", scale={"target": [-3, 3], "columns": {
            "age": [60, 250], "age_missing": [0, 1], "dose": [-1, 1]}})
        agreed = json.loads(read("plan.json"))
        write("plan.json", {**agreed, "features": ["age", "age_missing", "dose", "dose_missing"]})
        for name in ("all", *SILOS):
            header, *lines = read(f"{name}.csv").decode().splitlines()
            at = header.split(",").index("dose")
            header = header.replace("dose", "age_missing,dose")
            lines = [",".join([*f[:at], str(int(float(f[at]) > 0)), *f[at:]])
                     for f in (line.split(",") for line in lines)]
            write(f"{name}.csv", "\n".join([header, *lines, ""]))
        places = {who: start(who, "socket") for who in ["curator", *SILOS]}
        for who, process in places.items():
            ends(process, who=who)
        check_as_one()
        for who in places:
            steps = json.loads(read(f"out-{who}/operator/preprocessing.json"))
            assert steps["missing"] == {"dose": "dose_missing"}, (who, steps)


def a_run_that_never_begins_costs_nothing():
    with folder():
        plan(seed=None)
        policy(ledger="north.ledger", **{"budget-epsilon": 4, "budget-delta": 1e-5})
        policy("other.json")
        places = [start(who, "socket") for who in ("curator", "north")]
        wait_for(lambda: "north is there" in said("curator"))
        for place in places:
            place.send_signal(signal.SIGINT)
            ends(place, 130)
        assert not os.path.exists("north.ledger")  # nor is anything fixed for later runs
        policy(ledger="north.ledger", **{"budget-epsilon": 5, "budget-delta": 1e-5})
        os.remove("north.state")  # as if a disk were lost
        os.remove("curator.state")
        places = [start(who, "socket") for who in ("curator", "north")]
        places += [start(who, "socket", policy="other.json") for who in SILOS[1:]]
        for place in places:
            ends(place)
        entries = json.loads(call("ledger", "north.ledger", "--json"))["entries"]
        assert [e["state"] for e in entries] == ["done"], entries


def a_silo_can_look_before_it_takes_part():
    """At all that it would look at, by the same line; nothing is left of it."""
    budget = {"ledger": "north.ledger", "budget-epsilon": 4, "budget-delta": 1e-5}

    def look(code, words, *more, policy_of=(), **options):
        plan(seed=None, **options)
        policy(**{"allow-open": False, **dict(policy_of)})
        before = sorted(os.listdir("."))
        done = subprocess.run([*line_of("north", "socket", more=more), "--check"],
                              capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == code, done
        assert words in (done.stderr if code else " ".join(done.stdout.split())), done
        assert sorted(os.listdir(".")) == before
        return done.stdout

    with folder():
        look(0, "rows 36 of 6 tasks; the plan names 24 columns 2, to predict \"y\" asked for fedprox, rounds: 12; "
                "ε 4, δ 1e-05, replace-one, sampling all policy allows it: at most ε 4, δ 1e-05 "
                "ledger none")
        look(0, "would be begun with room for it", policy_of=budget)
        told = json.loads(look(0, "{", "--json", policy_of=budget))
        assert told["tasks"] == 6 and told["policy"]["most_epsilon"] == 4, told
        assert told["ledger"] == {"file": "north.ledger", "new": True, "charged": False,
                                  "budget": {"epsilon": 4, "delta": 1e-5},
                                  "spent": {"epsilon": 0, "delta": 0}}, told
        assert json.loads(look(0, "{", "--json"))["ledger"] is None
        look(3, "north.ledger", policy_of={**budget, "budget-epsilon": 3})
        look(2, "north.ledger: there is no ledger yet", policy_of={"ledger": "north.ledger"})
        look(2, "allows epsilon 3, not 4", policy_of={"most-epsilon": 3})
        look(2, "asks for 4 silos, not 3", policy_of={"fewest-silos": 4})
        look(1, "none.json", scale="none.json")
        look(2, "no silo \"west\"", "--name", "west")
        look(0, "could take part", "--name", "south")  # whose rows these are nobody else knows
        make_keys()
        look(2, "south.key", *signs("south"))
        look(0, "could take part", *signs("north"))
        rows = open("north.csv").read()
        write("north.csv", rows.replace("ward3,", "ward99,"))
        look(1, "ward99")
        write("north.csv", rows.replace("dose", "does"))
        look(1, "\"does\"")
        write("north.csv", rows)
        call("synth", "low-rank", "--tasks", "24", "--features", "2", "-o", "some.csv")
        call("train", "some.csv", "--method", "fedprox", "--epsilon", "3", "--ledger",
             "north.ledger", "--budget-epsilon", "8", "--budget-delta", "1e-4", "-o", "other")
        look(0, "ledger has room for it: of ε 8, δ 0.0001 it has spent ε 3, δ 1e-05",
             policy_of={"ledger": "north.ledger"})
        look(3, "refuses", policy_of={"ledger": "north.ledger", "most-epsilon": 9}, epsilon=6)
        assert len(json.loads(call("ledger", "north.ledger", "--json"))["entries"]) == 1


def a_silo_that_looks_sees_files_that_it_could_not_write():
    """Those of the line that joins, by its codes."""
    budget = {"budget-epsilon": 4, "budget-delta": 1e-5}

    def look(code, words, *more, **policy_of):
        policy(**{"allow-open": False, **policy_of})
        before = sorted(os.listdir("."))
        done = subprocess.run([*line_of("north", "socket", more=more), "--check"],
                              capture_output=True, text=True, timeout=LIMIT)
        said = " ".join((done.stderr if code else done.stdout).split())
        assert done.returncode == code and words in said, (words, done)
        assert sorted(os.listdir(".")) == before

    with folder():
        plan(seed=None)
        os.mkdir("made")
        look(2, "made: exists already", "-o", "made")
        look(1, "none/run: cannot be created: there is no folder none", "-o", "none/run")
        look(1, "none/a.state: cannot be created: there is no folder none", "--checkpoint",
             "none/a.state")
        write("a.state", "garbage")
        look(1, "a.state: is no checkpoint", "--checkpoint", "a.state")
        write("a.state", "")
        look(1, "a.state: is no checkpoint of billboard: it is empty", "--checkpoint", "a.state")
        look(1, "made: ", "--checkpoint", "made")
        look(1, "none/a.ledger: cannot be created: there is no folder none",
             ledger="none/a.ledger", **budget)
        write("a.ledger", "")
        look(0, "would be begun with room", ledger="a.ledger", **budget)
        assert os.path.getsize("a.ledger") == 0
        look(3, "a.ledger", ledger="a.ledger", **{**budget, "budget-epsilon": 3})
        look(2, "a.ledger: there is no ledger yet", ledger="a.ledger")
        assert os.path.getsize("a.ledger") == 0
        if os.geteuid():
            os.chmod("made", 0o500)
            look(1, "made/a.ledger: cannot be created", ledger="made/a.ledger", **budget)
            look(1, "made/run: cannot be created", "-o", "made/run")


def a_silo_that_looks_opens_its_checkpoint():
    """As the line that joins does: with its message and code, and it stays what it was."""
    budget = {"budget-epsilon": 8, "budget-delta": 1e-4, "allow-open": False}

    def begin(who, *more):
        return start(who, "folder", more=more,
                     policy="policy.json" if who == "north" else "other.json")

    def look():
        return subprocess.run([*line_of("north", "folder"), "--check"], capture_output=True,
                              text=True, timeout=LIMIT)

    def refused(code, words):
        kept, ledger = read("north.state"), call("ledger", "north.ledger")
        looked = look()
        ends(begin("north"), code, "north")
        last = said("north").splitlines()[-1]
        assert looked.returncode == code and words in last, (looked, last)
        assert looked.stderr.splitlines()[-1] == last, (looked, last)
        assert (read("north.state"), call("ledger", "north.ledger")) == (kept, ledger)

    def is_quiet():
        kept = read("north.state")
        time.sleep(0.5)
        return read("north.state") == kept

    with folder():
        plan(seed=None, rounds=40)
        policy(ledger="north.ledger", **budget)
        policy("other.json", **{"allow-open": False})
        places = {who: begin(who) for who in ["curator", *SILOS]}
        wait_for(lambda: os.path.exists("north.ledger") and " running " in subprocess.run(
            [BILLBOARD, "ledger", "north.ledger"], capture_output=True, text=True).stdout)
        time.sleep(0.2)  # and the checkpoint says so
        for process in places.values():
            process.kill()
            process.wait()
        assert "has charged it, which goes on from its checkpoint" in look().stdout, look()
        rows = read("north.csv").decode()
        write("north.csv", rows + rows.splitlines()[-1] + "\n")
        ends(begin("north"), 2, "north")  # killed before, it may note only now that it is charged
        refused(2, "north.state: is of other rows, or they were prepared in another way")
        write("north.csv", rows)
        plan(seed=None, rounds=40, epsilon=3)
        refused(2, "north.state: is of another run than this plan's: epsilon: 3 here, 4 there")
        plan(seed=None, rounds=40)
        shutil.move("north.ledger", "away")
        call("synth", "low-rank", "--tasks", "24", "--features", "2", "-o", "some.csv")
        call("train", "some.csv", "--method", "fedprox", "--epsilon", "3", "--ledger",
             "north.ledger", "--budget-epsilon", "8", "--budget-delta", "1e-4", "-o", "some")
        refused(2, "north.ledger has no charge of the run that is to go on")
        shutil.move("away", "north.ledger")
        assert "has charged it, which goes on from its checkpoint" in look().stdout, look()
        north = begin("north")
        wait_for(lambda: look().returncode)  # it has it
        wait_for(lambda: not messages_in("box/silo-1") and is_quiet())  # nor writes to it any more
        refused(2, "north.state: another process has this checkpoint")
        places = {who: begin(who) for who in ["curator", *SILOS[1:]]}
        for who, process in {**places, "north": north}.items():
            ends(process, who=who)


def a_ledger_that_is_lost_is_not_begun_anew():
    """While a checkpoint says that it was charged: the next run would count from zero."""
    with folder():
        plan(seed=None, rounds=100)
        policy(ledger="north.ledger", **{"budget-epsilon": 4, "budget-delta": 1e-5,
                                         "allow-open": False})
        policy("other.json", **{"allow-open": False})
        more = ["--ledger", "joint.ledger", "--population", "all", "--budget-epsilon", "4",
                "--budget-delta", "1e-5"]
        ledgers = {"north": "north.ledger", "curator": "joint.ledger"}

        def begin(who):
            return start(who, "socket", more=more if who == "curator" else (),
                         policy="policy.json" if who == "north" else "other.json")

        places = {who: begin(who) for who in ["curator", *SILOS]}
        wait_for(lambda: all(" running " in subprocess.run(
            [BILLBOARD, "ledger", name], capture_output=True, text=True).stdout
            for name in ledgers.values()))
        time.sleep(0.2)  # and the checkpoints say so
        for who in ledgers:
            places[who].kill()
            places[who].wait()
        os.mkdir("away")
        for who, ledger in ledgers.items():
            moved = [name for name in os.listdir(".") if name.startswith(ledger)]
            for name in moved:
                shutil.move(name, "away")
            words = f"ledger {ledger} is not there, and has charged the run that is to go on"
            for _ in range(2):
                before = len(said(who).splitlines())
                ends(begin(who), 2, who)
                lines = [line for line in said(who).splitlines()[before:]
                         if "only 24 tasks" not in line]
                assert len(lines) == 1 and words in lines[0], lines
                assert not os.path.exists(ledger)
            if who == "north":
                looked = subprocess.run([*line_of(who, "socket"), "--check"],
                                        capture_output=True, text=True)
                assert looked.returncode == 2 and words in looked.stderr, looked
            assert not os.path.exists(ledger)
            for name in moved:
                shutil.move(f"away/{name}", name)
        looked = subprocess.run([*line_of("north", "socket"), "--check"], capture_output=True,
                                text=True)
        assert looked.returncode == 0 and "beside it" not in looked.stderr, looked
        assert "has charged it, which goes on" in looked.stdout, looked
        for who in ledgers:
            places[who] = begin(who)
        for who, process in places.items():
            ends(process, who=who)
        for name in ledgers.values():
            kept = json.loads(call("ledger", name, "--json"))
            assert [e["state"] for e in kept["entries"]] == ["done"], (name, kept)


def what_was_taken_from_the_data_is_refused():
    cases = [({"scale": {"source": "data", "others": [-9, 9], "target": [-9, 9]}}, "ranges"),
             ({"tuned-on-data": True}, "options")]
    with folder():
        policy(**{"allow-open": False})
        for options, word in cases:
            plan(seed=None, **options)
            ends(start("north", "folder"), 2)
            message = f"forbids {word}"
            assert message in said("north"), said("north")
            [told] = messages_in("box/curator")
            assert kind_of(told) == REFUSE and message.encode() in told, told
            shutil.rmtree("box/curator")


def a_ledger_that_refuses_says_so_at_once():
    small = ["--ledger", "joint.ledger", "--population", "all", "--budget-epsilon", "1",
             "--budget-delta", "1e-5"]
    with folder():
        plan(seed=None)
        ends(start("curator", "socket", more=small), 3)  # nobody has joined
        assert "ledger joint.ledger of population \"all\" refuses" in said("curator")
        whole = os.path.realpath("joint.ledger")
        assert f"there is no ledger {whole} yet: it is begun when" in said("curator")
        policy(ledger="north.ledger", **{"budget-epsilon": 1, "budget-delta": 1e-5})
        os.remove("north.csv")  # before a row is looked at, and anybody is there
        ends(start("north", "socket"), 3)
        assert "refuses" in said("north") and "there is no ledger" not in said("north")
        assert not [name for name in os.listdir(".") if ".ledger" in name]


def of_two_runs_that_a_ledger_has_room_for_one_of_the_other_leaves_nothing():
    with folder():
        plan(seed=None)
        policy(ledger="north.ledger", **{"budget-epsilon": 4, "budget-delta": 1e-5})
        policy("other.json")
        WAYS.update({run: ["--socket", f"{run}.sock"] for run in "ab"})

        def begin(who, run):
            return start(who, run, policy="policy.json" if who == "north" else "other.json",
                         more=["--checkpoint", f"{who}-{run}.state", "-o", f"{who}-{run}"])

        places = {(who, run): begin(who, run) for run in "ab" for who in ("curator", "north")}
        wait_for(lambda: all(os.path.exists(f"north-{run}.state") for run in "ab"))
        wait_for(lambda: said("curator").count("north is there") == 2)
        for run in "ab":  # one after the other: the second is refused when it is charged
            places |= {(who, run): begin(who, run) for who in SILOS[1:]}
            if run == "a":
                for who in ["curator", *SILOS]:
                    ends(places.pop((who, run)), who=who)
        ends(places.pop(("north", "b")), 3, "north")
        assert "north.ledger of population \"default\" refuses" in said("north"), said("north")
        assert not os.path.exists("north-b.state")


def a_silo_goes_on_when_its_ledger_has_room_again():
    """Killed before it was charged: started again, it is refused, and its checkpoint stays."""
    with folder():
        plan(seed=None)
        policy("other.json")

        def begin(epsilon):
            policy(ledger="north.ledger", **{"budget-epsilon": epsilon, "budget-delta": 1e-5})
            return start("north", "socket")

        places = {"curator": start("curator", "socket"), "north": begin(4)}
        wait_for(lambda: os.path.exists("north.state") and "north is there" in said("curator"))
        places["north"].kill()
        places["north"].wait()
        kept = read("north.state")
        ends(begin(1), 3, "north")
        assert "of its budget (1, 1e-05) only (1, 1e-05) is left" in said("north"), said("north")
        wait_for(lambda: "its own ledger does not allow it" in said("curator"))
        assert read("north.state") == kept
        places |= {"north": begin(4)}
        places |= {who: start(who, "socket", policy="other.json") for who in SILOS[1:]}
        for who, process in places.items():
            ends(process, who=who)
        [entry] = json.loads(call("ledger", "north.ledger", "--json"))["entries"]
        assert entry["state"] == "done", entry


def a_full_disk_at_the_end_is_like_a_kill():
    """The folder that results go to is away: they cannot be stored, and later can."""
    budget = {"budget-epsilon": 4, "budget-delta": 1e-5}
    with folder():
        plan(seed=None)
        policy(ledger="north.ledger", **budget)
        policy("other.json")
        more = ["--ledger", "curator.ledger", "--population", "all", "--budget-epsilon", "4",
                "--budget-delta", "1e-5"]

        def begin(who):
            own = {"more": ["-o", f"of-{who}/run", *(more if who == "curator" else [])]}
            return start(who, "socket", **(own if who in ("curator", "north") else {}),
                         policy="policy.json" if who == "north" else "other.json")

        def state(who):
            [entry] = json.loads(call("ledger", f"{who}.ledger", "--json"))["entries"]
            return entry["state"]

        ends(begin("north"), 1, "north")  # at once, before anything is said
        assert "of-north/run: cannot be created: there is no folder of-north" in said("north")
        for who in ("curator", "north"):
            os.mkdir(f"of-{who}")
        places = {who: begin(who) for who in ("curator", "north")}
        wait_for(lambda: os.path.exists("curator.state") and os.path.exists("north.state"))
        for who in places:
            os.rmdir(f"of-{who}")
        places |= {who: begin(who) for who in SILOS[1:]}
        ends(places["curator"], 1, "curator")
        assert "the silos wait: start this again as it was" in said("curator")
        assert state("curator") == "died", state("curator")
        os.mkdir("of-curator")
        places["curator"] = begin("curator")
        ends(places["north"], 1, "north")
        assert state("north") == "died", state("north")
        wait_for(lambda: state("curator") == "done")
        places["curator"].kill()  # with its run in place, before all have said good-bye
        places["curator"].wait()
        os.mkdir("of-north")
        for who in ("curator", "north"):
            places[who] = begin(who)
        for who, process in places.items():
            ends(process, who=who)
        assert state("curator") == state("north") == "done"
        hashes = {json.load(open(f"{run}/operator/run.json"))["billboard_sha256"]
                  for run in ("of-curator/run", "of-north/run", "out-south", "out-east")}
        assert len(hashes) == 1, hashes
        assert not os.path.exists("curator.state") and not os.path.exists("north.state")


def a_curator_that_goes_on_from_an_older_copy_says_so():
    """Which changes nothing: with the newest one the run ends as if nothing had been."""
    def size():
        return os.path.getsize("curator.state") if os.path.exists("curator.state") else 0

    def begin(who, signed):
        return start(who, "socket", more=signs(who) if signed else ())

    for begun, signed in [(False, True), (True, False)]:
        with folder():
            plan(rounds=100)
            if signed:
                make_keys()
            places = {"curator": begin("curator", signed)}
            wait_for(lambda: os.path.exists("run.sock"))
            at_first = size()
            if not begun:
                shutil.copy("curator.state", "older")
            places.update({who: begin(who, signed) for who in SILOS})
            wait_for(lambda: size() > at_first + 1000)
            if begun:
                shutil.copy("curator.state", "older")
            wait_for(lambda: size() > at_first + 3000)
            places["curator"].kill()
            places["curator"].wait()
            shutil.move("curator.state", "newest")
            shutil.copy("older", "curator.state")
            ends(begin("curator", signed), 2, "curator")
            said_last = said("curator").splitlines()[-1]
            assert "has answered round" in said_last and "an older copy" in said_last, said_last
            assert all(os.path.exists(f"{silo}.state") for silo in SILOS)
            assert read("older") != read("newest") and size()
            shutil.move("newest", "curator.state")
            places["curator"] = begin("curator", signed)
            for who, process in places.items():
                ends(process, who=who)
            os.path.exists("curator.state.lock") and os.remove("curator.state.lock")
            check_as_one()


def a_checkpoint_of_another_run_says_so():
    with folder():
        places = [start(who, "folder") for who in ("curator", "north")]
        wait_for(lambda: "north is there" in said("curator"))
        time.sleep(0.5)
        wait_for(lambda: not messages_in("box/curator"))  # it has joined
        for place in places:
            place.kill()
            place.wait()
        os.remove("curator.state")  # as if its disk were lost
        places = [start(who, "folder") for who in ("curator", "north")]
        wait_for(lambda: "an offer of another run than the one that this silo takes part in: "
                 "remove north.state to take part in another" in said("north"))


def a_checkpoint_of_another_plan_says_which_file_it_is():
    """At every place, with one code, and what to do; nothing is removed."""
    every = ["curator", "helper", "north"]
    advice = ": give this plan another --checkpoint, or remove the file"

    def refused(who, words):
        kept = read(f"{who}.state")
        ends(start(who, "folder", more=signs(who)), 2, who)
        last = said(who).splitlines()[-1]
        assert last == f"billboard: {who}.state: {words}{advice}", last
        assert read(f"{who}.state") == kept

    with folder():
        plan(doors=2)
        make_keys(["helper"])
        places = {who: start(who, "folder", more=signs(who)) for who in every}
        wait_for(lambda: all(f"{who} is there" in said("curator") for who in every[1:]))
        time.sleep(0.5)
        wait_for(lambda: not messages_in("box/curator"))  # they have joined
        for place in places.values():
            place.kill()
            place.wait()
        plan(doors=2, epsilon=2)
        for who in every:
            refused(who, "is of another run than this plan's: epsilon: 2 here, 4 there")
        plan(doors=2, fewest=2)
        refused("curator", "is of 3 silos, of which every round needs 3, not 3 and 2")
        plan(doors=2)
        rows = read("north.csv").decode()
        write("north.csv", rows + rows.splitlines()[-1] + "\n")
        refused("north", "is of other rows, or they were prepared in another way")
        write("north.csv", rows)
        os.remove("roster.json")
        keys = {who: call("identity", "show", f"{who}.key").strip()
                for who in ["curator", "helper", *SILOS]}
        call("identity", "new", "new.key")
        keys["east"] = call("identity", "show", "new.key").strip()
        call("identity", "roster", "roster.json", "--key", "curator.key", "--helper",
             keys["helper"], *[f"{silo}={keys[silo]}" for silo in SILOS])
        for who in every:
            refused(who, "is of another roster of keys")


def a_task_in_two_places_is_told_by_name():
    with folder():
        moved = [line for line in read("north.csv").decode().splitlines() if
                 line.startswith("ward3,")]
        with open("south.csv", "a") as f:
            f.write("\n".join(moved) + "\n")
        places = [start(who, "socket") for who in ("curator", "north")]
        wait_for(lambda: "north is there" in said("curator"))
        time.sleep(0.5)  # it has joined
        ends(start("south", "socket"), 130, "south")
        assert "a message of south was left out: south and north both have task ward3" in said(
            "curator"), said("curator")
        assert "the curator does not take this silo: another silo has joined with a task of " \
            "this silo's" in said("south"), said("south")
        assert "ward3" not in said("south") and "north" not in said("south")
        assert not os.path.exists("south.state")
        with open("south.csv") as f:
            rows = [line for line in f if not line.startswith("ward3,")]
        write("south.csv", "".join(rows))
        places += [start(who, "socket") for who in ("south", "east")]
        for place in places:
            ends(place)
        check_as_one()


def a_ledger_that_refuses_tells_no_more():
    with folder():
        plan(seed=None)
        policy(ledger="north.ledger", population="secret wards",
               **{"budget-epsilon": 1, "budget-delta": 1e-5})
        places = [start(who, "socket") for who in ("curator", "north")]
        ends(places[1], 3)
        assert "north.ledger" in said("north"), said("north")
        wait_for(lambda: "refuses" in said("curator"))
        places[0].send_signal(signal.SIGINT)
        ends(places[0], 130)
        assert "silo 1 refuses to take part: its own ledger does not allow it\n" in said(
            "curator"), said("curator")
        assert not os.path.exists("north.ledger")


def what_differs_is_told_and_nothing_is_trained():
    with folder():
        plan("other.json", rounds=13)
        north = start("north", "socket", plan="other.json")
        rest = [start(who, "socket") for who in ("curator", "south", "east")]
        ends(north, 1)
        assert "not the one that this silo agreed to: the rounds" in said("north"), said("north")
        assert not os.path.exists("north.state")
        wait_for(lambda: "north: silo 1 refuses to take part: the run that is offered is not the "
                 "one that this silo agreed to: the rounds" in said("curator"))
        for process in rest:
            process.send_signal(signal.SIGTERM)
        for process in rest:
            ends(process, 130)
        plan("other.json", epsilon=2)
        places = [start("curator", "folder"), start("north", "folder", plan="other.json")]
        ends(places[1], 1)
        assert "agreed to: epsilon: 2 here, 4 there" in said("north"), said("north")
        places[0].send_signal(signal.SIGTERM)
        ends(places[0], 130)
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
            assert not os.path.exists(f"{who}.state")
        assert not os.path.exists("out")


def connected(path):
    """To a socket whose file is there a moment before anybody listens."""
    until = time.monotonic() + LIMIT
    while True:
        one = socket.socket(socket.AF_UNIX)
        try:
            one.connect(path)
            return one
        except ConnectionRefusedError:
            one.close()
            assert time.monotonic() < until
            time.sleep(0.02)


def strangers_disturb_nobody():
    with folder():
        places = {"curator": start("curator", "socket")}
        until = time.monotonic() + LIMIT
        while not os.path.exists("run.sock") and time.monotonic() < until:
            time.sleep(0.02)
        assert os.stat("run.sock").st_mode & 0o077 == 0
        strangers = []
        word = struct.pack("<4s3I", b"BBBF", VERSION, 7, 0) + bytes(40) + struct.pack("<I", 9)
        for said_so in (b"x" * 4000, struct.pack("<Q", 2**60) + b"y" * 100,
                        struct.pack("<Q", len(word)) + word, struct.pack("<Q", 3) + b"abc"):
            strangers.append(connected("run.sock"))
            strangers[-1].sendall(said_so)
        places.update({who: start(who, "socket") for who in SILOS})
        for who, process in places.items():
            ends(process, who=who)
        assert "silo 9 was left out" in said("curator"), said("curator")
        check_as_one()


def who_has_no_key_is_told_nothing():
    """Rounds say who was picked: they are for the silo that has signed its HELLO."""
    with folder():
        make_keys()
        places = {"curator": start("curator", "socket", more=signs("curator"))}
        wait_for(lambda: os.path.exists("run.sock"))
        hello = sealed_again(struct.pack("<4s2I", b"BBBF", VERSION, HELLO) + bytes(44)
                             + struct.pack("<2I", 2, 1) + bytes(HEADER - 64))
        with connected("run.sock") as stranger:
            stranger.sendall(struct.pack("<Q", len(hello)) + hello)
            wait_for(lambda: "not signed: by the roster silo 2" in said("curator"))
            places["south"] = start("south", "socket", more=signs("south"))
            wait_for(lambda: "south is there" in said("curator"))
            time.sleep(0.5)  # it has joined
            stranger.sendall(struct.pack("<Q", len(hello)) + hello)
            wait_for(lambda: said("curator").count("not signed: by the roster silo 2") == 2)
            for who in ("north", "east"):
                places[who] = start(who, "socket", more=signs(who))
            for who, process in places.items():
                ends(process, who=who)
            assert stranger.recv(1) == b""
        check_as_one()


def options_that_a_line_does_not_have_are_those_of_its_files():
    def told(who, **options):
        plan(**options)
        done = subprocess.run([*line_of(who, "socket", more=["--ledger", "n.ledger"] if who ==
                                        "curator" else [])], capture_output=True, text=True,
                              timeout=LIMIT)
        assert done.returncode == 2, done
        return done.stderr.splitlines()[-1]

    with folder():
        policy(ledger="n.ledger", **{"allow-open": False})
        assert told("north", seed=None) == (
            "billboard: n.ledger: there is no ledger yet; \"budget-epsilon\" and "
            "\"budget-delta\" create one (in policy.json)")
        assert "--budget-epsilon and --budget-delta" in told("curator", seed=None)
        for who in ("north", "curator"):
            assert told(who, loss="softmax", seed=None).endswith(
                "which is public: \"classes\" (in plan.json)"), told(who, loss="softmax")
        plan()
        done = subprocess.run(line_of("curator", "socket", more=["--train-fraction", "0.5"]),
                              capture_output=True, text=True)
        assert done.returncode == 2 and "--train-fraction" in done.stderr, done  # argp's own
        policy()
        done = start("north", "folder")
        wait_for(lambda: "\"seed\" makes the noise reproducible" in said("north"))
        done.kill()


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
        assert done.returncode == 2 and "no silo \"west\" in it: the first is \"north\", the " \
            "last \"east\"\n" in done.stderr, done
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
             every_place_is_told_that_nothing_was_found,
             places_find_common_units_and_narrower_ranges,
             standard_streams_need_no_more_than_a_router, whoever_is_killed_goes_on,
             signed_places_give_the_models_of_one_process,
             whoever_signs_and_is_killed_goes_on,
             who_is_started_again_after_the_end_has_nothing_to_do,
             nobody_speaks_for_another_and_nothing_is_said_twice, keys_that_are_not_the_places,
             places_of_which_some_sign_do_not_go_together, a_silo_may_be_away_for_long,
             a_curator_killed_at_the_end_waits_for_nobody_who_has_gone,
             mutual_tls_carries_frames_between_those_who_may,
             a_ledger_that_refuses_says_so_at_once,
             of_two_runs_that_a_ledger_has_room_for_one_of_the_other_leaves_nothing,
             a_silo_goes_on_when_its_ledger_has_room_again, a_full_disk_at_the_end_is_like_a_kill,
             a_curator_that_goes_on_from_an_older_copy_says_so,
             a_checkpoint_of_another_run_says_so,
             a_checkpoint_of_another_plan_says_which_file_it_is, a_task_in_two_places_is_told_by_name,
             a_ledger_that_refuses_tells_no_more, what_was_taken_from_the_data_is_refused,
             a_plan_whose_rounds_may_have_fewer_silos_than_a_policy_asks_for,
             a_box_of_a_folder_is_read_by_one_process, who_looks_needs_no_box,
             two_silos_of_one_name_at_a_socket_are_told_to_the_curator,
             a_silo_says_where_it_hears_nothing,
             rows_that_are_not_the_plans_are_told_to_their_operator,
             a_silo_can_look_before_it_takes_part,
             a_silo_that_looks_sees_files_that_it_could_not_write,
             a_silo_that_looks_opens_its_checkpoint,
             a_ledger_that_is_lost_is_not_begun_anew,
             a_curators_model_answers_rows_of_any_column_of_tasks,
             a_target_that_the_plan_names_is_the_same_everywhere,
             names_of_tasks_that_look_the_same, who_waits_says_for_whom_on_a_terminal,
             empty_cells_are_in_no_unit, columns_that_are_called_like_indicators_are_none,
             a_run_that_never_begins_costs_nothing, a_silo_that_comes_too_late_is_told,
             ledgers_are_charged_once, who_has_lost_a_checkpoint_is_told_that_it_is_charged_again,
             a_checkpoint_from_before_the_charge_has_it_too,
             a_silo_that_never_comes_is_not_waited_for, who_was_lost_is_written_down, a_policy_is_kept_before_anything_is_said,
             what_differs_is_told_and_nothing_is_trained, the_end_of_a_curator_is_told,
             strangers_disturb_nobody, who_has_no_key_is_told_nothing,
             options_that_a_line_does_not_have_are_those_of_its_files, lines_that_make_no_sense]:
    if len(sys.argv) > 2 and sys.argv[2] not in case.__name__:
        continue
    began = time.monotonic()
    case()
    print(f"{case.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)
