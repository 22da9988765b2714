"""What goes wrong around `billboard silo` and `billboard curator` for longer than a moment: folders
that lose and halve files or are not there, ledgers that cannot grow, hours without each other, and
networks that lose packets. Nothing is lost, and nothing is published that was not charged.

    outages.py BILLBOARD CLOCK [CASE]
"""
import fcntl, heapq, json, os, random, resource, select, shutil, signal, struct, subprocess
import sys, threading, time

from spoil import *

CLOCK = os.path.abspath(sys.argv[2])  # of clock.c


class Skipped(Exception):
    pass


# -- folders --


def a_bad_folder_changes_nothing():
    with folder():
        plan(rounds=8)
        make_keys()
        spoil = Spoiler(4, cut=1, half=1)
        way = Boxes(spoil)
        places = {who: begin_by_boxes(who, signs(who)) for who in ["curator", *SILOS]}
        for who, process in places.items():
            ends(process, who=who)
        way.close()
        assert all(spoil.done.get(what) for what in ("late", "cut", "twice", "later", "half",
                                                     "lost")), spoil.done
        check_as_one()


def a_silo_killed_at_every_file_goes_on():
    kill_at_every_step("south", Boxes, begin_by_boxes)


def a_curator_killed_at_every_file_goes_on():
    kill_at_every_step("curator", Boxes, begin_by_boxes)


def may_not_write_everywhere():
    """What makes the user of this test one who needs permissions."""
    if os.getuid() != 0:
        return []
    line = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    works = shutil.which("setpriv") and subprocess.run(
        [*line, "true"], capture_output=True).returncode == 0
    return line if works else None


def a_folder_that_is_away_is_tried_again():
    limits = may_not_write_everywhere()
    if limits is None:
        raise Skipped("root may write everywhere, and setpriv does not change that")
    with folder():
        plan(rounds=20)

        def complaints(who):
            return said(who).count("; this is tried again")

        for box in ("curator", "silo-1", "silo-2", "silo-3"):
            os.mkdir(f"box/{box}")
        os.chmod("box/curator", 0o555)
        ends(start("north", "folder", before=limits), 1)  # what never worked is no outage
        assert "box/curator: cannot be written to: Permission denied" in said("north")
        os.remove("north.err")
        os.chmod("box/curator", 0o755)
        places = {who: start(who, "folder", before=limits) for who in ["curator", *SILOS]}
        wait_for(lambda: said("curator").count(" is there") == 3)
        os.chmod("box/curator", 0o555)  # silos cannot say anything
        wait_for(lambda: complaints("curator") + sum(map(complaints, SILOS)) > 0)
        time.sleep(0.3)
        os.chmod("box/curator", 0o755)
        wait_for(lambda: all(said(who).count("the folder works again") == complaints(who)
                             for who in places))
        before = complaints("curator")
        os.rename("box", "gone")  # nobody can say, or hear, anything
        wait_for(lambda: complaints("curator") > before)
        time.sleep(0.3)
        assert complaints("curator") == before + 1  # once, not ten times a second
        os.rename("gone", "box")
        for who, process in places.items():
            ends(process, who=who)
        check_as_one()


# -- ledgers --


def leave_room(process, most):
    """From now on no file of this process gets longer: as if the disk were full."""
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def entries(name):
    return json.loads(call("ledger", name, "--json"))["entries"]


def own_ledger(name):
    policy(f"{name}.json", ledger=f"{name}.ledger", population=name,
           **{"budget-epsilon": 4, "budget-delta": 1e-5, "allow-open": False})
    return f"{name}.json"


def start_with(who, **other):
    return start(who, "socket", policy=f"{who}.json", **other)


def is_begun(name):
    done = subprocess.run([BILLBOARD, "ledger", name], capture_output=True, text=True)
    assert done.returncode == 0 or "cannot open" in done.stderr or "is empty" in done.stderr, done
    return done.returncode == 0


def ledgers_that_cannot_grow_publish_nothing():
    """Of the curator, when all have joined; and of a silo, when the first round comes."""
    with folder():
        plan(seed=None, rounds=5)
        for who in SILOS:
            own_ledger(who)
        places = {"curator": start("curator", "socket", more=LEDGER)}
        wait_for(lambda: os.path.exists("run.sock"))
        places.update({who: start_with(who) for who in ("north", "south")})
        wait_for(lambda: said("curator").count(" is there") == 2)
        leave_room(places["curator"], 4096)
        places["east"] = start_with("east")
        ends(places["curator"], 1, "curator")
        assert "ledger joint.ledger: " in said("curator"), said("curator")
        assert "the silos wait: start this again as it was" in said("curator")
        assert not is_begun("joint.ledger") and not os.path.exists("out-curator")
        assert all(places[who].poll() is None for who in SILOS)
        assert not any(is_begun(f"{who}.ledger") for who in SILOS)
        leave_room(places["east"], 4096)
        places["curator"] = start("curator", "socket", more=LEDGER)
        ends(places["east"], 1, "east")
        assert "ledger east.ledger: " in said("east"), said("east")
        assert not is_begun("east.ledger") and not os.path.exists("out-curator")
        places["east"] = start_with("east")
        for who, process in places.items():
            ends(process, who=who)
        charged_once("joint.ledger", *(f"{who}.ledger" for who in SILOS))
        one_billboard()


