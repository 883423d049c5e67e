"""Rules for users, workspaces, projects and continued experiments, by the official client's generated bindings."""

import subprocess
from pathlib import Path

import pytest

from cluster import HANG_SECONDS, Cluster, clean_environment, official_python

pytestmark = pytest.mark.official

TOOLS = """
from determined.common.api import bindings as b, errors
from determined.experimental import client

def login(name, password=""):
    client._determined = None
    client.login(user=name, password=password)
    return client._determined._session

def status(call, *words):
    '''What a call is refused with; its message has these words.'''
    try:
        call()
    except errors.ForbiddenException as e:
        found, text = 403, str(e)
    except errors.APIException as e:
        found, text = e.status_code, e.message
    except errors.UnauthenticatedException as e:
        return 401
    else:
        return 200
    assert all(word in text for word in words), text
    return found

admin, plain = login("admin"), login("determined")
"""
USERS = """
whole = dict(agentUid=2001, agentGid=2001, agentUser="ada", agentGroup="ada")

def new(name, password="Secret-123", link=None, **fields):
    group = b.v1AgentUserGroup(**link) if link is not None else None
    user = b.v1User(username=name, admin=False, active=True, agentUserGroup=group, **fields)
    body = b.v1PostUserRequest(user=user, password=password)
    return b.post_PostUser(admin, body=body).user

def change(user, **fields):
    return b.patch_PatchUser(admin, body=b.v1PatchUser(**fields), userId=user.id).user

for key in whole:
    partial = {k: v for k, v in whole.items() if k != key}
    assert status(lambda: new("ada", link=partial), "cannot be empty") == 400
ada = new("ada", link=whole, displayName="Ada L")
assert ada.agentUserGroup.agentUid == 2001
assert status(lambda: change(ada, agentUserGroup=b.v1AgentUserGroup(agentUid=5))) == 400
assert status(lambda: new("ada")) in (400, 409)
assert status(lambda: new("faraway", remote=True)) == 400, "a remote user has no password"
for name in ("x", "\\u0430dmin", "zo\\u00eb"):
    assert status(lambda: new(name)) == 400, name
assert status(lambda: new("other", displayName="ADA l"), "similar") == 400
assert status(lambda: change(ada, displayName="Admin"), "similar") == 400
assert change(ada, displayName="").displayName in (None, "")
assert new("  Trimmed ").username == "trimmed"

def log_in(password):
    return b.post_Login(admin, body=b.v1LoginRequest(username="ada", password=password, isHashed=False))

assert status(lambda: log_in("wrong")) == 401
change(ada, active=False)
assert status(lambda: log_in("Secret-123"), "user is not active") == 403
"""
PLACES = """
def workspace(name, session=admin, **fields):
    return b.post_PostWorkspace(session, body=b.v1PostWorkspaceRequest(name=name, **fields)).workspace

def project(place, name):
    body = b.v1PostProjectRequest(name=name, workspaceId=place)
    return b.post_PostProject(admin, body=body, workspaceId=place).project

def renamed(place, name, session=admin):
    return b.patch_PatchWorkspace(session, body=b.v1PatchWorkspace(name=name), id=place).workspace

for session, refusal in ((plain, 403), (admin, 400)):
    assert status(lambda: renamed(1, "mine", session)) == refusal
    assert status(lambda: b.post_ArchiveWorkspace(session, id=1)) == refusal
    assert status(lambda: b.post_UnarchiveWorkspace(session, id=1)) == refusal
    assert status(lambda: b.delete_DeleteWorkspace(session, id=1)) == refusal
assert status(lambda: project(1, "p")) == 400
for name in ("", "  ", "x" * 54):
    assert status(lambda: workspace(name)) == 400, name
one = workspace("_TestWS", agentUserGroup=b.v1AgentUserGroup(agentGid=100, agentGroup="staff"))
two = workspace("_TestPatched")
assert status(lambda: workspace("_TestWS")) == 409 and status(lambda: renamed(two.id, "_TestWS")) == 409
assert (one.agentUserGroup.agentGid, one.agentUserGroup.agentUid) == (100, None)
pinned = b.get_GetWorkspaces(admin, pinned=True).workspaces
assert [w.id for w in pinned] == [one.id, two.id]
by_name = b.get_GetWorkspaces(admin, sortBy=b.v1GetWorkspacesRequestSortBy.NAME).workspaces
assert [w.name for w in by_name] == ["_TestPatched", "_TestWS", "Uncategorized"]
place = {"type": "shared_fs", "host_path": "/tmp"}
stored = b.patch_PatchWorkspace(admin, body=b.v1PatchWorkspace(checkpointStorageConfig=place), id=one.id).workspace
assert stored.checkpointStorageConfig["type"] == "shared_fs"
reset = b.patch_PatchWorkspace(admin, body=b.v1PatchWorkspace(checkpointStorageConfig={}), id=one.id).workspace
assert not reset.checkpointStorageConfig

inside, outside = project(one.id, "p"), project(two.id, "q")

def move(source, target):
    body = b.v1MoveProjectRequest(projectId=source, destinationWorkspaceId=target)
    return b.post_MoveProject(admin, body=body, projectId=source)

assert status(lambda: move(inside.id, 1)) == 400
b.post_ArchiveWorkspace(admin, id=one.id)
assert b.get_GetProject(admin, id=inside.id).project.archived
refused = [
    lambda: renamed(one.id, "new"), lambda: project(one.id, "new"), lambda: move(inside.id, two.id),
    lambda: move(outside.id, one.id), lambda: b.post_ArchiveProject(admin, id=inside.id),
    lambda: b.post_UnarchiveProject(admin, id=inside.id),
]
assert [status(call) for call in refused] == [400] * 6
b.post_ArchiveProject(admin, id=outside.id)
body = b.v1PatchProject(description="new")
assert status(lambda: b.patch_PatchProject(admin, body=body, id=outside.id)) == 400
assert b.delete_DeleteWorkspace(admin, id=two.id).completed
assert status(lambda: b.get_GetWorkspace(admin, id=two.id)) == 404
"""
CONTINUED = """
import json, pathlib, tempfile

config = {"name": "fails", "entrypoint": "exit 1", "max_restarts": 1, "searcher": {"name": "single", "metric": "x"}}
directory = pathlib.Path(tempfile.mkdtemp())
(directory / "c.yaml").write_text(json.dumps(config))
e = client.create_experiment(str(directory / "c.yaml"), str(directory))

def again(**override):
    body = b.v1ContinueExperimentRequest(id=e.id, overrideConfig=json.dumps(override))
    return b.post_ContinueExperiment(plain, body=body)

assert e.wait(interval=0.2) == client.ExperimentState.ERROR
(first,) = b.get_GetExperimentTrials(plain, experimentId=e.id).trials
shown = b.get_GetTrial(plain, trialId=first.id).trial
assert shown.restarts == 1 and len(shown.taskIds) == 1
again(max_restarts=2)
assert status(again, "non terminal") == 400
assert e.wait(interval=0.2) == client.ExperimentState.ERROR
now = b.get_GetTrial(plain, trialId=first.id).trial
assert (now.restarts, now.startTime) == (2, shown.startTime) and now.endTime > shown.endTime
assert list(now.taskIds) == [shown.taskIds[0], shown.taskIds[0] + "-1"]
logs = "".join(client.get_trial(first.id).iter_logs())
assert logs.count("New trial runner") == 5
assert "exited with status 1" in logs
"""


@pytest.mark.parametrize("rules", [USERS, PLACES, CONTINUED], ids=["users", "places", "continued"])
def test_a_rule_that_scripts_rely_on_holds(cluster: Cluster, home: Path, rules: str) -> None:
    check_rules(rules, official_python(), cluster, home)


def check_rules(rules: str, python: Path, cluster: Cluster, home: Path) -> None:
    env = clean_environment(
        HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"), DET_MASTER=cluster.url
    )
    done = subprocess.run(
        [str(python), "-W", "ignore", "-c", TOOLS + rules + "\nprint('ALL HOLD')"],
        capture_output=True, text=True, env=env, timeout=HANG_SECONDS, check=False, cwd=home,
    )  # fmt: skip
    assert "ALL HOLD" in done.stdout, f"{done.stdout}\n{done.stderr}"
