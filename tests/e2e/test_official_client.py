"""The official client, determined==0.38.1 in an environment of its own, against our master: command line and SDK."""

import importlib.util
import json
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
from held import stays_until_paused

from cluster import (
    HANG_SECONDS,
    ROOT,
    Client,
    Cluster,
    clean_environment,
    copy_example,
    eventually,
    official,
    official_python,
)

pytestmark = pytest.mark.official


def _sdk(home: Path, master: str, code: str, *, cwd: Path | None = None) -> str:
    """Run a snippet in the official client's Python."""
    env = clean_environment(
        HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"), DET_MASTER=master
    )
    done = subprocess.run(
        [str(official_python()), "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        env=env,
        timeout=HANG_SECONDS,
        check=False,
        cwd=cwd,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def _experiment(output: str) -> int:
    match = re.search(r"Created experiment (\d+)", output)
    assert match, output
    return int(match.group(1))


def _file_names(directory: Path) -> list[str]:
    """Leave out our manifest: the official client copies the whole directory, the master sends what users wrote."""
    return sorted(p.name for p in directory.rglob("*") if p.is_file() and not p.name.startswith(".det-"))


def test_cli_creates_follows_lists_describes_and_downloads(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    url = cluster.url
    model = copy_example("core_api", tmp_path / "model")
    assert "determined" in official(home, "user", "whoami", master=url).stdout
    created = official(home, "e", "create", "2_checkpoints.yaml", ".", "-f", master=url, cwd=model)
    experiment = _experiment(created.stdout)
    assert "Trial log stream ended" in created.stdout
    official(home, "e", "wait", str(experiment), "--polling-interval", "1", master=url)
    assert str(experiment) in official(home, "e", "list", master=url).stdout
    assert "COMPLETED" in official(home, "e", "describe", str(experiment), master=url).stdout
    described = json.loads(official(home, "e", "describe", str(experiment), "--json", master=url).stdout)
    assert described[0]["experiment"]["id"] == experiment
    assert "100" in official(home, "e", "list-trials", str(experiment), master=url).stdout
    listed = official(home, "e", "list-checkpoints", str(experiment), "--csv", master=url).stdout
    kept = next(line for line in listed.splitlines() if "COMPLETED" in line)
    uuid = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", kept)
    assert uuid, listed
    trial = client.trials(experiment)[0]["id"]
    assert official(home, "trial", "logs", str(trial), "--tail", "3", master=url).stdout.count(" || ") == 3
    assert "State" in official(home, "trial", "describe", str(trial), master=url).stdout
    assert uuid.group() in official(home, "checkpoint", "describe", uuid.group(), master=url).stdout
    target = tmp_path / "direct"
    official(home, "checkpoint", "download", uuid.group(), "-o", str(target), master=url)
    assert (target / "metadata.json").exists()
    through = tmp_path / "through-master"
    official(home, "checkpoint", "download", uuid.group(), "-o", str(through), "--mode", "master", master=url)
    assert _file_names(through) == _file_names(target)
    official(home, "e", "download-model-def", str(experiment), "--output-dir", str(tmp_path), master=url)
    with tarfile.open(tmp_path / f"experiment_{experiment}_model_def.tgz") as archive:
        assert "2_checkpoints.py" in archive.getnames()


def test_cli_pauses_activates_labels_and_kills(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    url = cluster.url
    model = stays_until_paused(copy_example("core_api", tmp_path / "model"), always=True)
    created = official(home, "e", "create", "2_checkpoints.yaml", ".", master=url, cwd=model)
    experiment = str(_experiment(created.stdout))
    trial = eventually(lambda: client.trials(int(experiment)))[0]["id"]
    eventually(lambda: client.metrics(trial, "training"))
    official(home, "e", "pause", experiment, master=url)
    client.wait_state(int(experiment), "PAUSED")
    official(home, "e", "label", "add", experiment, "keep", master=url)
    official(home, "e", "set", "description", experiment, "a description", master=url)
    official(home, "e", "set", "priority", experiment, "10", master=url)
    found = client.get(f"/api/v1/experiments/{experiment}")["experiment"]
    assert found["labels"] == ["keep"]
    assert found["description"] == "a description"
    official(home, "e", "label", "remove", experiment, "keep", master=url)
    official(home, "e", "activate", experiment, master=url)
    client.wait_state(int(experiment), "RUNNING", "STARTING")
    official(home, "e", "kill", experiment, master=url)
    client.wait_state(int(experiment), "CANCELED")
    official(home, "e", "archive", experiment, master=url)
    official(home, "e", "unarchive", experiment, master=url)
    official(home, "e", "delete", experiment, "--yes", master=url)


def test_cli_continues_an_experiment(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    model = copy_example("core_api", tmp_path / "model")
    created = official(home, "e", "create", "2_checkpoints.yaml", ".", "-f", master=cluster.url, cwd=model)
    experiment = _experiment(created.stdout)
    client.wait_state(experiment, "COMPLETED")
    official(home, "e", "continue", str(experiment), "-f", master=cluster.url)
    client.wait_state(experiment, "COMPLETED")
    [trial] = client.trials(experiment)
    log = official(home, "trial", "logs", str(trial["id"]), master=cluster.url).stdout
    assert log.count("New trial runner") == 2
    assert log.count("resources exited successfully with a zero exit code") == 2
    assert log.count("experiment config: ") == 2, "once for each task"


def test_cli_manages_users_workspaces_and_projects(cluster: Cluster, home: Path) -> None:
    url = cluster.url
    official(home, "user", "login", "admin", master=url, stdin="\n")
    official(home, "-u", "admin", "user", "create", "ada", "--password", "Secret-123", master=url)
    assert "ada" in official(home, "-u", "admin", "user", "list", master=url).stdout
    official(home, "user", "login", "ada", master=url, stdin="Secret-123\n", check=False)
    official(home, "-u", "admin", "user", "edit", "ada", "--display-name", "Ada L", master=url)
    official(home, "-u", "admin", "workspace", "create", "lab", master=url)
    assert "lab" in official(home, "-u", "admin", "workspace", "list", master=url).stdout
    official(home, "-u", "admin", "project", "create", "lab", "vision", "--description", "d", master=url)
    assert "vision" in official(home, "-u", "admin", "project", "list", "lab", master=url).stdout
    official(home, "-u", "admin", "project", "archive", "lab", "vision", master=url)
    official(home, "-u", "admin", "project", "unarchive", "lab", "vision", master=url)
    official(home, "-u", "admin", "project", "delete", "lab", "vision", "--yes", master=url)
    official(home, "-u", "admin", "workspace", "archive", "lab", master=url)
    official(home, "-u", "admin", "workspace", "delete", "lab", "--yes", master=url)
    official(home, "-u", "admin", "user", "deactivate", "ada", master=url)


def test_cli_shows_agents_slots_tasks_jobs_and_the_master(cluster: Cluster, home: Path) -> None:
    url = cluster.url
    official(home, "user", "login", "admin", master=url, stdin="\n")
    assert "default" in official(home, "agent", "list", master=url).stdout
    assert official(home, "slot", "list", master=url).stdout.count("FREE") >= 1
    official(home, "task", "list", master=url)
    official(home, "job", "list", master=url)
    official(home, "master", "info", master=url)
    official(home, "-u", "admin", "master", "config", master=url)
    official(home, "-u", "admin", "master", "logs", master=url)
    assert "0.38.1" in official(home, "version", master=url).stdout


SDK = """
import sys
from determined.experimental import client
client.login(user="determined", password="")
e = client.create_experiment("2_checkpoints.yaml", ".")
t = e.await_first_trial()
state = e.wait(interval=0.5)
assert state == client.ExperimentState.COMPLETED, state
e.reload()
assert e.progress == 1.0, e.progress
e.add_label("sdk"); e.set_name("renamed"); e.set_description("d"); e.set_notes("n")
e.reload()
assert e.labels == {"sdk"} and e.name == "renamed", (e.labels, e.name)
trials = e.list_trials()
assert [x.id for x in trials] == [t.id]
lines = list(t.iter_logs())
assert any("Reported checkpoint" in l or "checkpoint" in l.lower() for l in lines), lines[-5:]
metrics = list(t.iter_metrics("training"))
assert [m.steps_completed for m in metrics] == list(range(10, 101, 10)), metrics
cs = e.list_checkpoints()
assert cs, "no checkpoints"
c = client.get_checkpoint(cs[0].uuid)
path = c.download("ckpt-direct")
path2 = c.download("ckpt-master", mode=client.DownloadMode.MASTER)
c.add_metadata({"note": "kept"}); c.reload()
assert c.metadata["note"] == "kept"
code = e.download_code("code-out")
e.archive(); e.unarchive()
assert client.get_trial(t.id).get_experiment().id == e.id
assert e.id in [x.id for x in client.list_experiments()]
me = client.whoami()
assert me.username == "determined"
print("SDK-OK")
"""


def test_sdk_creates_waits_reads_metrics_logs_and_checkpoints(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    model = copy_example("core_api", tmp_path / "model")
    assert "SDK-OK" in _sdk(home, cluster.url, SDK, cwd=model)


SDK_ADMIN = """
from determined.experimental import client
client.login(user="admin", password="")
u = client.create_user("grace", admin=False, password="Secret-123")
assert u.username == "grace"
u.change_display_name("G"); u.deactivate(); u.activate(); u.rename("grace2")
assert client.get_user_by_name("grace2").user_id == u.user_id
w = client.create_workspace("sdk-lab")
p = w.create_project("p1", description="d")
p.set_description("e"); p.add_note("n", "c"); p.remove_note("n"); p.archive(); p.unarchive()
assert [x.name for x in w.list_projects()] == ["p1"]
w.delete_project("p1")
client.delete_workspace("sdk-lab")
print("ADMIN-OK")
"""


def test_sdk_manages_users_workspaces_and_projects(cluster: Cluster, home: Path) -> None:
    assert "ADMIN-OK" in _sdk(home, cluster.url, SDK_ADMIN)


SDK_STEER = """
from determined.experimental import client
import time
client.login(user="determined", password="")
e = client.create_experiment("2_checkpoints.yaml", ".")
e.await_first_trial()
e.pause()
for _ in range(1800):
    e.reload()
    if e.state == client.ExperimentState.PAUSED: break
    time.sleep(0.1)
assert e.state == client.ExperimentState.PAUSED, e.state
e.activate(); e.kill()
assert e.wait(interval=0.2) == client.ExperimentState.CANCELED
e.delete()
print("STEER-OK")
"""


def test_sdk_pauses_activates_kills_and_deletes(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    model = stays_until_paused(copy_example("core_api", tmp_path / "model"), always=True)
    assert "STEER-OK" in _sdk(home, cluster.url, SDK_STEER, cwd=model)


def test_bindings_filter_lists_columns_runs_and_bulk_verbs_as_upstream_does(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    """Rules that scripts written with the official client's generated bindings rely on."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "train.py").write_text(_REPORTS_ONE_LOSS)
    config = {
        "name": "rules", "entrypoint": "python3 train.py", "searcher": {"name": "single", "metric": "loss"},
        "hyperparameters": {"width": 64, "net": {"depth": 3}}, "max_restarts": 0,
    }  # fmt: skip
    (model / "c.yaml").write_text(json.dumps(config))
    official(home, "user", "login", "admin", master=cluster.url, stdin="\n")
    created = official(home, "e", "create", "c.yaml", ".", "-f", master=cluster.url, cwd=model)
    experiment = _experiment(created.stdout)
    client.wait_state(experiment, "COMPLETED")
    told = _sdk(home, cluster.url, _RULES.format(experiment=experiment), cwd=tmp_path)
    assert told.splitlines()[-1] == "all rules hold"


_REPORTS_ONE_LOSS = """
import determined as det

with det.core.init() as context:
    context.train.report_validation_metrics(1, {"loss": 0.5})
    context.train.report_training_metrics(1, {"speed": 2.0})
"""
_RULES = """
import importlib.util
import json

from determined.common.api import bindings

from determined.experimental import client
client.login(user="admin", password="")
session = client._determined._session
experiment = {experiment}

listed = bindings.get_GetExperiments(session, archived=False, projectId=1).experiments
assert experiment in [e.id for e in listed]
columns = {{c.column for c in bindings.get_GetProjectColumns(session, id=1).columns}}
for name in ("validation.loss", "training.speed"):
    assert {{f"{{name}}.{{s}}" for s in ("last", "max", "mean", "min")}} <= columns, columns
assert "hp.net.depth" in columns

def runs(column, operator, value, kind):
    place = "LOCATION_TYPE_RUN_HYPERPARAMETERS"
    field = dict(columnName=column, kind="field", location=place, operator=operator, type=kind, value=value)
    group = dict(filterGroup=dict(children=[field], conjunction="and", kind="group"), showArchived=True)
    body = bindings.v1SearchRunsRequest(filter=json.dumps(group), projectId=1)
    return [r.experiment.id for r in bindings.post_SearchRuns(session, body=body).runs]

assert experiment in runs("hp.width", ">=", 64, "COLUMN_TYPE_NUMBER")
assert experiment not in runs("hp.width", "<", "64", "COLUMN_TYPE_NUMBER")
assert experiment in runs("hp.net.depth", "=", 3, "COLUMN_TYPE_NUMBER")

body = bindings.v1KillExperimentsRequest(experimentIds=[experiment], projectId=1)
(result,) = bindings.post_KillExperiments(session, body=body, projectId=1).results
assert "experiment in terminal state" in result.error, result.error
filters = bindings.v1BulkExperimentFilters(name="RULES")
body = bindings.v1ArchiveExperimentsRequest(experimentIds=[], filters=filters, projectId=-1)
results = bindings.post_ArchiveExperiments(session, body=body, projectId=-1).results
assert experiment in [r.id for r in results if not r.error]
assert experiment not in [e.id for e in bindings.get_GetExperiments(session, archived=False).experiments]

version = bindings.get_GetMaster(session).version
assert {{a.version for a in bindings.get_GetAgents(session).agents}} == {{version}}
print("all rules hold")
"""


def test_the_page_on_the_official_client_is_up_to_date() -> None:
    path = ROOT / "scripts" / "make_official_reference.py"
    spec = importlib.util.spec_from_file_location("make_official_reference", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.TARGET.read_text() == script.reference(official_python()), f"run: .venv/bin/python {path.name}"
