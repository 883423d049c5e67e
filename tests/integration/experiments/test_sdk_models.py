"""The model registry in the Python SDK: models, versions, aliases, downloads, and who may what."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stored_checkpoints import directory

from determined.api import paging
from determined.errors import (
    AlreadyExists,
    CheckpointDamaged,
    Conflict,
    DeterminedError,
    FailedPrecondition,
    Forbidden,
    InvalidArgument,
    NotFound,
)
from determined.sdk.determined import Determined
from determined.sdk.enums import ModelSortBy, OrderBy
from determined.sdk.model import Model

Sdk = Callable[..., Determined]
UNKNOWN = "3f1d2a8e-0000-4000-8000-000000000009"
FILES = {"weights.bin": b"w" * 10, "sub/state": b"s"}


@pytest.fixture
def model(sdk: Sdk) -> Model:
    return sdk().create_model("mnist", "reads digits", {"task": "digits"})


@pytest.fixture
def saved(user: Any, trial: dict[str, Any], checkpoint: Any) -> list[str]:
    """Uuids of three checkpoints."""
    return [checkpoint(user, trial, step) for step in (1, 2, 3)]


def test_a_model_is_made_found_and_described(sdk: Sdk, model: Model) -> None:
    for key in ("mnist", model.model_id):
        assert key is not None
        again = sdk().get_model(key)
        assert (again.name, again.description, again.metadata) == ("mnist", "reads digits", {"task": "digits"})
        assert (again.labels, again.username, again.workspace_id, again.archived) == ([], "determined", 1, False)
        assert again.creation_time is not None and again.creation_time.tzinfo is not None
    with pytest.warns(FutureWarning, match="get_model"):
        assert sdk().get_model_by_id(model.model_id or 0).name == "mnist"


def test_a_model_made_by_hand_knows_nothing_until_it_is_reloaded(sdk: Sdk, model: Model) -> None:
    handle = Model(model._session, "mnist")
    assert (handle.model_id, handle.metadata, handle.archived) == (None, None, None)
    handle.add_metadata({"seen": True})
    assert handle.metadata == {"task": "digits", "seen": True}
    handle.reload()
    assert handle.model_id == model.model_id


@pytest.mark.parametrize("name", ["", "   ", "a  b", "a/b", "a\\b", "123", ".."])
def test_a_name_that_a_path_cannot_carry_is_refused(sdk: Sdk, name: str) -> None:
    with pytest.raises(InvalidArgument):
        sdk().create_model(name)


def test_a_name_is_given_once(sdk: Sdk, model: Model) -> None:
    with pytest.raises(AlreadyExists, match="avoid names equal to other models"):
        sdk().create_model("mnist")


@pytest.mark.parametrize("name", ["a b", "ü&?#%", "a:b"])
def test_a_model_of_any_other_name_is_found_by_it(sdk: Sdk, name: str) -> None:
    sdk().create_model(name)
    assert sdk().get_model(name).name == name


def test_an_unknown_model_is_not_found(sdk: Sdk) -> None:
    with pytest.raises(NotFound, match='model "nothing" not found'):
        sdk().get_model("nothing")


def test_models_are_listed_by_filters_and_over_page_borders(sdk: Sdk, monkeypatch: pytest.MonkeyPatch) -> None:
    session = sdk()
    session.create_workspace("lab")
    for name, workspace in (("beta", "lab"), ("alpha", "lab"), ("Gamma", None)):
        session.create_model(name, f"about {name}", workspace_name=workspace, labels=["x", name])

    def names(**how: Any) -> list[str]:
        return [each.name for each in session.list_models(**how)]

    for size in (1, 2, 3, 200):
        monkeypatch.setattr(paging, "PAGE", size)
        assert sorted(names()) == ["Gamma", "alpha", "beta"], size
    assert names(name="AM") == ["Gamma"]
    assert names(description="about b") == ["beta"]
    assert names(workspace_names=["lab"]) == ["alpha", "beta"]
    assert names(workspace_ids=[1]) == ["Gamma"]
    assert names(sort_by=ModelSortBy.CREATION_TIME, order_by=OrderBy.DESC) == ["Gamma", "alpha", "beta"]
    assert names(model_id=session.get_model("beta").model_id) == ["beta"]
    assert session.get_model_labels()[0] == "x"
    with pytest.warns(FutureWarning, match="list_models"):
        assert len(session.get_models()) == 3


def test_metadata_labels_and_description_are_changed(sdk: Sdk, model: Model) -> None:
    other = sdk().get_model("mnist")
    other.add_metadata({"by": "another handle"})
    model.add_metadata({"task": "numbers"})
    assert model.metadata == {"task": "numbers", "by": "another handle"}
    model.remove_metadata(["by", "never there"])
    model.set_labels(["a", "b"])
    model.set_description("new")
    again = sdk().get_model("mnist")
    assert (again.metadata, again.labels, again.description) == ({"task": "numbers"}, ["a", "b"], "new")
    model.set_labels([])
    assert sdk().get_model("mnist").labels == []


@pytest.mark.parametrize("wrong", ["text", 7, [1], None])
def test_a_list_of_texts_is_asked_for(model: Model, wrong: Any) -> None:
    for change in (model.remove_metadata, model.set_labels):
        with pytest.raises(ValueError, match="takes a list of texts"):
            change(wrong)


def test_a_model_moves_to_another_workspace(sdk: Sdk, model: Model) -> None:
    lab = sdk().create_workspace("lab")
    model.move_to_workspace("lab")
    assert model.workspace_id == lab.id
    with pytest.raises(NotFound):
        model.move_to_workspace("nowhere")


def test_an_archived_model_takes_no_changes_and_no_versions(model: Model, saved: list[str]) -> None:
    model.archive()
    for change in (lambda: model.set_description("x"), lambda: model.register_version(saved[0])):
        with pytest.raises(DeterminedError, match="archived") as refused:
            change()
        assert 400 <= refused.value.status < 500
    model.unarchive()
    assert model.register_version(saved[0]).model_version == 1


def test_versions_are_registered_listed_and_described(model: Model, saved: list[str]) -> None:
    assert model.get_version() is None
    made = [model.register_version(uuid) for uuid in saved]
    assert [version.model_version for version in made] == [1, 2, 3]
    assert [v.model_version for v in model.list_versions()] == [3, 2, 1]
    assert [v.model_version for v in model.list_versions(OrderBy.ASC)] == [1, 2, 3]
    with pytest.warns(FutureWarning, match="list_versions"):
        assert len(model.get_versions()) == 3
    latest = model.get_version()
    assert latest is not None and latest.model_version == 3
    assert latest.checkpoint is not None and latest.checkpoint.uuid == saved[2]
    assert (latest.model_name, latest.model_id, latest.metadata) == ("mnist", model.model_id, {})
    for missing in (4, 0):
        with pytest.raises(NotFound, match='for model "mnist" not found'):
            model.get_version(missing)


def test_all_versions_are_listed_over_page_borders(
    model: Model, saved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        model.register_version(saved[0])
    for size in (1, 2, 5):
        monkeypatch.setattr(paging, "PAGE", size)
        assert [v.model_version for v in model.list_versions()] == [5, 4, 3, 2, 1], size


def test_a_version_is_named_and_annotated(model: Model, saved: list[str]) -> None:
    version = model.register_version(saved[0])
    version.set_name("spring")
    version.set_notes("# good")
    again = model.get_version(1)
    assert again is not None
    assert (again.name, again.notes, again.comment) == ("spring", "# good", "")
    version.reload()
    assert version.name == "spring"


def test_an_unknown_checkpoint_is_not_registered(model: Model) -> None:
    with pytest.raises(NotFound):
        model.register_version(UNKNOWN)


def test_a_version_is_deleted_and_its_checkpoint_stays(sdk: Sdk, model: Model, saved: list[str]) -> None:
    model.register_version(saved[0]).delete()
    assert model.list_versions() == []
    assert sdk().get_checkpoint(saved[0]).uuid == saved[0]
    assert model.register_version(saved[0]).model_version == 2


def test_an_alias_moves_and_remembers_who_moved_it(sdk: Sdk, model: Model, saved: list[str]) -> None:
    for uuid in saved:
        model.register_version(uuid)
    model.set_alias("production", 1)
    sdk("admin").get_model("mnist").set_alias("production", "latest", expected_version=1)
    production = model.get_version("production")
    assert production is not None and production.model_version == 3
    assert [(a.alias, a.version, a.username) for a in model.list_aliases()] == [("production", 3, "admin")]
    with pytest.raises(Conflict):
        model.set_alias("production", 2, expected_version=1)
    model.remove_alias("production")
    assert model.list_aliases() == []
    changes = [(c.previous_version, c.version, c.username) for c in model.list_alias_changes("production")]
    assert changes == [(None, 1, "determined"), (1, 3, "admin"), (3, None, "determined")]
    assert model.list_alias_changes("candidate") == []
    for gone in (lambda: model.get_version("production"), lambda: model.remove_alias("production")):
        with pytest.raises(NotFound, match="production"):
            gone()


@pytest.mark.parametrize("alias", ["7", "latest", "a b", ""])
def test_an_alias_that_could_be_taken_for_something_else_is_refused(model: Model, saved: list[str], alias: str) -> None:
    model.register_version(saved[0])
    with pytest.raises(DeterminedError) as refused:
        model.set_alias(alias, 1)
    assert 400 <= refused.value.status < 500


def test_a_deleted_model_is_gone_and_its_checkpoints_stay(sdk: Sdk, model: Model, saved: list[str]) -> None:
    model.register_version(saved[0])
    with pytest.raises(Forbidden):
        _other(sdk).get_model("mnist").delete()
    model.delete()
    with pytest.raises(NotFound):
        model.reload()
    assert sdk().get_checkpoint(saved[0]).uuid == saved[0]


def _other(sdk: Sdk) -> Determined:
    sdk("admin").create_user("bob", admin=False, password="Bobs-Passw0rd")
    return sdk("bob", "Bobs-Passw0rd")


def test_a_handle_outlives_the_name_of_its_model(sdk: Sdk, user: Any, model: Model, saved: list[str]) -> None:
    version = model.register_version(saved[0])
    assert user.patch("/api/v1/models/mnist", {"name": "digits"}).status == 200
    version.set_name("still here")
    model.reload()
    assert model.name == "digits"


def test_a_version_downloads_as_it_was_stored(
    sdk: Sdk, model: Model, user: Any, trial: dict[str, Any], checkpoint: Any, tmp_path: Path
) -> None:
    large = {"a b#c": bytes(range(256)) * 20_000, "empty": b"", **FILES}
    version = model.register_version(checkpoint(user, trial, 1, files=large))
    assert version.download(str(tmp_path / "out")) == str(tmp_path / "out")
    files = {str(p.relative_to(tmp_path / "out")): p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert {**files, "metadata.json": b""} == {**large, "metadata.json": b""}
    assert version.download(str(tmp_path / "out")), "what is there is taken"
    (tmp_path / "out" / "empty").write_bytes(b"changed")
    with pytest.raises(FailedPrecondition, match="out/empty differs from the file of version 1 of model 'mnist'"):
        version.download(str(tmp_path / "out"))
    version.download(str(tmp_path / "out"), force=True)
    assert (tmp_path / "out" / "empty").read_bytes() == b""


def test_a_stored_file_that_was_changed_is_refused(
    model: Model, user: Any, trial: dict[str, Any], saved: list[str], tmp_path: Path
) -> None:
    version = model.register_version(saved[0])
    (directory(user, trial) / saved[0] / "weights.bin").write_bytes(b"x" * 10)
    with pytest.raises((CheckpointDamaged, FailedPrecondition, NotFound)):
        version.download(str(tmp_path / "out"))
    assert not (tmp_path / "out" / "weights.bin").exists()


def test_metrics_of_trials_that_used_a_version_are_read_by_group(
    sdk: Sdk, user: Any, model: Model, saved: list[str], submit: Any, first_trial: Any, validate: Any
) -> None:
    version = model.register_version(saved[0])
    using = first_trial(user, submit(user)["experiment"]["id"])
    info = {
        "trialId": using["id"], "checkpointUuid": saved[0], "modelId": model.model_id, "modelVersion": 1,
        "trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_INFERENCE",
    }  # fmt: skip
    assert user.post("/api/v1/trial-source-info", {"trialSourceInfo": info}).status == 200
    validate(using["id"], 5, accuracy=0.5)
    validate(using["id"], 5, group="inference", rows=7.0)
    checkpoint = sdk().get_checkpoint(saved[0])
    for owner in (version, checkpoint):
        reports = {report.group: report for report in owner.iter_metrics()}
        assert {group: report.metrics for group, report in reports.items()} == {
            "validation": {"accuracy": 0.5}, "inference": {"rows": 7.0},
        }  # fmt: skip
        assert (reports["inference"].trial_id, reports["inference"].steps_completed) == (using["id"], 5)
        assert [report.metrics for report in owner.iter_metrics("inference")] == [{"rows": 7.0}]
        assert list(owner.iter_metrics("nothing")) == []
    with pytest.warns(FutureWarning, match="iter_metrics"):
        assert len(list(version.get_metrics("validation"))) == 1
    assert len(list(checkpoint.get_metrics(""))) == 2
