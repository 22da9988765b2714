"""Three sites carried by NVIDIA FLARE, in its simulator and provisioned with mutual TLS: the models
of one process; a silo that is killed; what FLARE and the sites refuse. Then the guide.

    run.sh BUILD nvflare
"""
import glob
import json
import os
import re
import shutil
import signal
import sys
import time
import types

import billboard_nvflare
from nvflare.apis.fl_exception import UnsafeComponentError
from nvflare.apis.shareable import Shareable
from nvflare.apis.workspace import Workspace
from nvflare.app_common.widgets.component_path_authorizer import ComponentPathAuthorizer

from world import (LIMIT, SOURCE, call, check_as_one, folder, free_ports, make_world, read,
                   run_cases, run_page, start, wait_for, write)

SITES = ["north", "south", "east"]
JOB = f"{SOURCE}/carriers/nvflare/job"
KITS = "kits/joint/prod_00"
PROJECT = """
api_version: 3
name: joint
participants:
  - {{name: localhost, type: server, org: joint, fed_learn_port: {}, admin_port: {}}}
  - {{name: north, type: client, org: north}}
  - {{name: south, type: client, org: south}}
  - {{name: east, type: client, org: east}}
  - {{name: helper, type: client, org: helper}}
  - {{name: admin@joint.org, type: admin, org: joint, role: project_admin}}
builders:
  - path: nvflare.lighter.impl.workspace.WorkspaceBuilder
  - path: nvflare.lighter.impl.static_file.StaticFileBuilder
    args: {{config_folder: config, scheme: grpc}}
  - path: nvflare.lighter.impl.cert.CertBuilder
  - path: nvflare.lighter.impl.signature.SignatureBuilder
"""
OF_SILO = ["{site}.csv", "--plan", "plan.json", "--policy", "policy.json", "--key", "{site}.key",
           "--roster", "roster.json", "--checkpoint", "wards.state", "-o", "out"]
OF_HELPER = ["--plan", "plan.json", "--key", "helper.key", "--roster", "roster.json",
             "--checkpoint", "wards.state"]
OF_CURATOR = ["--plan", "plan.json", "--key", "curator.key", "--roster", "roster.json",
              "--checkpoint", "wards.state", "-o", "out"]


def fill(site, to):
    """A site's own folder: what it has agreed to, its key, and its rows."""
    kind, line, own = {
        "localhost": ("curator", OF_CURATOR, ["curator.key"]),
        "helper": ("helper", OF_HELPER, ["helper.key"]),
    }.get(site, ("silo", OF_SILO, ["policy.json", f"{site}.csv", f"{site}.key"]))
    write(f"{to}/{kind}.json", {"wards": line})
    for name in ["plan.json", "roster.json", *own]:
        shutil.copy(name, to)


def simulate(*helpers, **plan):
    """In FLARE's simulator, where all sites have one folder to begin with."""
    with folder():
        make_world(SITES, epsilon=4, seed=3, **plan)
        for site in ["localhost", *SITES, *helpers]:
            fill(site, "sim/local/billboard")
        write("sim/local/resources.json", {"class_allow_list": ["billboard_nvflare.Silo",
                                                                "billboard_nvflare.Curator"]})
        clients = [*SITES, *helpers]
        call("nvflare", "simulator", JOB, "-w", "sim", "-c", ",".join(clients), "-t",
             str(len(clients)))
        check_as_one([f"sim/{site}/local/billboard/out" for site in SITES],
                     "sim/server/local/billboard/out")


def the_simulator_gives_the_models_of_one_process():
    simulate(method="mp-mixed")


def the_simulator_carries_two_doors():
    simulate("helper", method="fedprox", rounds=5, doors=2)


def words(site):
    """All that FLARE has logged at a site; not what Billboard said there."""
    return b"".join(read(path) for path in [*glob.glob(f"{KITS}/{site}/*.log"), *glob.glob(
        f"{KITS}/{site}/*.txt"), *glob.glob(f"{KITS}/{site}/*/*.txt")]).decode(errors="replace")


def everything(site="*"):
    """What there is to look at when something went wrong: also what Billboard said."""
    said = [f"== {path}\n{read(path).decode(errors='replace')[-3000:]}" for path in
            sorted(glob.glob(f"{KITS}/{site}/local/billboard/*.log"))]
    return "\n".join([words("localhost")[-6000:], *said])


def submit(job):
    return re.search("job_id: ([-0-9a-f]+)", call("nvflare", "job", "submit", "-j", job))[1]


def ended(number):
    """How a job has ended, when it has."""
    status = []

    def over():
        meta = json.loads(call("nvflare", "--format", "json", "job", "meta", number))
        status.append(meta["data"].get("status", ""))
        return status[-1].startswith("FINISHED")
    wait_for(over, lambda: f"{status}\n{everything()}")
    return status[-1]


