#!/usr/bin/env python3
"""Opens `billboard curator --page` as Prometheus, a browser and bad neighbours would.

    page.py BILLBOARD CHROMIUM VENV

It shows what is public of the run and nothing else, live; it changes no byte of the run and holds
nobody up; nobody but this machine is answered. VENV is made with what requirements.txt lists.
"""
import json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
CHROMIUM, VENV = sys.argv[2:4]
try:
    from prometheus_client.parser import text_string_to_metric_families as families
except ImportError:
    made = subprocess.run([os.path.join(HERE, "../../scripts/venv"), VENV,
                           os.path.join(HERE, "requirements.txt")])
    if made.returncode or sys.prefix != sys.base_prefix:
        sys.exit(made.returncode or "no prometheus_client in " + VENV)
    python = os.path.join(VENV, "bin/python3")
    os.execv(python, [python, *sys.argv])

import contextlib, re, signal, socket, tempfile, threading, time, urllib.request

from joint import *


def port_of(who="curator"):
    wait_for(lambda: "the page is at" in said(who))
    return int(re.findall(r"http://127\.0\.0\.1:(\d+)/", said(who))[-1])


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=LIMIT) as answer:
        return answer.read().decode()


def status(port):
    """None: while the run is being planned."""
    with contextlib.suppress(urllib.error.HTTPError):
        return json.loads(get(port, "/status.json"))


def wait_for_status(port, holds):
    found = []
    wait_for(lambda: found.append(status(port)) or (found[-1] and holds(found[-1])))
    return found[-1]


def metrics(port):
    """{name: [(labels, value)]}, as Prometheus reads them."""
    return {family.name: [(sample.labels, sample.value) for sample in family.samples]
            for family in families(get(port, "/metrics"))}


def states(now):
    return {silo["name"]: silo["state"] for silo in now["silos"]}


def ask(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as s:
        s.sendall(request.encode())
        s.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: s.recv(4096), b"")).decode()


class Browser:
    """Chromium, which is told what to do in its own protocol over two pipes."""

    def __init__(self, url):
        to_it, self.to_it = os.pipe()
        self.of_it, of_it = os.pipe()
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.count, self.errors, self.left = 0, [], b""

        def give_pipes():  # as 3 and 4; by way of numbers that are neither
            high = [os.dup2(fd, 30 + k) for k, fd in enumerate((to_it, of_it))]
            for k, fd in enumerate(high):
                os.dup2(fd, 3 + k)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-background-networking", f"--user-data-dir={self.profile.name}",
             "about:blank"], preexec_fn=give_pipes, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(of_it)
        self.session = None
        [tab] = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=tab["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Log", "Runtime", "Page"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=url)

    def read(self):
        while b"\0" not in self.left:
            more = os.read(self.of_it, 1 << 16)
            assert more, "the browser has ended"
            self.left += more
        message, self.left = self.left.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.count += 1
        asked = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.to_it, json.dumps(asked).encode() + b"\0")
        while (said := self.read()).get("id") != self.count:
            if said["method"] in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.errors.append(said)
        assert "result" in said, said
        return said["result"]

    def text(self):
        found = self.call("Runtime.evaluate", expression="document.body.innerText")
        return found["result"].get("value", "")  # there is no body yet

    def wait_for(self, *words):
        until = time.monotonic() + LIMIT
        while not all(word in self.text() for word in words):
            assert time.monotonic() < until, (words, self.text())
            time.sleep(0.05)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to_it)
        os.close(self.of_it)
        self.profile.cleanup()


# -- cases --

PROMISE = {"private", "epsilon", "delta", "adjacency", "sampling", "tasks"}
RUN = {"state", "charged", "round", "rounds", "published", "epsilon_spent", "promise", "silos",
       "helper"}
SHOWN = {"run", "silos", "helper", "errors", "error", "error_time"}
METRICS = {"charged", "private", "round", "rounds", "published", "tasks", "epsilon_spent", "silo",
           "silo_reached", "errors"}


