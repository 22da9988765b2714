"""Moves frames between the boxes of Billboard's silos and curator (`--folder`). Flower starts a
process for every message, so nothing is kept here: a silo lives on between messages, and one that
was killed is started again. A run brings a name; what it means is in the place's own folder."""
import contextlib
import fcntl
import json
import os
import signal
import struct
import subprocess
import time
from pathlib import Path

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode
from flwr.serverapp import ServerApp

RECORD, HELPER = "billboard", "helper"
KIND_AT, SILO_AT, ROUND, HELLO, SEEDS = 8, 56, 3, 7, 10  # of a frame: docs/wire.md
WAIT = 20  # seconds for a silo's answer, after which it is asked again
LATE = 180  # after which a message is given up, and a silo of which nothing is heard is asked


def number(frame, at):
    return struct.unpack_from("<I", frame, at)[0] if len(frame) >= at + 4 else 0


def put(box, frame):
    """As a file, there whole or not at all, and read in the order of the names."""
    os.makedirs(box, exist_ok=True)
    name = f"{time.time():022.9f}-{os.getpid()}"
    Path(box, f".{name}").write_bytes(frame)
    os.rename(f"{box}/.{name}", f"{box}/{name}")


def take(box):
    frames = []
    for path in sorted(Path(box).glob("[!.]*")):
        frames.append(path.read_bytes())
        path.unlink()
    return frames


class Place:
    """`billboard silo`, `helper` or `curator` with what this place's own file says of a run."""

    def __init__(self, kind, run):
        self.folder = os.environ["BILLBOARD_PLACE"]
        self.log, self.box = f"{self.folder}/{kind}.log", f"{self.folder}/box/{kind}-{run}"
        runs = json.loads(Path(self.folder, f"{kind}.json").read_text())
        if run not in runs:
            raise ValueError(f"{kind}.json has no run {run!r}")
        self.line = ["billboard", kind, *runs[run], "--folder", self.box]
        os.makedirs(self.box, exist_ok=True)

    def start(self):
        """The process, which holds a lock while it lives, or None if there is one already."""
        with open(f"{self.box}/lock", "a") as lock, open(self.log, "ab") as log:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            started = subprocess.Popen(self.line, cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True,
                                       pass_fds=[lock.fileno()])
            lock.truncate(0)
            lock.write(str(started.pid))
        return started

    def start_anew(self):
        """The process, in the place of one whose ServerApp was killed."""
        while not (started := self.start()):
            with open(f"{self.box}/lock") as lock, contextlib.suppress(ValueError, OSError):
                os.kill(int(lock.read()), signal.SIGTERM)  # as Ctrl-C: what it has is kept
            time.sleep(0.1)
        return started


client = ClientApp()
server = ServerApp()


def talk(place, asked):
    """What the silo says to frames, and whether it lives. One that begins says so first; that it is
    still there, which it says while nobody comes, is no answer; what it shows answers its round."""
    said = take(f"{place.box}/curator")
    for frame in asked:
        put(f"{place.box}/silo-{number(frame, SILO_AT)}", frame)
    due = asked[-1][44:56] if asked and number(asked[-1], KIND_AT) in (ROUND, SEEDS) else None
    silo, until = place.start(), time.monotonic() + WAIT
    while time.monotonic() < until:
        code = silo.poll() if silo else None
        said += (news := take(f"{place.box}/curator"))
        others = [f for f in said if number(f, KIND_AT) != HELLO]
        if asked and not silo and any(f in others and due in (None, f[44:56]) for f in news):
            return others, True
        if news and silo or said and not asked or code is not None and code >= 0:
            break
        silo = place.start() if silo is None or code is not None else silo  # if it was killed
        time.sleep(0.05)
    return [f for f in said if f not in others][-1:] + others, bool(said) or code is None


@client.query()
def answer(message, context):
    """At a phone: its `silo.json` has what the run's name stands for; at the helper's place, who
    keeps the second of two doors, `helper.json`."""
    asked = message.content[RECORD]
    helps = Path(os.environ["BILLBOARD_PLACE"], "helper.json").exists()
    said, lives = talk(Place(HELPER if helps else "silo", asked["run"]), asked["frames"])
    return Message(RecordDict({RECORD: ConfigRecord({"frames": said, "lives": lives})}),
                   reply_to=message)


def hear(place, silo, reply):
    """Whether the silo of this number has said something, and whether it lives."""
    if reply.has_error():  # the phone was away, or has said why this cannot work
        return False, reply.error.code != ErrorCode.CLIENT_APP_RAISED_EXCEPTION
    said = [f for f in reply.content[RECORD]["frames"] if number(f, SILO_AT) == silo]
    for frame in said:
        put(f"{place.box}/curator", frame)
    return said != [], said != [] or reply.content[RECORD]["lives"]


@server.main()
def conduct(grid, context):
    """At the server: its `curator.json`. A silo is who was registered with Flower by its name, and
    the helper, who is carried as one more, by `helper`."""
    run = context.run_config["run"]
    place = Place("curator", run)
    plan = json.loads(Path(place.folder, place.line[place.line.index("--plan") + 1]).read_text())
    asked, lost, heard = {}, set(), {}
    may_lose = len(plan["silos"]) - plan.get("fewest-silos", len(plan["silos"]))
    two_doors = str(plan.get("options", {}).get("doors", 1)) == "2"
    silos = plan["silos"] + [HELPER] * two_doors
    curator = place.start_anew()
    try:
        while curator.poll() is None and len(lost) <= may_lose and HELPER not in lost:
            for node in [n for n in grid.get_nodes() if n.name in set(silos) - {*asked.values()}]:
                frames = take(f"{place.box}/silo-{silos.index(node.name) + 1}")
                if frames or heard.get(node.name, -LATE) + LATE < time.monotonic():
                    content = RecordDict({RECORD: ConfigRecord({"run": run, "frames": frames})})
                    sent = grid.push_messages([Message(content, node.node_id, "query", ttl=LATE)])
                    asked[list(sent)[0]] = node.name
            for reply in grid.pull_messages(list(asked)) if asked else []:
                name = asked.pop(reply.metadata.reply_to_message_id)
                said, lives = hear(place, silos.index(name) + 1, reply)
                heard[name] = time.monotonic() if said else -LATE
                lost |= set() if lives else {name}
            time.sleep(0.3)
    finally:
        curator.terminate()
    if curator.wait() != 0:
        raise RuntimeError(f"{run} ended with {curator.returncode}; silos that failed: "
                           f"{sorted(lost)}; started again, it goes on")
