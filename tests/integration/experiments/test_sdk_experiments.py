"""Experiments in the Python SDK: listings over page borders, changes by several handles, waiting, code."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from determined.api import paging
from determined.errors import FailedPrecondition, Forbidden, InvalidConfig, NotFound
from determined.sdk import experiment as experiment_module
from determined.sdk.determined import Determined
from determined.sdk.enums import ExperimentSortBy, ExperimentState, OrderBy, TrialSortBy
from determined.sdk.experiment import Experiment

Sdk = Callable[..., Determined]
RANDOM = {"name": "random", "metric": "loss", "max_trials": 5, "max_concurrent_trials": 1}
CUSTOM = {"name": "custom", "metric": "loss", "smaller_is_better": True, "unit": "batches"}


@pytest.fixture
def three(user: Any, admin: Any, submit: Any) -> list[int]:
    """`alpha` (labels a, b), `beta` (label a, activated), `gamma` (of admin)."""
    alpha = submit(user, name="alpha", labels=["a", "b"])
    beta = submit(user, name="beta", labels=["a"], activate=True)
    gamma = submit(admin, name="gamma")
    return [made["experiment"]["id"] for made in (alpha, beta, gamma)]


@pytest.fixture
def one(sdk: Sdk, user: Any, submit: Any) -> Experiment:
    """An experiment that was never activated, of `determined`."""
    return sdk().get_experiment(submit(user, labels=["first"])["experiment"]["id"])


def _ids(experiments: list[Experiment]) -> list[int]:
    return [each.id for each in experiments]


def test_each_filter_of_a_listing_keeps_what_fits(sdk: Sdk, three: list[int]) -> None:
    session = sdk()
    alpha, beta, gamma = three
    cases: list[tuple[dict[str, Any], list[int]]] = [
        ({}, three),
        ({"experiment_ids": [gamma, alpha]}, [alpha, gamma]),
        ({"labels": ["a"]}, [alpha, beta]),
        ({"labels": ["a", "b"]}, [alpha]),
        ({"users": ["admin"]}, [gamma]),
        ({"users": ["admin", "determined"]}, three),
        ({"states": [ExperimentState.PAUSED]}, [alpha, gamma]),
        ({"states": [ExperimentState.COMPLETED, ExperimentState.ERROR]}, []),
        ({"name": "LPH"}, [alpha]),
        ({"project_id": 1}, three),
        ({"project_id": 2}, []),
        ({"labels": ["a"], "states": [ExperimentState.QUEUED]}, [beta]),
    ]
    for filters, fitting in cases:
        assert _ids(session.list_experiments(**filters)) == fitting, filters


def test_a_listing_sorts_by_every_key_in_both_directions(sdk: Sdk, three: list[int]) -> None:
    session = sdk()
    for key in ExperimentSortBy:
        for order in OrderBy:
            assert sorted(_ids(session.list_experiments(sort_by=key, order_by=order))) == three, key
    by_name = session.list_experiments(sort_by=ExperimentSortBy.NAME, order_by=OrderBy.DESC)
    assert [each.name for each in by_name] == ["gamma", "beta", "alpha"]
    by_id = session.list_experiments(sort_by=ExperimentSortBy.ID, order_by=OrderBy.ASC)
    assert _ids(by_id) == three


def test_a_listing_has_every_experiment_once_however_large_a_page_is(
    sdk: Sdk, user: Any, submit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page borders before the end, at the end, and behind it."""
    made = [submit(user, name=f"e{number}")["experiment"]["id"] for number in range(5)]
    session = sdk()
    for size in (1, 2, 3, 5, 200):
        monkeypatch.setattr(paging, "PAGE", size)
        listed = session.list_experiments(sort_by=ExperimentSortBy.ID, order_by=OrderBy.DESC)
        assert _ids(listed) == made[::-1], size


def test_trials_come_page_by_page_and_only_as_far_as_they_are_asked_for(sdk: Sdk, user: Any, submit: Any) -> None:
    searcher = RANDOM | {"max_concurrent_trials": 0}
    space = {"lr": {"type": "double", "minval": 0, "maxval": 1}}
    found = sdk().get_experiment(submit(user, searcher=searcher, hyperparameters=space)["experiment"]["id"])
    requests: list[str] = []
    send = found._session.raw

    def counted(method: str, path: str, *args: Any, **how: Any) -> Any:
        requests.append(path)
        return send(method, path, *args, **how)

    found._session.raw = counted  # type: ignore[method-assign]
    pages = found.iter_trials(limit=2)
    ids = [next(pages).id, next(pages).id]
    assert len(requests) == 1
    ids += [trial.id for trial in pages]
    assert len(requests) == 3
    assert ids == sorted(ids) and len(set(ids)) == 5
    descending = found.list_trials(TrialSortBy.ID, OrderBy.DESC)
    assert [trial.id for trial in descending] == ids[::-1]
    for key in TrialSortBy:
        assert sorted(trial.id for trial in found.list_trials(key)) == ids, key


def test_labels_of_two_handles_are_all_kept(sdk: Sdk, one: Experiment) -> None:
    """Each reads the labels afresh before it changes them."""
    stale = sdk().get_experiment(one.id)
    one.add_label("second")
    stale.add_label("third")
    assert stale.labels == {"first", "second", "third"}
    one.remove_label("never there")
    one.remove_label("first")
    assert sdk().get_experiment(one.id).labels == {"second", "third"}
    one.set_labels(set())
    assert sdk().get_experiment(one.id).labels == set()


