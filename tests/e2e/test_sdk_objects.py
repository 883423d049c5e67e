"""The Python SDK against a real master: every object, every method, and the old names."""

from pathlib import Path

import pytest

from cluster import Cluster, eventually, write_experiment
from determined.errors import AlreadyExists, NotFound, Unauthenticated
from determined.experimental import client
from determined.experimental.client import (
    CheckpointSortBy,
    CheckpointState,
    Determined,
    Experiment,
    ExperimentSortBy,
    ExperimentState,
    OrderBy,
    TrialState,
)

SCRIPT = """
from determined import core
with core.init() as context:
    for step in (1, 2, 3):
        context.train.report_training_metrics(step, {"x": float(step)})
        context.train.report_validation_metrics(step, {"x": float(step), "y": -float(step)})
        with context.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "weights.bin").write_bytes(b"w" * step)
    print("trained")
"""


@pytest.fixture(scope="module")
def config_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("config")


@pytest.fixture(autouse=True)
def own_config(monkeypatch: pytest.MonkeyPatch, config_dir: Path) -> None:
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(config_dir))
    for name in ("DET_USER", "DET_PASS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def determined(cluster: Cluster) -> Determined:
    return Determined(cluster.url, "determined", "")


@pytest.fixture
def admin(cluster: Cluster) -> Determined:
    return Determined(cluster.url, "admin", "")


@pytest.fixture(scope="module")
def trained_id(cluster: Cluster, config_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DET_DEBUG_CONFIG_PATH", str(config_dir))
        keep = {"checkpoint_storage": {"save_trial_latest": 9, "save_trial_best": 9}, "labels": ["sdk"]}
        path = write_experiment(tmp_path_factory.mktemp("model"), SCRIPT, {"name": "sdk", **keep})
        made = Determined(cluster.url, "determined", "").create_experiment(path, path.parent)
        assert made.wait(interval=0.1) is ExperimentState.COMPLETED
        return made.id


def test_an_experiment_is_described_listed_and_annotated(determined: Determined, trained_id: int) -> None:
    found = determined.get_experiment(trained_id)
    assert (found.name, found.state, found.labels, found.archived) == ("sdk", ExperimentState.COMPLETED, {"sdk"}, False)
    assert found.config is not None
    assert found.config["searcher"]["name"] == "single"
    found.set_name("named")
    found.set_description("about")
    found.set_notes("notes")
    found.add_label("b")
    found.remove_label("sdk")
    found.archive()
    again = determined.get_experiment(trained_id)
    assert (again.name, again.description, again.notes, again.labels) == ("named", "about", "notes", {"b"})
    assert again.archived is True
    again.unarchive()
    again.set_labels({"sdk"})
    again.set_name("sdk")
    listed = determined.list_experiments(
        sort_by=ExperimentSortBy.ID,
        order_by=OrderBy.DESC,
        labels=["sdk"],
        users=["determined"],
        states=[ExperimentState.COMPLETED],
        name="sdk",
    )
    assert found in listed
    assert determined.list_experiments(experiment_ids=[trained_id]) == [found]
    with pytest.raises(ValueError, match="pachyderm"):
        again.get_pachyderm_config()


def test_code_is_downloaded_again(determined: Determined, trained_id: int, tmp_path: Path) -> None:
    path = determined.get_experiment(trained_id).download_code(str(tmp_path / "new"))
    assert path == str(tmp_path / "new" / f"exp-{trained_id}_model_def.tar.gz")
    assert Path(path).stat().st_size > 0


def test_a_trial_gives_logs_metrics_and_its_experiment(determined: Determined, trained_id: int) -> None:
    experiment = determined.get_experiment(trained_id)
    (trial,) = experiment.list_trials()
    assert experiment.await_first_trial() == trial
    assert determined.get_trial(trial.id).state is TrialState.COMPLETED
    lines = list(trial.iter_logs())
    assert any("trained" in line for line in lines)
    assert list(trial.iter_logs(tail=2)) == lines[-2:]
    assert list(trial.iter_logs(head=2)) == lines[:2]
    assert list(trial.iter_logs(follow=True)) == lines
    assert [line for line in trial.iter_logs(search_text="trained") if "trained" in line]
    assert list(trial.iter_logs(timestamp_after=2_000_000_000)) == []
    metrics = list(trial.iter_metrics("validation"))
    assert [(m.steps_completed, m.metrics) for m in metrics] == [(n, {"x": n, "y": -n}) for n in (1, 2, 3)]
    assert next(determined.iter_trials_metrics([trial.id], "training")).metrics == {"x": 1.0}
    assert trial.get_experiment() == experiment
    with pytest.warns(FutureWarning):
        assert [m.total_batches for m in trial.stream_training_metrics()] == [1, 2, 3]
    with pytest.warns(FutureWarning):
        assert len(list(trial.stream_validation_metrics())) == 3
    with pytest.warns(FutureWarning):
        assert list(trial.logs()) == lines
    with pytest.warns(FutureWarning):
        assert experiment.get_trials() == [trial]
    with pytest.warns(FutureWarning):
        assert len(list(determined.stream_trials_metrics([trial.id], "training"))) == 3


def test_checkpoints_are_sorted_by_the_searcher_a_metric_or_an_attribute(
    determined: Determined, trained_id: int
) -> None:
    experiment = determined.get_experiment(trained_id)

    def steps(found: list[client.Checkpoint]) -> list[int]:
        return [(c.metadata or {})["steps_completed"] for c in found]

    assert steps(experiment.list_checkpoints()) == [1, 2, 3], "the searcher wants a small x"
    assert steps(experiment.list_checkpoints("y", OrderBy.ASC)) == [3, 2, 1]
    assert steps(experiment.list_checkpoints(CheckpointSortBy.BATCH_NUMBER, OrderBy.DESC, max_results=2)) == [3, 2]
    trial = experiment.list_trials()[0]
    assert steps(trial.list_checkpoints()) == [1, 2, 3]
    with pytest.warns(FutureWarning):
        assert steps([trial.select_checkpoint(latest=True)]) == [3]
    with pytest.warns(FutureWarning):
        assert steps([trial.select_checkpoint(best=True, sort_by="y", smaller_is_better=True)]) == [3]
    with pytest.warns(FutureWarning):
        assert steps([trial.top_checkpoint()]) == [1]
    with pytest.warns(FutureWarning):
        assert steps([experiment.top_checkpoint()]) == [1]
    with pytest.warns(FutureWarning):
        assert steps(experiment.top_n_checkpoints(5)) == [1], "one of each trial"


def test_a_checkpoint_is_downloaded_annotated_and_deleted(
    determined: Determined, trained_id: int, tmp_path: Path
) -> None:
    best, middle, last = determined.get_experiment(trained_id).list_checkpoints()
    for mode in client.DownloadMode:
        path = Path(best.download(str(tmp_path / mode.value), mode))
        assert (path / "weights.bin").read_bytes() == b"w"
        assert (path / "metadata.json").exists()
    best.add_metadata({"note": {"a": 1}})
    best.add_metadata({"note": {"b": 2}})
    again = determined.get_checkpoint(best.uuid)
    assert again.metadata is not None
    assert again.metadata["note"] == {"b": 2}
    again.remove_metadata(["note"])
    assert "note" not in (determined.get_checkpoint(best.uuid).metadata or {})
    assert again.training is not None
    assert (again.training.experiment_id, again.training.validation_metrics) == (trained_id, {"x": 1.0, "y": -1.0})
    assert isinstance(list(again.get_metrics("validation")), list)
    middle.remove_files(["weights.bin"])
    eventually(lambda: determined.get_checkpoint(middle.uuid).state is CheckpointState.PARTIALLY_DELETED)
    last.delete()
    eventually(lambda: determined.get_checkpoint(last.uuid).state is CheckpointState.DELETED)


def test_what_the_master_remarks_on_a_config_is_logged(
    determined: Determined, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_experiment(tmp_path / "m", "", {"resources": {"agent_label": "fast"}})
    determined.create_experiment(str(path), str(path.parent)).kill()
    assert "resources.agent_label: accepted, but has no effect" in caplog.text


def test_a_paused_experiment_is_not_waited_for(determined: Determined, tmp_path: Path) -> None:
    path = write_experiment(tmp_path / "m", "import time; time.sleep(600)")
    made = determined.create_experiment({**_read(path), "name": "as a dict"}, str(path.parent))
    made.pause()
    eventually(lambda: determined.get_experiment(made.id).state is ExperimentState.PAUSED)
    with pytest.raises(ValueError, match="paused"):
        made.wait(interval=0.1)
    made.activate()
    made.kill()
    assert made.wait(interval=0.1) is ExperimentState.CANCELED
    made.delete()

    def gone() -> bool:
        try:
            determined.get_experiment(made.id)
        except NotFound:
            return True
        return False

    eventually(gone)


def _read(path: Path) -> dict[str, object]:
    import json

    data: dict[str, object] = json.loads(path.read_text())
    return data


def test_users_are_managed(determined: Determined, admin: Determined, cluster: Cluster) -> None:
    made = admin.create_user("sue", admin=False, password="Passw0rdX")
    assert admin.get_user_by_name("sue").user_id == made.user_id
    made.change_display_name("Sue")
    made.link_with_agent(agent_uid=5, agent_gid=6, agent_user="x", agent_group="y")
    made.deactivate()
    again = admin.get_user_by_id(made.user_id)
    assert (again.display_name, again.active, again.agent_uid, again.agent_group) == ("Sue", False, 5, "y")
    assert "sue" not in [u.username for u in admin.list_users(active=True)]
    made.activate()
    made.change_password("Chang3dPass")
    with pytest.raises(Unauthenticated):
        Determined(cluster.url, "sue", "Passw0rdX")
    session = Determined(cluster.url, "sue", "Chang3dPass")
    assert session.whoami().username == "sue"
    assert session.get_session_username() == "sue"
    session.logout()
    with pytest.raises(Unauthenticated):
        session.whoami()
    made.rename("susan")
    assert admin.get_user_by_id(made.user_id).username == "susan"
    with pytest.raises(ValueError, match="weak"):
        admin.create_user("weak", admin=False, password="weak")


def test_workspaces_projects_and_notes(determined: Determined, trained_id: int) -> None:
    workspace = determined.create_workspace("sdk lab")
    with pytest.raises(AlreadyExists):
        determined.create_workspace("sdk lab")
    assert workspace.id in [w.id for w in determined.list_workspaces()]
    assert [p.name for p in workspace.list_pools()] == ["default"]
    project = workspace.create_project("one", "first")
    project.set_name("two")
    project.set_description("second")
    project.set_key("TWO")
    project.add_note("n", "text")
    project.add_note("m", "more")
    project.remove_note("n")
    with pytest.raises(ValueError, match="0 notes"):
        project.remove_note("n")
    again = workspace.get_project("two")
    assert (again.description, again.key, again.notes) == ("second", "TWO", [{"name": "m", "contents": "more"}])
    experiment = determined.get_experiment(trained_id)
    experiment.move_to_project("sdk lab", "two")
    assert project.list_experiments() == [experiment]
    experiment.move_to_project("Uncategorized", "Uncategorized")
    project.archive()
    project.unarchive()
    assert [p.name for p in workspace.list_projects()] == ["two"]
    workspace.delete_project("two")
    with pytest.raises(NotFound):
        workspace.get_project("none")
    with pytest.raises(NotFound):
        determined.get_workspace("none")
    eventually(lambda: not workspace.list_projects())
    determined.delete_workspace("sdk lab")


def test_the_module_functions_share_one_login(cluster: Cluster, trained_id: int) -> None:
    client.login(cluster.url, "determined", "")
    try:
        with pytest.raises(ValueError, match="twice"):
            client.login(cluster.url)
        assert client.whoami().username == "determined"
        found = client.get_experiment(trained_id)
        assert isinstance(found, Experiment)
        assert client.list_experiments(experiment_ids=[trained_id]) == [found]
        assert client.get_trial(found.list_trials()[0].id).experiment_id == trained_id
    finally:
        client.logout()


def test_someone_without_a_password_is_told_how_to_log_in(cluster: Cluster) -> None:
    with pytest.raises(Unauthenticated, match="user login nobody"):
        Determined(cluster.url, "nobody")
