"""Billboard's messages over NVIDIA FLARE (docs/nvflare.md). A job brings a name; what runs under
that name, on which rows and by whose policy, is in each site's own `local/billboard`."""
import json
import os
import queue
import struct
import subprocess
import threading
import time
from pathlib import Path

from nvflare.apis.controller_spec import Task
from nvflare.apis.event_type import EventType
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.impl.controller import Controller
from nvflare.apis.shareable import Shareable, make_reply

TOPIC, TASK, FRAME, HELPER, SILO_AT = "billboard.frame", "billboard", "frame", "helper", 56
GRACE = 30  # seconds for silos to end after the curator, and for a frame to be acknowledged


def silo_of(frame):
    """Whom a frame is for or from: all that a carrier reads of it (docs/wire.md)."""
    return struct.unpack_from("<I", frame, SILO_AT)[0] if len(frame) >= SILO_AT + 4 else 0


class Place:
    """`billboard silo`, `helper` or `curator` as a process of this site, and its frames."""

    def __init__(self, fl_ctx, kind, run):
        workspace, site = fl_ctx.get_engine().get_workspace(), fl_ctx.get_identity_name()
        self.folder, self.kind = os.path.join(workspace.get_site_config_dir(), "billboard"), kind
        runs = json.loads(Path(self.folder, f"{kind}.json").read_text(encoding="utf-8"))
        if run not in runs:
            raise ValueError(f"{kind}.json of {site} has no run {run!r}")
        name = ["--name", site] if kind == "silo" else []
        own = [word.replace("{site}", site) for word in runs[run]]
        self.line, self.due = ["billboard", kind, *own, *name, "--stdio"], queue.Queue()

    def __enter__(self):
        # its words are for this site: FLARE's own log may be sent to the server
        with open(os.path.join(self.folder, f"{self.kind}.log"), "ab") as log:
            self.process = subprocess.Popen(self.line, cwd=self.folder, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log)
        threading.Thread(target=self._tell, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.due.put(None)
        self.process.terminate()  # as Ctrl-C, if it has not ended: what it has is kept
        self.process.wait()

    def _tell(self):
        for frame in iter(self.due.get, None):
            try:
                self.process.stdin.write(struct.pack("<Q", len(frame)) + frame)
                self.process.stdin.flush()
            except OSError:
                return  # it has ended

    def carry(self, send, component, fl_ctx, stopped):
        """Sends what the process says until it ends, or is to be stopped: then there is no code."""
        began = time.monotonic()
        def listen():
            while len(head := self.process.stdout.read(8)) == 8:
                send(self.process.stdout.read(struct.unpack("<Q", head)[0]))
        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        while listener.is_alive() and not stopped():
            listener.join(0.1)
        code = None if stopped() else self.process.wait()
        component.log_info(fl_ctx, f"{self.kind}: {code}, {time.monotonic() - began:.2f} s")
        return code


class Silo(Executor):
    """At a client: runs what its `silo.json` (the helper's: `helper.json`) has under `run`."""

    def __init__(self, run):
        super().__init__()
        self.run, self.place = run, None
        self.register_event_handler(EventType.START_RUN, self._listen)

    def _listen(self, event, fl_ctx):
        fl_ctx.get_engine().register_aux_message_handler(TOPIC, self._take)

    def _take(self, topic, request, fl_ctx):
        if self.place:
            self.place.due.put(request[FRAME])
        return make_reply(ReturnCode.OK)

    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        def send(frame):  # one that is lost is asked for again
            engine.send_aux_request([], TOPIC, Shareable({FRAME: frame}), GRACE, fl_ctx)
        engine = fl_ctx.get_engine()
        kind = HELPER if fl_ctx.get_identity_name() == HELPER else "silo"
        with Place(fl_ctx, kind, self.run) as self.place:
            code = self.place.carry(send, self, fl_ctx, lambda: abort_signal.triggered)
        return make_reply(ReturnCode.OK if code == 0 else ReturnCode.EXECUTION_EXCEPTION)


class Curator(Controller):
    """At the server: runs what its `local/billboard/curator.json` has under the name `run`."""

    def __init__(self, run):
        super().__init__()
        self.run, self.place, self.silos, self.lost, self.may_lose = run, None, [], [], 0

    def start_controller(self, fl_ctx):
        self.place = Place(fl_ctx, "curator", self.run)
        plan = self.place.line[self.place.line.index("--plan") + 1]
        agreed = json.loads(Path(self.place.folder, plan).read_text(encoding="utf-8"))
        silos, two_doors = agreed["silos"], str(agreed.get("options", {}).get("doors", 1)) == "2"
        self.silos = silos + [HELPER] * two_doors  # who is carried as one more
        self.may_lose = len(silos) - agreed.get("fewest-silos", len(silos))
        fl_ctx.get_engine().register_aux_message_handler(TOPIC, self._take)

    def _take(self, topic, request, fl_ctx):
        site, silo = fl_ctx.get_peer_context().get_identity_name(), silo_of(request[FRAME])
        if not 0 < silo <= len(self.silos) or self.silos[silo - 1] != site:
            self.log_warning(fl_ctx, f"{site} speaks as silo {silo}: left out")
            return make_reply(ReturnCode.BAD_REQUEST_DATA)
        self.place.due.put(request[FRAME])
        return make_reply(ReturnCode.OK)

    def _hear(self, client_task, fl_ctx):
        if client_task.result.get_return_code() != ReturnCode.OK:
            self.lost.append(client_task.client.name)

    def control_flow(self, abort_signal, fl_ctx):
        def send(frame):
            fl_ctx.get_engine().fire_and_forget_aux_request(
                [self.silos[silo_of(frame) - 1]], TOPIC, Shareable({FRAME: frame}), fl_ctx)

        def stopped():
            return abort_signal.triggered or HELPER in self.lost or len(self.lost) > self.may_lose
        task = Task(name=TASK, data=Shareable(), result_received_cb=self._hear)
        with self.place:
            self.broadcast(task, fl_ctx, min_responses=len(self.silos))
            code = self.place.carry(send, self, fl_ctx, stopped)
        until = time.monotonic() + GRACE  # silos store their models before the curator ends
        while code == 0 and task.completion_status is None and time.monotonic() < until:
            time.sleep(0.1)
        if code != 0 and not abort_signal.triggered:
            self.system_panic(f"{self.run} ended with {code}; silos that failed: {self.lost}; "
                              "submitted again, it goes on", fl_ctx)

    def stop_controller(self, fl_ctx):
        self.cancel_all_tasks(fl_ctx=fl_ctx)
