"""python3 -m billboard_nvflare KIT...: makes the provisioned kits of sites, which FLARE has given
wide defaults, allow what a run of Billboard needs and no more: no code and no shell command from
outside, no class but the adapter's, and no log that leaves the site. A server keeps its jobs in its
kit: FLARE's default is one folder in /tmp, from which each server of a machine takes the jobs of
the others. So a kit is made ready where it stays."""
import json
import os
import sys

from nvflare.lighter.utils import update_storage_locations

LOGS = "nvflare.app_common.logging.job_log_"  # FLARE puts these into every job
ALLOWED = {True: ["billboard_nvflare.Curator", f"{LOGS}receiver.JobLogReceiver"],
           False: ["billboard_nvflare.Silo", f"{LOGS}streamer.JobLogStreamer"]}
RIGHTS = {**dict.fromkeys(["submit_job", "clone_job", "manage_job", "download_job", "view",
                           "operate"], "any"),
          **dict.fromkeys(["byoc", "shell_commands", "server-predeployed-flwr"], "none")}
ROLES = {"project_admin": RIGHTS, "lead": RIGHTS, "org_admin": {"view": "any"},
         "member": {"view": "any"}}


def write(kit, name, value):
    with open(os.path.join(kit, "local", name), "w", encoding="utf-8") as f:
        json.dump(value, f, indent=2)


def prepare(kit):
    local = os.path.join(kit, "local")
    of_server = os.path.exists(os.path.join(kit, "startup", "fed_server.json"))
    if of_server:
        update_storage_locations(local, os.path.abspath(kit))  # writes resources.json
    name = "resources.json" if of_server else "resources.json.default"
    with open(os.path.join(local, name), encoding="utf-8") as f:
        resources = json.load(f)
    resources["class_allow_list"] = ALLOWED[of_server]
    if not of_server:
        resources["allow_log_streaming"] = False
    write(kit, "resources.json", resources)
    write(kit, "authorization.json", {"format_version": "1.0", "permissions": ROLES})
    os.makedirs(os.path.join(kit, "local", "billboard"), mode=0o700, exist_ok=True)


if __name__ == "__main__":
    for path in sys.argv[1:] or sys.exit(__doc__):
        prepare(path)
