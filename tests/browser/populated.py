"""A cluster with everything that the page shows, and every word in it that somebody else may choose is an attack."""

import base64
import json
from typing import Any
from urllib.parse import quote

from ground import FAILING

from cluster import Client, eventually

IMAGE = "<img src=x onerror=stolen=1>"
MARKUP = f"<script>stolen=1</script>{IMAGE}"
TERMINAL = "\x1b[31mred"
HIDDEN_LINK = "\x1b]8;;javascript:stolen=1\x07a link\x1b]8;;\x07"
TURNED = "\u202egpj"  # shown from right to left, with whatever follows it in the same paragraph
ATTACK = f"{MARKUP}{TERMINAL}{TURNED}"
TITLE = f"{MARKUP}{TURNED}"  # a name holds no control characters
FILE = f"{IMAGE}.py"
PASSWORD = "A long password 1"
MARKDOWN = f"""\
# {MARKUP}
[a link](javascript:stolen=1) <a href="javascript:stolen=1">another</a>
[data](data:text/html;base64,PHNjcmlwdD53aW5kb3cuc3RvbGVuPTE8L3NjcmlwdD4=) ![tracker](http://192.0.2.1/seen.png)
<iframe srcdoc="<script>parent.stolen=1</script>"></iframe><svg onload="stolen=1"></svg>
<form action="http://192.0.2.1/"><button>Save</button></form><style>body {{ display: none }}</style>
<details open ontoggle="stolen=1">x</details>

{TURNED}

| a | b |
|---|---|
| {"wide" * 40} | {MARKUP} |
"""
TRIAL = f"""\
import sys
from determined import core, get_cluster_info
number = get_cluster_info().trial.hparams["number"]
evil = {ATTACK!r}
print(evil, {HIDDEN_LINK!r})
print("\\x1b[2J\\x1b[H" + evil, file=sys.stderr)
if number == 3:
    raise RuntimeError(evil)
with core.init() as ctx:
    for step in range(1, 31):
        ctx.train.report_training_metrics(steps_completed=step, metrics={{"loss": number / step, evil: step}})
    ctx.train.report_validation_metrics(steps_completed=30, metrics={{"x": 0.1 * number, evil: -number}})
    with ctx.checkpoint.store_path({{"steps_completed": 30, evil: evil}}) as (path, _):
        (path / {FILE!r}).write_text(evil)
"""
WAITING = """\
import time
from determined import core
with core.init() as ctx:
    while not ctx.preempt.should_preempt():
        time.sleep(0.1)
"""


def populate(url: str) -> dict[str, Any]:
    """Numbers and ids of what there is: w a workspace, p its project, e a search of four trials of which one failed,
    s a single trial, t that trial, u its checkpoint, f an experiment that failed, r one that runs, q one that waits for
    slots, c a command that failed, tpl a template, as an address names it, m a model with two versions, h a webhook,
    d a delivery of it that its address refused.
    """
    client = Client(url)
    stranger = _name_people(url, client)
    workspace = client.post("/api/v1/workspaces", {"name": MARKUP})["workspace"]["id"]
    client.post(f"/api/v1/workspaces/{workspace}/pin")
    body = {"name": TITLE, "description": ATTACK, "workspaceId": workspace}
    project = client.post(f"/api/v1/workspaces/{workspace}/projects", body)["project"]["id"]
    notes = [{"name": TITLE, "contents": MARKDOWN}, {"name": "second", "contents": "plain"}]
    client.call("PUT", f"/api/v1/projects/{project}/notes", {"notes": notes, "projectId": project})
    client.post(f"/api/v1/projects/{project}/views", {"name": TITLE, "state": "?q=state%20%3D%20COMPLETED"})
    found = {"w": workspace, "p": project, "h": _webhook(client, workspace)}
    found |= _experiments(client, stranger, project)
    found["d"] = client.get(f"/api/v1/webhooks/{found['h']}/deliveries")["deliveries"][-1]["id"]
    found["t"] = client.trials(found["s"])[0]["id"]
    found["u"] = client.get(f"/api/v1/trials/{found['t']}/checkpoints")["checkpoints"][0]["uuid"]
    found["c"] = _command(client, workspace)
    found["tpl"] = _template(client, workspace)
    found["m"] = _model(client, workspace, found["u"])
    return found


def submit_hostile(client: Client, project: int, script: str, **config: Any) -> int:
    """An experiment whose name, description, labels, hyperparameters, files and notes are attacks."""
    full = {
        "name": TITLE,
        "description": ATTACK,
        "labels": [TITLE, "ordinary"],
        "entrypoint": "python3 train.py",
        "searcher": {"name": "single", "metric": "x", "max_length": {"batches": 30}},
        "hyperparameters": {"number": 1, ATTACK: ATTACK, "nested": {MARKUP: [ATTACK]}},
        "data": {ATTACK: ATTACK},
        "max_restarts": 0,
        **config,
    }
    files = {"train.py": script, FILE: ATTACK, "notes.html": f"<html>{MARKUP}</html>", "read.md": MARKDOWN}
    definition = [_file(path, content) for path, content in files.items()]
    body = {"config": json.dumps(full), "modelDefinition": definition, "activate": True, "projectId": project}
    made: int = client.post("/api/v1/experiments", body)["experiment"]["id"]
    client.call("PATCH", f"/api/v1/experiments/{made}", {"id": made, "notes": MARKDOWN})
    return made


