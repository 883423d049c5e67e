"""The official client, determined==0.38.1, with our model registry: SDK, bindings, command line, stream."""

import json
import subprocess
import uuid
from pathlib import Path

import pytest
from official_calls import COUNTED
from official_det import Det

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, official_python

pytestmark = pytest.mark.official

PREAMBLE = """
import json, sys, uuid
from determined.common import api
from determined.common.api import bindings, errors
from determined.experimental import client

client.login(user="determined", password="")
session = client._determined._session
CONFIG = json.dumps({"name": "n", "entrypoint": "x", "searcher": {"name": "single", "metric": "loss"}})

def trial():
    request = bindings.v1CreateExperimentRequest(config=CONFIG, unmanaged=True, activate=True)
    experiment = bindings.post_CreateExperiment(session, body=request).experiment
    body = bindings.v1CreateTrialRequest(experimentId=experiment.id, unmanaged=True, hparams={})
    made = bindings.post_CreateTrial(session, body=body).trial
    body = bindings.v1StartTrialRequest(trialId=made.id, resume=False)
    bindings.post_StartTrial(session, body=body, trialId=made.id)
    return made

def checkpoint(trial, steps=1):
    made = bindings.v1Checkpoint(
        uuid=str(uuid.uuid4()), metadata={"steps_completed": steps}, resources={"w": "3"}, taskId=trial.taskId,
        state=bindings.checkpointv1State.COMPLETED, training=bindings.v1CheckpointTrainingMetadata(),
    )
    bindings.post_ReportCheckpoint(session, body=made)
    return made.uuid

def refused(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"{words}: not refused")
"""
USE_SDK = """
tag = uuid.uuid4().hex[:6]
place = client.create_workspace("place " + tag)
made = client._determined.create_model("net " + tag, "a description", {"k": 1}, ["first", tag], place.name)
model = client.get_model(made.name)
assert (model.workspace_id, model.labels, model.metadata) == (place.id, ["first", tag], {"k": 1})
assert client.get_model(model.name).model_id == client.get_model(model.model_id).model_id == model.model_id
assert model.get_version() is None
refused(errors.APIException, "avoid names equal to other models", lambda: client.create_model(model.name))
refused(errors.NotFoundException, 'model "nothing" not found', lambda: client.get_model("nothing"))
refused(errors.APIException, "only numbers", lambda: client.create_model("123"))
elsewhere = lambda: client._determined.create_model("x" + tag, workspace_name="nowhere")
refused(errors.NotFoundException, "workspace", elsewhere)

other = client.create_model("aaa " + tag)
names = lambda **options: [m.name for m in client.list_models(**options) if tag in m.name]
assert names() == [other.name, model.name], "by name"
assert names(sort_by=client.ModelSortBy.CREATION_TIME, order_by=client.OrderBy.DESC) == [other.name, model.name]
assert names(name="NET") == names(workspace_names=[place.name]) == names(model_id=model.model_id) == [model.name]
assert names(description="DESCRIPTION") == names(workspace_ids=[place.id]) == [model.name]
assert tag in client.get_model_labels()

model.add_metadata({"j": [1, 2]})
model.remove_metadata(["k"])
model.set_labels(["second"])
model.set_description("new")
model.move_to_workspace("Uncategorized")
model.reload()
assert (model.metadata, model.labels, model.description) == ({"j": [1, 2]}, ["second"], "new")
assert model.workspace_id == 1
move = bindings.v1MoveModelRequest(modelName=model.name, destinationWorkspaceId=place.id)
bindings.post_MoveModel(session, body=move, modelName=model.name)

trained = trial()
uuids = [checkpoint(trained, steps) for steps in (1, 2)]
first, second = (model.register_version(one) for one in uuids)
assert (first.model_version, second.model_version, second.checkpoint.uuid) == (1, 2, uuids[1])
assert model.get_version().model_version == 2 and model.get_version(1).checkpoint.uuid == uuids[0]
assert [v.model_version for v in model.list_versions()] == [2, 1]
assert [v.model_version for v in model.list_versions(client.OrderBy.ASC)] == [1, 2]
refused(errors.NotFoundException, f'version 9 for model "{model.name}" not found', lambda: model.get_version(9))
refused(errors.NotFoundException, "not found", lambda: model.register_version(str(uuid.uuid4())))
first.set_name("good")
first.set_notes("notes")
patch = bindings.v1PatchModelVersion(comment="c", labels=["x"], metadata={"m": 1})
patched = bindings.patch_PatchModelVersion(session, body=patch, modelName=model.name, modelVersionNum=1).modelVersion
first.reload()
assert (first.name, first.notes, first.comment, first.metadata) == ("good", "notes", "c", {"m": 1})
assert (list(patched.labels), patched.model.numVersions) == (["x"], 2)

checkpoint_object = client.get_checkpoint(uuids[0])
refused(errors.APIException, "in the model registry and cannot be deleted", checkpoint_object.delete)
experiment = client.get_experiment(trained.experimentId)
ended = bindings.v1PatchTrialRequest(trialId=trained.id, state=bindings.trialv1State.COMPLETED)
bindings.patch_PatchTrial(session, body=ended, trialId=trained.id)
refused(errors.APIException, "checkpoints are registered as model versions", experiment.delete)
refused(errors.APIException, "contains models; move or delete models first",
        lambda: bindings.delete_DeleteWorkspace(session, id=place.id))

inference = trial()
kind = bindings.v1TrialSourceInfoType.INFERENCE
info = bindings.v1TrialSourceInfo(checkpointUuid=uuids[0], trialId=inference.id, trialSourceInfoType=kind,
                                  modelId=model.model_id, modelVersion=1)
bindings.post_ReportTrialSourceInfo(session, body=bindings.v1ReportTrialSourceInfoRequest(trialSourceInfo=info))
report = bindings.v1TrialMetrics(metrics=bindings.v1Metrics(avgMetrics={"speed": 3.5}), trialId=inference.id,
                                 trialRunId=1, stepsCompleted=7)
body = bindings.v1ReportTrialMetricsRequest(group="inference", metrics=report)
bindings.post_ReportTrialMetrics(session, body=body, metrics_trialId=inference.id)
[told] = list(first.iter_metrics("inference"))
assert (told.metrics, told.steps_completed, told.trial_id) == ({"speed": 3.5}, 7, inference.id), told
assert [m.group for m in first.iter_metrics()] == ["inference"] == [m.group for m in checkpoint_object.get_metrics()]
assert list(second.iter_metrics()) == []

model.archive()
refused(errors.APIException, "cannot have attributes updated", lambda: model.set_description("x"))
refused(errors.APIException, "cannot register new versions", lambda: model.register_version(uuids[0]))
assert names(name="net") == [model.name]
model.unarchive()
second.delete()
assert model.register_version(uuids[1]).model_version == 3, "numbers are not given again"
model.delete()
refused(errors.NotFoundException, "not found", model.reload)
other.delete()
all_called("models?", 15)
all_called("trial-source-info", 1)
print("USED")
"""
STREAM = """
from determined.common.streams import _client, wire

socket = _client.LomondStreamWebSocket(session)
made = client.create_model("streamed " + uuid.uuid4().hex[:6])
with _client.Stream(socket) as stream:
    stream.subscribe(sync_id="a", models=_client.ModelSpec(model_id=made.model_id))
    events = [next(stream) for _ in range(3)]
    assert [getattr(e, "complete", None) for e in events] == [False, None, True], events
    assert isinstance(events[1], wire.ModelMsg) and events[1].name == made.name
    made.set_description("changed")
    changed = next(stream)
    assert (changed.description, changed.seq > events[1].seq) == ("changed", True)
    made.delete()
    gone = next(event for event in stream if isinstance(event, wire.ModelsDeleted))
    assert gone.keys == str(made.model_id)

# this client cannot read deletions of versions, so they are followed apart and none is deleted meanwhile
made = client.create_model("versions " + uuid.uuid4().hex[:6])
registered = made.register_version(checkpoint(trial()))
with _client.Stream(_client.LomondStreamWebSocket(session)) as stream:
    stream.subscribe(sync_id="b", model_versions=_client.ModelVersionSpec(model_id=made.model_id))
    events = [next(stream) for _ in range(3)]
    assert (events[1].version, events[1].checkpoint_uuid) == (1, registered.checkpoint.uuid), events
    assert (events[1].model_id, events[2].complete) == (made.model_id, True)
    registered.set_name("renamed")
    assert next(stream).name == "renamed"
print("STREAMED")
"""