def check_nothing_else_is_shown(port, now):
    assert set(now) == SHOWN and set(now["run"]) == RUN, now
    assert set(now["run"]["promise"]) == PROMISE, now
    assert all(set(silo) == {"name", "state", "reached"} for silo in now["silos"]), now
    assert set(metrics(port)) == {f"billboard_{name}" for name in METRICS}, metrics(port)


def check_epsilon(port, spent):
    beside = {"delta": "1.0000000000000001e-05", "adjacency": "replace-one", "sampling": "all"}
    assert metrics(port)["billboard_epsilon_spent"] == [(beside, spent)], metrics(port)


def a_browser_sees_the_run_go_on():
    with folder():
        plan(seed=None, rounds=300)
        policy(**{"allow-open": False})
        places = {"curator": start("curator", "socket", more=["--page", "0"])}
        port = port_of()
        now = wait_for_status(port, lambda s: s["run"]["state"] == "joining")
        check_nothing_else_is_shown(port, now)
        check_epsilon(port, 0)
        browser = Browser(f"http://localhost:{port}/")
        try:
            browser.wait_for("Silos join; nothing is charged yet.", "0 of 3 have joined",
                             "ε = 0. The plan costs ε = 4 at δ = 0.00001, adjacency replace-one, "
                             "sampling all, 24 tasks, charged once all have joined.",
                             "north\thas not joined, and is not connected", "Last error\n\nnone")
            places["south"] = start("south", "socket")
            browser.wait_for("1 of 3 have joined", "south\thas joined\n")
            policy("narrow.json", **{"most-epsilon": 1})
            ends(start("north", "socket", policy="narrow.json"), 2)
            browser.wait_for("north\trefuses to take part", "north: silo 1 refuses to take part: "
                             "this silo's policy allows epsilon 1, not 4 (1 in all)")
            assert metrics(port)["billboard_errors"] == [({}, 1)]
            os.remove("north.state") if os.path.exists("north.state") else None
            places.update({who: start(who, "socket") for who in ("north", "east")})
            wait_for_status(port, lambda s: s["run"]["published"] > 3)
            places["north"].send_signal(signal.SIGSTOP)
            now = wait_for_status(port, lambda s: states(s) == {
                "north": "joined", "south": "answered", "east": "answered"})
            run = now["run"]
            assert run["round"] == run["published"] + 1 < run["rounds"] == 300, run
            check_nothing_else_is_shown(port, now)
            check_epsilon(port, 4)
            found = metrics(port)
            assert found["billboard_round"] == [({}, run["round"])]
            assert ({"silo": "north", "state": "joined"}, 1) in found["billboard_silo"]
            assert ({"silo": "north", "state": "answered"}, 0) in found["billboard_silo"]
            browser.wait_for(f"Round {run['round']} of 300 is asked for; {run['published']} were "
                             "published.", "ε = 4 at δ = 0.00001, adjacency replace-one, sampling "
                             "all, 24 tasks: the whole plan.", "north\tis waited for\n",
                             "south\thas answered\n", "3 of 3 have joined")
            assert not browser.errors, browser.errors
            places["north"].send_signal(signal.SIGCONT)
            for who, process in places.items():
                ends(process, who=who)
            browser.wait_for("The curator does not answer")
        finally:
            browser.close()


def who_comes_too_late_is_shown():
    with folder():
        plan(fewest=2, rounds=200)
        places = {"curator": start("curator", "socket", more=["--patience", "1", "--page", "0"])}
        places |= {who: start(who, "socket") for who in ("north", "south")}
        port = port_of()
        now = wait_for_status(port, lambda s: s["run"]["published"] > 0)
        assert states(now)["east"] == "away", now
        places["north"].send_signal(signal.SIGSTOP)  # and some round waits for it
        browser = Browser(f"http://localhost:{port}/")
        try:
            browser.wait_for("east\thas not joined, and is not connected", "2 of 3 have joined")
            ends(start("east", "socket"), 130, "east")
            browser.wait_for("east\tcame too late: the run has begun without it\n",
                             "2 of 3 have joined")
            assert states(status(port))["east"] == "too late", status(port)
            found = metrics(port)["billboard_silo"]
            assert ({"silo": "east", "state": "too late"}, 1) in found, found
            assert ({"silo": "east", "state": "away"}, 0) in found, found
            assert not browser.errors, browser.errors
            places["north"].send_signal(signal.SIGCONT)
            for who, process in places.items():
                ends(process, who=who)
        finally:
            browser.close()