def a_ledger_that_is_damaged_is_said():
    with folder():
        plan(seed=None, rounds=5)
        own_ledger("north")
        write("north.ledger", "no database\n" * 1000)
        write("joint.ledger", "no database\n" * 1000)
        ends(start_with("north"), 1)
        assert "north.ledger is not a ledger: it is no SQLite database" in said("north")
        ends(start("curator", "socket", more=LEDGER), 1)
        assert "joint.ledger is not a ledger: it is no SQLite database" in said("curator")
        assert not os.path.exists("out-north") and not os.path.exists("out-curator")
        assert read("joint.ledger") == b"no database\n" * 1000


# -- who is waited for --


def who_is_waited_for_is_said():
    """By name and since when; and not who only asks again, nor anything where all is quick."""
    with folder():
        make_keys()

        def begin(who):
            return start(who, "socket", more=signs(who))

        places = {who: begin(who) for who in ("curator", "north", "south")}
        wait_for(lambda: "waiting for east since " in said("curator"))
        assert "(to join)" in said("curator"), said("curator")
        places["curator"].kill()
        places["curator"].wait()
        words = "no word from the curator (run.sock) since "
        wait_for(lambda: words in said("north") and words in said("south"))
        places["curator"] = begin("curator")
        places["east"] = begin("east")
        for who, process in places.items():
            ends(process, who=who)
        assert " is back" not in said("curator"), said("curator")
        assert said("curator").count("waiting for") == 1, said("curator")
        assert "no word" not in said("east")
        check_as_one()


# -- hours --


def leap_to(seconds):
    write("leap.new", str(seconds))
    os.replace("leap.new", "leap")


def a_silo_may_be_away_for_hours():
    """Every round waits an hour for a silo that has lost its power; nobody else minds that clocks
    leap, nor that those on the wall leap back."""
    hour = 3600
    with folder():
        plan(fewest=2, rounds=4)
        make_keys()
        leap_to(0)
        os.environ.update(LD_PRELOAD=CLOCK, BB_TEST_LEAP=os.path.abspath("leap"))
        try:
            def begin(who, more=()):
                return start(who, "folder", more=[*more, *signs(who)])

            patience = ["--patience", str(hour)]
            places = {who: begin(who, patience if who == "curator" else ())
                      for who in ["curator", "east", "south"]}
            wait_for(lambda: said("curator").count(" is there") == 2)
            time.sleep(0.5)
            wait_for(lambda: not messages_in("box/curator"))  # both have joined
            places["east"].kill()
            places["east"].wait()
            places["north"] = begin("north")
            time.sleep(1)
            assert all(places[who].poll() is None for who in ("curator", "north", "south"))
            assert not os.path.exists("out-north")  # a second is no hour
            now = 0

            def hours_pass():
                nonlocal now
                now += hour + 1
                leap_to(now)
                time.sleep(0.2)
                return os.path.exists("out-curator")

            wait_for(hours_pass)
            assert now > 4 * hour  # one for each round
            for who in ("north", "south"):
                ends(places[who], who=who)
            hours_pass()  # and one for the end
            ends(places["curator"], who="curator")
            assert "east has not said that it has its models: until it has, curator.state" in said(
                "curator"), said("curator")
            leap_to(now - 2 * hour)  # somebody has set the clocks
            # where another's good-bye came too late, nobody says it again
            places = {"east": begin("east"), "curator": begin("curator", ["--patience", "30"])}
            for who, process in places.items():
                ends(process, who=who)
        finally:
            del os.environ["LD_PRELOAD"], os.environ["BB_TEST_LEAP"]
        one_billboard()
        assert len(models_of("out-east")) > 1


# -- versions --


