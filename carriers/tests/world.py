"""What the tests of all carriers need: a population in several places, what was agreed on, the
models of one process, commands of a page, and processes that end with the test."""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pages  # tests/cli/pages.py

SOURCE = os.path.abspath(sys.argv[1])
LIMIT = 300


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, value):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))


def call(*line, code=0, **more):
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT, **more)
    assert done.returncode == code, (line, done.returncode, done.stdout, done.stderr)
    return done.stdout


def wait_for(what, why=lambda: ""):
    until = time.monotonic() + LIMIT
    while not what():
        assert time.monotonic() < until, why()
        time.sleep(0.05)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


@contextlib.contextmanager
def folder():
    """A folder of its own, which is home, too; what was started there is ended."""
    before, environment, started = os.getcwd(), dict(os.environ), []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        made = os.path.realpath(made)
        os.chdir(made)
        os.environ["HOME"] = made
        try:
            yield started
        finally:
            end_all(started, made)
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environment)


def end_all(started, made):
    """Those that were started, and what they left in the background: it has the folder's name in
    its command, or is there."""
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            number = int(name)
            of_it = made.encode() in read(f"/proc/{name}/cmdline") or os.readlink(
                f"/proc/{name}/cwd").startswith(made)
            if of_it and number != os.getpid():
                os.kill(number, signal.SIGKILL)
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def start(started, log, *line, **more):
    with open(log, "ab") as out:
        started.append(subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                        start_new_session=True, **more))
    return started[-1]


# -- a population --


def make_world(silos, tasks=24, **options):
    """all.csv, SILO.csv, plan.json and of-plan.json, and keys of all with a roster: with
    `doors=2` of a helper, too."""
    call("billboard", "synth", "low-rank", f"--tasks={tasks}", "--features=3", "--samples=10",
         "-o", "all.csv")
    header, *rows = read("all.csv").decode().splitlines(keepends=True)
    names = list(dict.fromkeys(row.split(",")[0] for row in rows))
    for k, silo in enumerate(silos):
        mine = set(names[k::len(silos)])
        write(f"{silo}.csv", header + "".join(x for x in rows if x.split(",")[0] in mine))
    write("of-plan.json", options)
    write("plan.json", {"options": options, "tasks": names, "features": ["x1", "x2", "x3"],
                        "silos": silos})
    helpers = ["helper"] * (options.get("doors") == 2)
    keys = {who: call("billboard", "identity", "new", f"{who}.key").strip()
            for who in ["curator", *silos, *helpers]}
    call("billboard", "identity", "roster", "roster.json", "--key", "curator.key",
         *[f"--helper={keys[who]}" for who in helpers],
         *[f"{silo}={keys[silo]}" for silo in silos])
    write("policy.json", {"most-epsilon": 4, "most-delta": 1e-5, "fewest-silos": len(silos),
                          "curators": keys["curator"], "allow-open": True,
                          **{"helpers": keys[who] for who in helpers}})


def check_as_one(of_silos, of_curator):
    """The models of run directories are those of one process with all rows, to the byte."""
    if not os.path.exists("one"):
        call("billboard", "train", "all.csv", "--config", "of-plan.json", "-o", "one")
    assert read("one/public/billboard.bin") == read(f"{of_curator}/public/billboard.bin")
    lines = [read(f"{run}/operator/models.csv").splitlines() for run in of_silos]
    header, *of_one = read("one/operator/models.csv").splitlines()
    assert all(own[0] == header and len(own) > 1 for own in lines)
    assert sorted(x for own in lines for x in own[1:]) == sorted(of_one)


# -- pages --


def run_page(page, changes):
    """All commands of a page that say this is where they run, and its files, in their order."""
    ran = 0
    for block in pages.blocks_of(os.path.join(SOURCE, page)):
        text = "\n".join(block.text) + "\n"
        for old, new in changes.items():
            text = text.replace(old, new)
        for marker in block.markers:
            kind, _, rest = marker.partition(" ")
            if kind == "file":
                write(rest, text)
            elif re.match("not run: carriers/tests", marker):
                shown = call("bash", "-ec", text)
                print(f"{page}:{block.line}: ran\n{shown}", flush=True)
                ran += 1
    assert ran, page


def run_cases(cases):
    """Those whose name has what the command line says in it, or all."""
    chosen = [case for case in cases if sys.argv[2] in case.__name__]
    assert chosen, sys.argv
    for case in chosen:
        began = time.monotonic()
        case()
        print(f"{case.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)