def the_helper_is_shown():
    with folder():
        plan(doors=2, rounds=4)
        make_keys(["helper"])
        begin = lambda who, *more: start(who, "socket", more=[*signs(who), *more])
        places = {"curator": begin("curator", "--page", "0")}
        port = port_of()
        now = wait_for_status(port, lambda s: s["run"]["state"] == "joining")
        assert now["helper"] == {"state": "away", "reached": False}, now
        assert set(states(now)) == set(SILOS), now
        found = metrics(port)
        assert ({"state": "away"}, 1) in found["billboard_helper"], found
        assert found["billboard_helper_reached"] == [({}, 0)], found
        browser = Browser(f"http://127.0.0.1:{port}/")
        try:
            browser.wait_for("The helper, who keeps the second door, has not joined, and is not "
                             "connected.", "0 of 3 have joined")
            places["helper"] = begin("helper")
            browser.wait_for("The helper, who keeps the second door, has joined.",
                             "0 of 3 have joined")
            assert ({"state": "joined"}, 1) in metrics(port)["billboard_helper"]
            places.update({who: begin(who) for who in SILOS[1:]})
            places["helper"].send_signal(signal.SIGSTOP)
            places["north"] = begin("north")
            wait_for_status(port, lambda s: set(states(s).values()) == {"answered"})
            browser.wait_for("The helper, who keeps the second door, takes part.",
                             "east\thas answered")
            assert not browser.errors, browser.errors
            places["helper"].send_signal(signal.SIGCONT)
            for who, process in places.items():
                ends(process, who=who)
        finally:
            browser.close()
        check_as_one()


def names_stay_names():
    names = ["<img src=x onerror=\"document.title='broken'\">", "a\"b\\c & d", "east"]
    with folder():
        agreed = json.load(open("plan.json"))
        write("plan.json", {**agreed, "silos": names})
        curator = start("curator", "socket", more=["--page", "0"])
        port = port_of()
        now = wait_for_status(port, lambda s: True)
        assert list(states(now)) == names, now
        assert {at["silo"] for at, _ in metrics(port)["billboard_silo_reached"]} == set(names)
        # noise with a seed: no promise, and none of its numbers
        assert now["run"]["epsilon_spent"] is None and now["run"]["promise"]["delta"] is None
        assert "billboard_epsilon_spent" not in metrics(port)
        browser = Browser(f"http://127.0.0.1:{port}/")
        try:
            browser.wait_for(names[0], names[1], "This run is not private: no ε holds for it.")
            title = browser.call("Runtime.evaluate", expression="document.title")
            assert title["result"]["value"] == "Billboard: curator"
            assert not browser.errors, browser.errors
        finally:
            browser.close()
        curator.send_signal(signal.SIGINT)
        ends(curator, 130)


def readers_change_nothing_and_hold_nobody_up():
    with folder():
        plan(rounds=60)
        more = ["--page", str(free_port())]
        places = {"curator": start("curator", "folder", more=more)}
        port = port_of()
        over, heard = threading.Event(), []

        def listen():
            while not over.is_set():
                with contextlib.suppress(OSError):
                    heard.append(get(port, "/metrics"))

        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(12)]
        for s in idle:  # they ask by halves, or do not read
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + b"\r\n" * (s in idle[:6]))
        threads = [threading.Thread(target=listen) for _ in range(4)]
        for thread in threads:
            thread.start()
        places.update({who: start(who, "folder") for who in SILOS})
        for who, process in places.items():
            ends(process, who=who)
        over.set()
        for thread in threads:
            thread.join()
        for s in idle:
            s.close()
        assert heard
        check_as_one()