def _name_people(url: str, client: Client) -> Client:
    """Somebody else, whose very name is an attack; a message of the administrator as well."""
    me = client.get("/api/v1/me")["user"]["id"]
    client.call("PATCH", f"/api/v1/users/{me}", {"displayName": TITLE})
    setting = {"key": ATTACK, "storagePath": ATTACK, "value": MARKUP * 20}
    client.post("/api/v1/users/setting", {"settings": [setting]})
    admin = Client(url, "admin")
    user = {"username": IMAGE, "displayName": f"{TITLE} too", "active": True, "admin": False}
    admin.post("/api/v1/users", {"user": user, "password": PASSWORD, "isHashed": False})
    admin.call("PUT", "/api/v1/master/cluster_message", {"message": ATTACK, "startTime": "2020-01-01T00:00:00Z"})
    return Client(url, IMAGE, PASSWORD)


def _command(client: Client, workspace: int) -> str:
    config = {
        "description": TITLE,
        "entrypoint": ["python3", "-c", f"print({ATTACK!r}, {HIDDEN_LINK!r}); raise SystemExit({MARKUP!r})"],
        "resources": {"slots": 0},
        "environment": {"environment_variables": [f"X={MARKUP}"]},
    }
    made: str = client.post("/api/v1/commands", {"config": config, "workspaceId": workspace})["command"]["id"]
    eventually(lambda: client.get(f"/api/v1/commands/{made}")["command"]["endTime"])
    return made


def _template(client: Client, workspace: int) -> str:
    name = quote(TITLE.replace("/", ""), safe="")
    config = {"description": ATTACK, "labels": [TITLE], "data": {ATTACK: MARKUP}, MARKUP: ATTACK}
    client.call("PUT", f"/api/v1/templates/{name}", {"config": config, "workspaceId": workspace})
    return name


def _webhook(client: Client, workspace: int) -> int:
    done = {"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": "COMPLETED"}}
    line = {"triggerType": "TRIGGER_TYPE_TASK_LOG", "condition": {"regex": TITLE}}
    metric = {"metric": ATTACK, "group": ATTACK, "operator": "<", "value": 0.1}
    limit = {"triggerType": "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED", "condition": metric}
    body = {"url": "http://127.0.0.1:9/?q=%3Cscript%3E", "name": TITLE, "workspaceId": workspace}
    made: int = client.post("/api/v1/webhooks", {**body, "triggers": [done, line, limit]})["webhook"]["id"]
    return made


def _model(client: Client, workspace: int, checkpoint: str) -> int:
    name = TITLE.replace("/", "")
    body = {"name": name, "description": ATTACK, "labels": [TITLE], "metadata": {ATTACK: MARKUP}, "notes": MARKDOWN}
    made: int = client.post("/api/v1/models", {**body, "workspaceId": workspace})["model"]["id"]
    version = {"checkpointUuid": checkpoint, "name": TITLE, "comment": ATTACK, "notes": MARKDOWN, "labels": [TITLE]}
    for _ in range(2):  # to be compared with one another
        client.post(f"/api/v1/models/{made}/versions", version)
    client.call("PUT", f"/api/v1/models/{made}/aliases/production", {"version": 1})
    return made


def _experiments(client: Client, stranger: Client, project: int) -> dict[str, int]:
    numbers = {"type": "categorical", "vals": [1, 2, 3, 4]}
    rate = {"type": "categorical", "vals": [ATTACK]}
    search = {"name": "grid", "metric": "x", "max_length": {"batches": 30}}
    made = {
        "e": submit_hostile(
            client, project, TRIAL, searcher=search, hyperparameters={"number": numbers, ATTACK: rate, "lr": 0.1}
        ),
        "s": submit_hostile(client, project, TRIAL),
        "f": submit_hostile(client, project, FAILING),
    }
    for name in ("e", "s", "f"):
        client.wait_state(made[name], "COMPLETED", "ERROR")
    made["r"] = submit_hostile(client, project, WAITING)
    client.wait_state(made["r"], "RUNNING")
    made["q"] = submit_hostile(stranger, project, WAITING, resources={"slots_per_trial": 4})
    eventually(lambda: client.state(made["q"]) == "QUEUED")
    return made


def _file(path: str, content: str) -> dict[str, Any]:
    packed = base64.b64encode(content.encode()).decode()
    return {"path": path, "type": 48, "content": packed, "mtime": "0", "mode": 0o644, "uid": 0, "gid": 0}
