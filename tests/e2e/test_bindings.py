"""Run a script on `determined.common` with our package and with the official one: same text, same cluster."""

import subprocess
import sys
from pathlib import Path

import pytest

from cluster import HANG_SECONDS, Cluster, clean_environment, official_python

SCRIPT = """
import itertools
import pathlib
import sys

from determined.cli import ntsc
from determined.common import api, context, util
from determined.common.api import authentication, bindings, certs, errors
from determined.common.streams import _client, wire

master = api.canonicalize_master_url(api.get_default_master_url())
session = authentication.login(master, "admin", "", cert=certs.default_load(master))
assert bindings.get_GetMe(session).user.username == session.username == "admin"
assert authentication.login_with_cache(master, "determined", "").username == "determined"
assert authentication.logout(master, "determined", None) == "determined"
try:
    authentication.login(master, "admin", "wrong")
except (errors.UnauthenticatedException, errors.ForbiddenException) as e:
    assert str(e)
else:
    raise AssertionError("a wrong password was taken")

files = context.read_v1_context(pathlib.Path("model"))
assert sorted(f.path for f in files) == ["train.py"] and isinstance(files[0], bindings.v1File)
assert context.read_legacy_context(pathlib.Path("model"))[0]["path"] == "train.py"
config = {"name": "first", "entrypoint": "python3 train.py", "searcher": {"name": "single", "metric": "x"}}
body = bindings.v1CreateExperimentRequest(config=util.yaml_safe_dump(config), modelDefinition=files, activate=True)
experiment = bindings.post_CreateExperiment(session, body=body).experiment
assert util.parse_protobuf_timestamp(experiment.startTime).tzinfo is not None

def state():
    now = bindings.get_GetExperiment(session, experimentId=experiment.id).experiment.state
    return now == bindings.experimentv1State.COMPLETED, now

assert str(util.wait_for(state, timeout=120)) == "COMPLETED"
body = bindings.v1PatchExperiment(id=experiment.id, name=RENAMED, notes="kept", labels=[NAME])
bindings.patch_PatchExperiment(session, body=body, experiment_id=experiment.id)
body = bindings.v1PatchExperiment(id=experiment.id, description="only this")
bindings.patch_PatchExperiment(session, body=body, experiment_id=experiment.id)
got = bindings.get_GetExperiment(session, experimentId=experiment.id).experiment
assert (got.name, got.notes, got.labels, got.description) == (RENAMED, "kept", [NAME], "only this")
listed = api.read_paginated(lambda at: bindings.get_GetExperiments(session, offset=at, limit=1, name=RENAMED))
assert [e.id for page in listed for e in page.experiments] == [experiment.id]
states, order = [bindings.experimentv1State.COMPLETED], bindings.v1GetExperimentsRequestSortBy.ID
page = bindings.get_GetExperiments(session, states=states, sortBy=order, experimentIdFilter_incl=[experiment.id])
assert page.pagination.total == 1 and bindings.v1Experiment.from_json(page.experiments[0].to_json()).id == experiment.id
trial = bindings.get_GetExperimentTrials(session, experimentId=experiment.id).trials[0]
lines = [line.message for line in bindings.get_TrialLogs(session, trialId=trial.id, follow=True)]
assert any("hello from the trial" in line for line in lines), lines
assert len(list(api.trial_logs(session, trial.id, tail=2))) == 2
parts = bindings.get_GetMetrics(session, trialIds=[trial.id], group="validation")
reports = [report for part in parts for report in part.metrics]
assert reports[0].metrics["validation_metrics"] == {"x": 1.0}, reports[0].metrics

task = {"entrypoint": ["sh", "-c", "echo hello from a command"], "resources": {"slots": 0}}
command = bindings.post_LaunchCommand(session, body=bindings.v1LaunchCommandRequest(config=task)).command
assert ntsc.TASK_ID_REGEX.match(command.id)
ended = api.wait_for_ntsc_state(session, api.NTSC_Kind.command, command.id,
                                lambda s: s == bindings.taskv1State.TERMINATED, timeout=120)
assert ended == bindings.taskv1State.TERMINATED
assert any("hello from a command" in line.log for line in api.task_logs(session, command.id))

workspace = bindings.post_PostWorkspace(session, body=bindings.v1PostWorkspaceRequest(name=NAME)).workspace
assert api.workspace_by_name(session, NAME).id == workspace.id
body = bindings.v1PostProjectRequest(name="streamed", workspaceId=workspace.id)
project = bindings.post_PostProject(session, body=body, workspaceId=workspace.id).project
stream = _client.Stream(_client.LomondStreamWebSocket(session))
stream.subscribe("mine", projects=_client.ProjectSpec(workspace_id=workspace.id))
start, row, end = itertools.islice(stream, 3)
assert (start, end) == (_client.Sync("mine", False), _client.Sync("mine", True)), (start, end)
assert isinstance(row, wire.ProjectMsg) and row.to_json()["name"] == "streamed"
bindings.patch_PatchProject(session, id=project.id, body=bindings.v1PatchProject(name="other"))
changed = next(stream)
assert changed.name == "other" and changed.seq > row.seq
bindings.delete_DeleteProject(session, id=project.id)
gone = next(event for event in stream if isinstance(event, wire.DeleteMsg))
assert gone == wire.ProjectsDeleted(str(project.id))
stream.close()

try:
    session.get(f"/api/v1/experiments/4711")
except errors.NotFoundException as e:
    assert e.status_code == 404 and "4711" in e.message
try:
    bindings.post_PostWorkspace(session, body=bindings.v1PostWorkspaceRequest(name=NAME))
except errors.APIException as e:
    assert e.status_code == 409 and e.response_error["error"], e.response_error
print("all done")
"""
_TRAIN = """
import determined as det

with det.core.init() as context:
    print("hello from the trial")
    context.train.report_validation_metrics(1, {"x": 1.0})
"""


@pytest.mark.parametrize("package", ["ours", pytest.param("official", marks=pytest.mark.official)])
def test_a_script_on_the_bindings_runs_with_both_packages(
    cluster: Cluster, home: Path, tmp_path: Path, package: str
) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "train.py").write_text(_TRAIN)
    python = sys.executable if package == "ours" else str(official_python())
    env = clean_environment(
        HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"), DET_MASTER=cluster.url
    )
    done = subprocess.run(
        [python, "-W", "ignore", "-c", f"NAME = {package!r}\nRENAMED = 'renamed-' + NAME\n{SCRIPT}"],
        capture_output=True, text=True, env=env, timeout=HANG_SECONDS, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout.endswith("all done\n"), f"{done.stdout}\n{done.stderr}"