def begin(started):
    """FLARE as its POC mode provisions and starts it: certificates of one authority for all."""
    write("project.yml", PROJECT.format(*free_ports(2)))
    os.environ["NVFLARE_POC_WORKSPACE"] = os.path.abspath("kits")
    call("nvflare", "poc", "prepare", "-i", os.path.abspath("project.yml"), "--force")
    places = ["localhost", *SITES, "helper"]
    call(sys.executable, "-m", "billboard_nvflare", *[f"{KITS}/{site}" for site in places])
    for site in places:
        fill(site, f"{KITS}/{site}/local/billboard")
    shutil.copytree(JOB, "job")
    meta = read("job/meta.json").decode()
    assert '"min_clients": 3' in meta
    write("job/meta.json", meta.replace('"min_clients": 3', '"min_clients": 4'))
    start(started, "poc.log", "nvflare", "poc", "start", "--timeout", str(LIMIT)).wait()
    assert b"Ready to go" in read("poc.log"), read("poc.log")


def silo_process(site):
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                line = read(f"/proc/{name}/cmdline").split(b"\0")
                if line[:2] == [b"billboard", b"silo"] and f"{site}.csv".encode() in line \
                        and os.readlink(f"/proc/{name}/cwd").startswith(os.getcwd()):
                    return int(name)
            except OSError:
                pass
    return None


def provisioned_sites_give_the_models_of_one_process_and_survive_kills():
    """With two doors: the helper is one more of them."""
    with folder() as started:
        make_world(SITES, method="fedprox", rounds=60, epsilon=4, seed=3, doors=2)
        begin(started)
        checkpoint = f"{KITS}/localhost/local/billboard/wards.state"
        number = submit("job")
        assert os.path.exists(f"{KITS}/localhost/jobs-storage/{number}")  # no other server takes it
        wait_for(lambda: os.path.exists(checkpoint), everything)
        wait_for(lambda: silo_process("north"), everything)
        time.sleep(0.3)
        os.kill(silo_process("north"), signal.SIGKILL)
        assert ended(number) != "FINISHED:COMPLETED"
        told = "silos that failed: ['north']; submitted again, it goes on"
        assert told in words("localhost"), everything()
        number = submit("job")
        assert ended(number) == "FINISHED:COMPLETED", everything()
        out = "local/billboard/out"
        check_as_one([f"{KITS}/{site}/{out}" for site in SITES], f"{KITS}/localhost/{out}")
        # what a silo says of its rows stays there
        assert b"training rows" in read(f"{KITS}/north/local/billboard/silo.log")
        assert "training rows" not in words("north") + words("localhost")
        print(*re.findall(r"Curator - INFO .* (curator: .*)", words("localhost")), sep="\n")
        what_a_site_refuses()


def what_a_site_refuses():
    """Code that a job brings, a class that is not the adapter's, a run that it does not know."""
    shutil.copytree(JOB, "code")
    write("code/app/custom/spy.py", "print('a stranger is here')\n")
    assert ended(submit("code")) == "FINISHED:FAILED_TO_RUN"
    assert "BYOC not permitted" in words("localhost"), words("localhost")[-3000:]
    assert "a stranger is here" not in "".join(map(words, ["localhost", *SITES]))
    for site, kind in [("localhost", "Curator"), ("north", "Silo")]:
        workspace = Workspace(f"{KITS}/{site}", site)
        allow = ComponentPathAuthorizer().authorize_component_config
        allow({"path": f"billboard_nvflare.{kind}"}, workspace=workspace)
        for path in ["nvflare.app_common.np.np_trainer.NPTrainer", "subprocess.Popen",
                     "billboard_nvflare.Place"]:
            try:
                allow({"path": path}, workspace=workspace)
            except UnsafeComponentError:
                continue
            raise AssertionError(f"{path} is allowed at {site}")
    engine = types.SimpleNamespace(get_workspace=lambda: Workspace(f"{KITS}/north", "north"))
    context = types.SimpleNamespace(get_engine=lambda: engine, get_identity_name=lambda: "north")
    try:
        billboard_nvflare.Place(context, "silo", "other")
    except ValueError as error:
        assert str(error) == "silo.json of north has no run 'other'"
    else:
        raise AssertionError("a run that the site does not know")


def nobody_speaks_for_another():
    curator = billboard_nvflare.Curator("wards")
    taken = []
    curator.silos = [*SITES, "helper"]
    curator.place = types.SimpleNamespace(due=types.SimpleNamespace(put=taken.append))
    curator.log_warning = lambda fl_ctx, text: None
    for site, silo, size, may in [("north", 1, 200, True), ("north", 2, 200, False),
                                  ("north", 0, 200, False), ("east", 4, 200, False),
                                  ("east", 3, 20, False), ("east", 3, 200, True),
                                  ("helper", 4, 200, True), ("helper", 3, 200, False),
                                  ("helper", 5, 200, False)]:
        frame = (bytes(56) + silo.to_bytes(4, "little") + bytes(200))[:size]
        peer = types.SimpleNamespace(get_identity_name=lambda name=site: name)
        context = types.SimpleNamespace(get_peer_context=lambda of=peer: of)
        reply = curator._take("", Shareable({billboard_nvflare.FRAME: frame}), context)
        assert (reply.get_return_code() == "OK") == may, (site, silo, size)
    assert len(taken) == 3


def the_guide_works():
    with folder():
        one, two = free_ports(2)
        run_page("docs/nvflare.md", {"8002": str(one), "8003": str(two), "SOURCES": SOURCE})


run_cases([nobody_speaks_for_another, the_simulator_gives_the_models_of_one_process,
           the_simulator_carries_two_doors,
           provisioned_sites_give_the_models_of_one_process_and_survive_kills, the_guide_works])