def run(cluster: Cluster, home: Path, script: str) -> str:
    env = clean_environment(
        HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"), DET_MASTER=cluster.url
    )
    done = subprocess.run(
        [str(official_python()), "-W", "ignore", "-c", COUNTED + PREAMBLE + script],
        capture_output=True, text=True, env=env, timeout=HANG_SECONDS, check=False, cwd=home,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_sdk_and_bindings_use_every_operation_of_the_registry(cluster: Cluster, home: Path) -> None:
    assert "USED" in run(cluster, home, USE_SDK)


def test_the_streaming_client_follows_models_and_versions(cluster: Cluster, home: Path) -> None:
    assert "STREAMED" in run(cluster, home, STREAM)


def test_every_command_of_det_model_works(det: Det, client: Client, cluster: Cluster, home: Path) -> None:
    name, place = f"net {uuid.uuid4().hex[:6]}", f"w{uuid.uuid4().hex[:6]}"
    det("workspace", "create", place)
    made = det("model", "create", name, "-w", place, "--description", "words").stdout
    assert ("Workspace ID" in made, "words" in made) == (True, True), made
    checkpoints = run(cluster, home, "t = trial(); print(checkpoint(t), checkpoint(t))").split()
    one = json.loads(det("m", "register-version", name, checkpoints[0], "--json").stdout)
    assert one["modelVersion"]["version"] == 1
    two = det("model", "register-version", name, checkpoints[1]).stdout
    assert ("Version #" in two, checkpoints[1] in two) == (True, True), two
    listed = json.loads(det("model", "list-versions", name, "--json").stdout)
    assert [version["version"] for version in listed["modelVersions"]] == [1, 2]
    assert checkpoints[0] in det("model", "list-versions", name).stdout
    assert checkpoints[1] in det("model", "describe", name).stdout, "the newest version"
    assert checkpoints[0] in det("model", "describe", name, "--version", "1").stdout
    assert json.loads(det("model", "describe", name, "--json").stdout)["name"] == name
    for words in (("model",), ("m", "ls"), ("model", "list", "-w", f"{place},nowhere", "--sort-by", "name")):
        assert name in det(*words).stdout, words
    rows = json.loads(det("model", "list", "--order-by", "desc", "--json").stdout)
    assert rows[0]["name"] == name
    det("model", "move", name, "-w", "Uncategorized")
    assert name not in det("model", "list", "-w", place).stdout
    det("model", "delete", name)
    gone = det("model", "describe", name, check=False)
    assert (gone.returncode, f'model "{name}" not found' in gone.stderr) == (1, True), gone.stderr