def another_version_of_the_program_takes_part():
    """Its frames are the same, and what it computes happens to be, too."""
    with folder():
        plan(rounds=5)
        own = call("--version").split()[1]
        other = "9" + own[1:]  # other texts may end where this one does
        program = read(BILLBOARD).replace(f"{own}\0".encode(), f"{other}\0".encode())
        with open("other", "wb") as f:
            f.write(program)
        os.chmod("other", 0o755)

        def start_other(who):
            with open(f"{who}.err", "a") as errors:
                started.append(subprocess.Popen(["./other", *line_of(who, "socket")[1:]],
                                                stdout=errors, stderr=errors))
            return started[-1]

        # what one version has kept is not gone on with by another
        north = start("north", "socket")
        wait_for(lambda: os.path.exists("north.state"))
        time.sleep(0.3)
        north.kill()
        north.wait()
        ends(start_other("north"), 2, "north")
        assert f"was kept by billboard {own}; this is {other}" in said("north"), said("north")
        places = {who: start(who, "socket") for who in ("curator", "north", "east")}
        places["south"] = start_other("south")
        for who, process in places.items():
            ends(process, who=who)
        told = said("curator")
        assert told.count("has billboard") == 1, told
        assert f"warning: silo 2 has billboard {other}, this is {own}" in told, told
        check_as_one()


# -- networks --


class Link:
    """Two machines on a line that is slow and loses packets, within one network namespace: what
    this machine, 10.9.8.1, sends to 10.9.8.2 comes back to it as from there."""
    HERE, THERE = "10.9.8.1", "10.9.8.2"

    def __init__(self, delay, loss):
        self.device = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.device, 0x400454ca, struct.pack("16sH", b"slow", 0x1001))  # TUNSETIFF
        for line in (f"addr add {self.HERE}/24 dev slow", "link set slow up", "link set lo up"):
            subprocess.run(["ip", *line.split()], check=True)
        self.delay, self.loss, self.lost, self.carried = delay, loss, 0, 0
        threading.Thread(target=self.carry, daemon=True).start()

    def carry(self):
        draw, under_way, n = random.Random(3), [], 0
        while True:
            pause = max(0, under_way[0][0] - time.monotonic()) if under_way else 1
            if select.select([self.device], [], [], pause)[0]:
                packet, n = os.read(self.device, 4096), n + 1
                if packet[0] >> 4 != 4:
                    continue
                if draw.random() < self.loss:
                    self.lost += 1
                    continue
                # sums of both addresses, and so all checksums, stay what they were
                turned = packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
                at = time.monotonic() + self.delay * (1 + draw.random())
                heapq.heappush(under_way, (at, n, turned))
            while under_way and under_way[0][0] <= time.monotonic():
                os.write(self.device, heapq.heappop(under_way)[2])
                self.carried += 1


def over_a_bad_network():
    """Within a namespace of its own."""
    link = Link(delay=0.01, loss=0.05)
    at = f"{Link.HERE}:8443", f"{Link.THERE}:8443"
    with folder():
        make_keys()
        make_authority("joint")
        for who in ("curator", *SILOS):
            make_certificate(who, at=Link.THERE)
        ways = [start_tls("curator", at[0], "run.sock", "curator"),
                *(start_tls("silo", at[1], f"{who}.sock", who) for who in SILOS)]
        try:
            places = {"curator": start("curator", "socket", more=signs("curator"))}
            wait_for(lambda: all(os.path.exists(f"{who}.sock") for who in SILOS))
            for who in SILOS:
                places[who] = start(who, "proxy", more=["--socket", f"{who}.sock", *signs(who)])
            for who, process in places.items():
                ends(process, who=who)
        finally:
            for process in ways:
                process.kill()
                process.wait()
        assert link.lost > 5 and link.carried > 100, (link.lost, link.carried)
        check_as_one()


def a_network_that_loses_packets_changes_nothing():
    inside = ["unshare", "--user", "--map-root-user", "--net"]
    for tool in ("unshare", "ip", "openssl"):
        if not shutil.which(tool):
            raise Skipped(f"there is no {tool}")
    if not os.path.exists("/dev/net/tun"):
        raise Skipped("there is no /dev/net/tun")
    done = subprocess.run([*inside, "ip", "tuntap", "add", "dev", "slow", "mode", "tun"],
                          capture_output=True, text=True)
    if done.returncode:
        raise Skipped(f"no network of its own: {done.stderr.strip()}")
    subprocess.run([*inside, sys.executable, __file__, *sys.argv[1:3], "over_a_bad_network"],
                   check=True)


cases = [who_is_waited_for_is_said, a_bad_folder_changes_nothing,
         a_silo_killed_at_every_file_goes_on, a_curator_killed_at_every_file_goes_on,
         a_folder_that_is_away_is_tried_again,
         ledgers_that_cannot_grow_publish_nothing, a_ledger_that_is_damaged_is_said,
         a_silo_may_be_away_for_hours, another_version_of_the_program_takes_part,
         a_network_that_loses_packets_changes_nothing]
if sys.argv[3:] == ["over_a_bad_network"]:
    cases = [over_a_bad_network]
for case in cases:
    if len(sys.argv) > 3 and sys.argv[3] not in case.__name__:
        continue
    began = time.monotonic()
    try:
        case()
        print(f"{case.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)
    except Skipped as why:
        print(f"{case.__name__}: skipped: {why}", flush=True)
