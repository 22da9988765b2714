"""Three phones and the helper of two doors carried by Flower, whose run brings code that nobody
executes: the models of one process, though a silo and the helper are killed; who is none of them is
not let in. Then the guide.

    run.sh BUILD flower
"""
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import sys
import threading
import types

from billboard_flower import apps
from world import (SOURCE, call, check_as_one, folder, free_ports, make_world, read, run_cases,
                   run_page, start, wait_for, write)

QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
PHONES = ["ann", "ben", "cia"]
OF_ALL = ["--plan", "../plan.json", "--roster", "../roster.json", "--checkpoint", "wards.state"]
JOB = """
[project]
name = "spy"
version = "1.0.0"
license = "Apache-2.0"
dependencies = []
[tool.flwr.app]
publisher = "stranger"
[tool.flwr.app.components]
serverapp = "spy:server"
clientapp = "spy:client"
[tool.flwr.app.config]
run = "wards"
"""
SPY = """
open({!r}, "w").close()
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
client = ClientApp()
server = ServerApp()
"""


def make_certificates():
    ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    call("openssl", "req", "-x509", *ec, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=us")
    call("openssl", "req", *ec, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=link")
    write("names", "subjectAltName=IP:127.0.0.1")
    call("openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
         "-CAcreateserial", "-extfile", "names", "-out", "server.crt")


def start_phone(started, at, name, port):
    return start(started, f"{name}.log", sys.executable, "-m", "billboard_flower", "supernode",
                 name, "--superlink", at, "--root-certificates", "ca.crt",
                 "--auth-supernode-private-key", f"{name}/flower.key", "--port", str(port))


def begin(started):
    """SuperLink and SuperNodes, with TLS and registered keys."""
    link, *ports = free_ports(3 + len(PHONES))
    at = f"127.0.0.1:{link}"
    make_certificates()
    write("link/curator.json", {"wards": [*OF_ALL, "--key", "../curator.key", "-o", "wards"]})
    start(started, "link.log", sys.executable, "-m", "billboard_flower", "superlink", "link",
          "--host", "127.0.0.1", "--port", str(link), "--ssl-certfile", "server.crt",
          "--ssl-keyfile", "server.key", "--ssl-ca-certfile", "ca.crt")
    write(".flwr/config.toml", f'[superlink]\ndefault = "joint"\n[superlink.joint]\n'
          f'address = "{at}"\nroot-certificates = "{os.getcwd()}/ca.crt"\n')
    wait_for(lambda: b"startup complete" in read("link.log"), lambda: read("link.log"))
    write("helper/helper.json", {"wards": [*OF_ALL, "--key", "../helper.key"]})
    for name in [*PHONES, "stranger"]:
        write(f"{name}/silo.json", {"wards": [
            f"../{name}.csv", "--name", name, "--policy", "../policy.json", *OF_ALL, "--key",
            f"../{name}.key", "-o", "wards"]})
    for name, port in zip([*PHONES, "helper", "stranger"], ports):
        call("ssh-keygen", "-q", "-t", "ecdsa", "-b", "384", "-N", "", "-f", f"{name}/flower.key")
        if name != "stranger":
            call("flwr", "supernode", "register", f"{name}/flower.key.pub", "--name", name)
        start_phone(started, at, name, port)


def phones_give_the_models_of_one_process_and_survive_kills():
    os.environ.update(QUIET)
    with folder() as started:
        make_world(PHONES, method="dp-aggr", epsilon=4, seed=3, doors=2)
        begin(started)
        write("spy/pyproject.toml", JOB)
        write("spy/spy.py", SPY.format(f"{os.getcwd()}/seen"))
        run = start(started, "run.log", "flwr", "run", "spy", "--stream")
        told = "link/curator.log"
        wait_for(lambda: os.path.exists(told) and b"ann is there" in read(told),
                 lambda: read("run.log"))
        os.kill(int(read("ann/box/silo-wards/lock")), signal.SIGKILL)
        wait_for(lambda: b"the helper is there" in read(told), lambda: read("run.log"))
        os.kill(int(read("helper/box/helper-wards/lock")), signal.SIGKILL)
        wait_for(lambda: run.poll() is not None, lambda: [read(f"{n}.log")[-3000:] for n in [
            "link", "run", "helper", *PHONES]])
        assert os.path.exists("link/wards"), read("run.log") + read("link/curator.log")
        check_as_one([f"{name}/wards" for name in PHONES], "link/wards")
        assert not os.path.exists("seen"), "a stranger's code was executed"
        assert b"installed spy" in read("run.log")
        assert read("ann/silo.log").count(b"is not private") == 2  # it was started twice
        # what a silo says of its rows stays there
        wait_for(lambda: b"training rows" in read("ben/silo.log"))  # when it ends
        assert b"training rows" not in read("ben.log") + read("link.log") + read("run.log")
        assert b"training rows" not in read("link/curator.log")
        # who is not registered has not been let in
        assert b"SuperNode ID" in read("ann.log") and b"SuperNode ID" not in read("stranger.log")
        assert not os.path.exists("stranger/box")


def frame(silo, kind=4, of_round=0):
    made = bytearray(69)
    made[8], made[48], made[56] = kind, of_round, silo
    return bytes(made)


def nobody_speaks_for_another():
    with folder():
        place = types.SimpleNamespace(box="box")
        for said, lives, heard in [([frame(2)], True, (True, True)),
                                   ([frame(1)], True, (False, True)),
                                   ([], False, (False, False)),
                                   ([b"short"], False, (False, False)),
                                   ([frame(1), frame(2)], False, (True, True))]:
            reply = types.SimpleNamespace(has_error=lambda: False, content={
                "billboard": {"frames": said, "lives": lives}})
            assert apps.hear(place, 2, reply) == heard, (said, lives)
            taken = apps.take("box/curator")
            assert taken == [f for f in said if f == frame(2)], taken
        for k in range(20):
            apps.put("box/curator", frame(2, k))
        write("box/curator/.half", "written")
        assert apps.take("box/curator") == [frame(2, k) for k in range(20)]
        assert apps.take("box/curator") == []
        write("silo.json", {"wards": ["-o", "wards"]})
        os.environ["BILLBOARD_PLACE"] = os.getcwd()
        try:
            apps.Place("silo", "other")
        except ValueError as error:
            assert str(error) == "silo.json has no run 'other'"
        else:
            raise AssertionError("a run that the phone does not know")


def nobody_takes_an_old_answer_for_a_new_one():
    with folder(), open("lock", "w") as lock:
        write("silo.json", {"wards": ["-o", "wards"]})
        os.environ["BILLBOARD_PLACE"] = os.getcwd()
        place = apps.Place("silo", "wards")
        os.rename("lock", f"{place.box}/lock")
        fcntl.flock(lock, fcntl.LOCK_EX)  # as a silo that lives
        hello, old, new = frame(1, 7), frame(1, 4, 1), frame(1, 4, 2)
        for late in [hello, old]:
            apps.put(f"{place.box}/curator", late)
        later = threading.Timer(0.5, lambda: [apps.put(f"{place.box}/curator", said)
                                              for said in [hello, old, new]])
        later.start()
        assert apps.talk(place, [frame(1, 3, 1), frame(1, 3, 2)]) == ([old, old, new], True)
        later.join()
        assert len(apps.take(f"{place.box}/silo-1")) == 2
        apps.put(f"{place.box}/curator", hello)
        assert apps.talk(place, []) == ([hello], True)


def free_ports_behind(first):
    with contextlib.ExitStack() as stack:
        for port in range(first + 1, first + 11):
            try:
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                return False
    return True


def the_guide_works():
    os.environ.update(QUIET)
    with folder():
        link = free_ports(1)[0]
        first = next(port for port in range(20000, 30000, 10) if free_ports_behind(port))
        run_page("docs/flower.md", {"8000": str(link), "8100": str(first), "SOURCES": SOURCE})


for needed in ["openssl", "ssh-keygen"]:
    if not shutil.which(needed):
        print(f"skipped: there is no {needed}")
        sys.exit(77)
run_cases([nobody_speaks_for_another, nobody_takes_an_old_answer_for_a_new_one,
           phones_give_the_models_of_one_process_and_survive_kills, the_guide_works])
