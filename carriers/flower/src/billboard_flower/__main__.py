"""python3 -m billboard_flower superlink|supernode PLACE [ARGUMENTS]: Flower's own program with
ARGUMENTS, for what is in the folder PLACE. Code that a run brings is not executed there: every
message is for this package's app, and is worked on in a copy of one process, which spares a phone
the seconds that it takes to load Flower."""
import argparse
import os
import queue
import shutil
import sys

MORE = {"superlink": ["--enable-supernode-auth", "--disable-runtime-dependency-installation"],
        "supernode": []}


def start(kind, place, *arguments):
    place, program = os.path.abspath(place), shutil.which(f"flower-{kind}")
    allowed = os.path.join(place, "allowed")  # all that Flower can start
    shutil.rmtree(allowed, ignore_errors=True)
    os.makedirs(allowed)
    os.symlink(os.path.abspath(shutil.which("billboard")), os.path.join(allowed, "billboard"))
    with open(os.path.join(allowed, "flower-superexec"), "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\nexec '{sys.executable}' -m billboard_flower copies {kind} \"$@\"\n")
    os.chmod(f.name, 0o700)
    os.environ.update({"PATH": allowed, "BILLBOARD_PLACE": place, "FLWR_HOME": f"{place}/flwr",
                       "FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"})
    os.execv(program, [program, *arguments, *MORE[kind]])


class Copies:
    """What Flower calls an executor: of one type of tasks, by `work`."""

    def __init__(self, task_type, work):
        self.type, self.work = task_type, work

    def get_eligible_capacity(self, supported_task_types, **_):
        return {self.type} & set(supported_task_types), set()

    def launch(self, spec):
        from flwr.supercore.superexec.executor.types import LaunchResult
        if os.fork() == 0:
            try:
                certificates = None
                if spec.root_certificates_path:
                    with open(spec.root_certificates_path, "rb") as f:
                        certificates = f.read()
                self.work(runtime_api_address=spec.runtime_api_address, token=spec.token,
                          insecure=spec.insecure, certificates=certificates,
                          parent_pid=os.getppid())
            except Exception:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(0)  # how it went, Flower has been told
        return LaunchResult.accepted()

    def reconcile(self):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass  # there is none

    def close(self):
        pass


def serve_with_copies(kind, *arguments):
    """In the place of `flower-superexec`."""
    from flwr.supercore.constant import TaskType
    from flwr.supercore.superexec import run_superexec
    from . import apps
    if kind == "supernode":
        import flwr.clientapp.utils
        from flwr.supernode.runtime.run_clientapp import run_clientapp
        flwr.clientapp.utils.load_app = lambda *_: apps.client
        copies = Copies(TaskType.CLIENT_APP, run_clientapp)
    else:
        import flwr.server.run_serverapp
        from flwr.supercore.logger import mirror_output_to_queue
        from flwr.superlink.runtime import run_serverapp
        flwr.server.run_serverapp.load_app = lambda *_: apps.server

        def run_with_log(**given):
            log = queue.Queue()
            mirror_output_to_queue(log)
            run_serverapp(log_queue=log, **given)
        copies = Copies(TaskType.SERVER_APP, run_with_log)
    run_superexec.get_executor = lambda *_, **__: copies
    parser = argparse.ArgumentParser()
    parser.add_argument("--runtime-api-address")
    parser.add_argument("--insecure", action="store_true")
    parser.add_argument("--root-certificates", dest="root_certificates_path")
    parser.add_argument("--parent-pid", type=int)
    run_superexec.run_superexec(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    given = sys.argv[1:]
    if given[:1] == ["copies"]:
        serve_with_copies(*given[1:])
    elif len(given) > 1 and given[0] in MORE:
        start(*given)
    else:
        sys.exit(__doc__)