def test_a_refused_change_leaves_the_handle_as_it_was(sdk: Sdk, one: Experiment) -> None:
    one.kill()
    one.archive()
    with pytest.raises(FailedPrecondition, match="archived; unarchive it"):
        one.set_name("other")
    with pytest.raises(FailedPrecondition):
        one.set_notes("text")
    assert (one.name, one.notes or "") == ("test", "")
    one.unarchive()
    assert one.archived is False and sdk().get_experiment(one.id).archived is False


def test_an_experiment_of_somebody_else_can_be_steered_and_not_deleted(sdk: Sdk, admin: Any, submit: Any) -> None:
    theirs = sdk().get_experiment(submit(admin)["experiment"]["id"])
    theirs.set_notes("seen")
    theirs.kill()
    for forbidden in (theirs.delete, theirs.delete_tensorboard_files):
        with pytest.raises(Forbidden, match=f"only the owner of experiment {theirs.id} .* not 'determined'"):
            forbidden()
    theirs.reload()
    assert (theirs.state, theirs.notes) == (ExperimentState.CANCELED, "seen")


@pytest.mark.parametrize("what", ["experiment", "trial"])
def test_an_id_that_does_not_exist_is_named(sdk: Sdk, what: str) -> None:
    with pytest.raises(NotFound, match=f"{what}.* 777"):
        getattr(sdk(), f"get_{what}")(777)


def test_waiting_ends_with_the_experiment_and_says_each_minute_that_it_waits(
    one: Experiment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one.activate()
    clock = [0.0]
    intervals: list[float] = []

    def sleep(seconds: float) -> None:
        intervals.append(seconds)
        clock[0] += 40.0
        if clock[0] > 150:
            one.kill()

    monkeypatch.setattr(experiment_module, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    assert one.wait(interval=7.5) is ExperimentState.CANCELED
    assert set(intervals) == {7.5}
    said = [line.partition(" for ")[2] for line in capsys.readouterr().err.splitlines()]
    assert said == [f"experiment {one.id} for {minutes} minute(s)" for minutes in (1, 2)]


def test_waiting_for_a_paused_experiment_says_what_to_do(one: Experiment) -> None:
    with pytest.raises(ValueError, match=f"experiment {one.id} is paused; activate it"):
        one.wait(interval=0)


def test_an_experiment_that_ends_without_a_trial_has_no_first_one(sdk: Sdk, user: Any, submit: Any) -> None:
    found = sdk().get_experiment(submit(user, searcher=CUSTOM)["experiment"]["id"])
    found.kill()
    with pytest.raises(RuntimeError, match=f"experiment {found.id} ended .*CANCELED.* before a trial began"):
        found.await_first_trial(interval=0)


def test_downloaded_code_is_what_was_submitted(
    sdk: Sdk, user: Any, submit: Any, files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = [files("train.py", b"print('hello')\n"), files("sub", directory=True), files("sub/x.bin", bytes(range(256)))]
    found = sdk().get_experiment(submit(user, files=sent)["experiment"]["id"])
    monkeypatch.chdir(tmp_path)
    path = found.download_code()
    assert path == f"exp-{found.id}_model_def.tar.gz"
    with tarfile.open(fileobj=io.BytesIO(Path(path).read_bytes()), mode="r:gz") as archive:
        members = {m.name.rstrip("/"): m for m in archive}
        assert set(members) == {"train.py", "sub", "sub/x.bin"}
        content = archive.extractfile(members["sub/x.bin"])
        assert content is not None and content.read() == bytes(range(256))
    assert found.download_code(str(tmp_path / "a" / "b")).startswith(str(tmp_path / "a" / "b"))


def test_a_project_to_move_to_must_exist_and_is_named(sdk: Sdk, one: Experiment) -> None:
    sdk().create_workspace("lab").create_project("here")
    with pytest.raises(NotFound, match=r"workspace 'lab' has no project 'there'; .*det project list lab"):
        one.move_to_project("lab", "there")
    with pytest.raises(NotFound, match=r"workspace 'nowhere' does not exist; .*det workspace list"):
        one.move_to_project("nowhere", "here")
    one.move_to_project("lab", "here")
    one.reload()
    assert sdk().get_workspace("lab").get_project("here").list_experiments() == [one]


def test_a_config_file_is_sent_with_its_comments_and_its_code(sdk: Sdk, user: Any, config: Any, tmp_path: Path) -> None:
    import yaml

    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("pass\n")
    (tmp_path / "extra.txt").write_text("included\n")
    path = tmp_path / "config.yaml"
    path.write_text("# why this rate\n" + yaml.safe_dump(config(name="by file")))
    made = sdk().create_experiment(str(path), code, includes=[tmp_path / "extra.txt"])
    shown = user.get(f"/api/v1/experiments/{made.id}").json["experiment"]
    assert shown["originalConfig"].startswith("# why this rate\n")
    assert (made.name, made.state) == ("by file", ExperimentState.QUEUED)
    with tarfile.open(made.download_code(str(tmp_path / "back"))) as archive:
        assert {"train.py", "extra.txt"} <= set(archive.getnames())


def test_a_config_that_is_refused_names_every_violation_and_makes_nothing(sdk: Sdk, config: Any) -> None:
    session = sdk()
    wrong = config(max_restarts=-1, searcher={"name": "sideways", "metric": "loss"})
    with pytest.raises(InvalidConfig) as refused:
        session.create_experiment(wrong)
    assert len(refused.value.violations) >= 2
    assert all(violation.startswith("<config>.") for violation in refused.value.violations)
    assert "sideways" in refused.value.message and "max_restarts" in refused.value.message
    with pytest.raises(FileNotFoundError, match=r"none\.yaml"):
        session.create_experiment("none.yaml")
    assert session.list_experiments() == []