def more_readers_than_there_is_room_for():
    with folder():
        curator = start("curator", "socket", more=["--page", "0"])
        port = port_of()
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
        places = {who: start(who, "socket") for who in SILOS}
        for process in [curator, *places.values()]:
            ends(process)
        for s in idle:
            s.close()
        check_as_one()


def only_this_machine_is_answered():
    with folder():
        curator = start("curator", "socket", more=["--page", "0"])
        port = port_of()
        wait_for_status(port, lambda s: True)
        with open("/proc/net/tcp") as f:
            at = [line.split()[1] for line in f if f":{port:04X} " in line and " 0A " in line]
        assert at == [f"0100007F:{port:04X}"], at
        with open("/proc/net/tcp6") as f:
            assert f":{port:04X} 0" not in f.read()
        for host, code in [("localhost", 200), (f"localhost:{port}", 200), ("LocalHost", 200),
                           ("127.0.0.1:9000", 200), ("[::1]:1", 200),  # through ssh, say
                           ("evil.example", 403), (f"evil.example:{port}", 403), ("", 403),
                           ("localhost.evil.example", 403), ("localhost:", 403),
                           ("localhost:80x", 403), ("127.0.0.1.nip.io", 403), ("127.0.0.2", 403),
                           ("localhost@evil.example", 403)]:
            for path in ("/", "/status.json", "/metrics", "/page.js", "/none"):
                said_so = ask(port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n"
                              "Origin: http://evil.example\r\nConnection: close\r\n\r\n")
                head = said_so.split("\r\n\r\n")[0]
                wanted = 404 if code == 200 and path == "/none" else code
                assert head.startswith(f"HTTP/1.1 {wanted} "), (host, path, head)
                assert "access-control" not in head.lower(), head
                for line in ("X-Content-Type-Options: nosniff", "Cache-Control: no-store",
                             "Cross-Origin-Resource-Policy: same-origin",
                             "Content-Security-Policy: default-src 'none'; script-src 'self'"):
                    assert line in head, head
                assert code == 200 or "silos" not in said_so, said_so
        assert " 403 " in ask(port, "GET /metrics HTTP/1.0\r\n\r\n").split("\n")[0]
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            head = ask(port, f"{method} /status.json HTTP/1.1\r\nHost: localhost\r\n"
                       "Content-Length: 3\r\nConnection: close\r\n\r\nabc")
            assert " 405 " in head.split("\n")[0] and "Allow: GET, HEAD" in head, head
        head = ask(port, "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert " 200 " in head.split("\n")[0] and head.endswith("\r\n\r\n"), head
        curator.send_signal(signal.SIGINT)
        ends(curator, 130)


def a_port_that_is_not_to_be_had():
    with folder(), socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        before = set(os.listdir("."))
        done = subprocess.run(line_of("curator", "socket", more=["--page", str(port)]),
                              capture_output=True, text=True)
        assert done.returncode == 1 and done.stdout == "", done
        assert done.stderr == f"billboard: --page {port}: another program has this port\n", done
        assert set(os.listdir(".")) == before
        for wrong in ("70000", "-1", "http", ""):
            done = subprocess.run(line_of("curator", "socket", more=["--page", wrong]),
                                  capture_output=True, text=True)
            assert done.returncode == 2 and "--page expects a port" in done.stderr, done
        done = subprocess.run(line_of("north", "socket", more=["--page", "0"]),
                              capture_output=True, text=True)
        assert done.returncode == 2 and "unrecognized option '--page'" in done.stderr, done


for case in [a_browser_sees_the_run_go_on, who_comes_too_late_is_shown, the_helper_is_shown,
             names_stay_names,
             readers_change_nothing_and_hold_nobody_up, more_readers_than_there_is_room_for,
             only_this_machine_is_answered, a_port_that_is_not_to_be_had]:
    if len(sys.argv) > 4 and sys.argv[4] not in case.__name__:
        continue
    began = time.monotonic()
    case()
    print(f"{case.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)
