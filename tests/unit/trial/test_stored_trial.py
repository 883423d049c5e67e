"""Trials in checkpoints: how they are described by every release, and found in the stored code."""

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from determined.errors import TrialNotImportable, UnsafeCheckpoint
from determined.trial._counters import is_counters_file, read_counters, read_plain, read_plain_state
from determined.trial._stored_trial import StoredTrial, stored_class

Base = dict  # stands for the class of a training API


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    return tmp_path


def describe(directory: Path, **content: Any) -> StoredTrial:
    (directory / "load_data.json").write_text(json.dumps(content))
    return StoredTrial.of(directory)


def found(directory: Path, saved: StoredTrial) -> type[Any]:
    before = set(sys.modules)
    try:
        with stored_class(directory, saved, Base) as loaded:
            return loaded
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]


def test_a_checkpoint_of_this_release_says_everything(checkpoint: Path) -> None:
    saved = describe(
        checkpoint, trial_cls_spec="m:T", hparams={"lr": 1}, experiment_config={"a": 1}, is_trainer=True,
        script_directory="jobs",
    )  # fmt: skip
    assert saved == StoredTrial("m:T", {"lr": 1}, {"a": 1}, is_trainer=True, script_directory="jobs")


def test_an_older_checkpoint_is_described_by_its_metadata(checkpoint: Path) -> None:
    content = {"hparams": {"lr": 1}, "experiment_config": {"entrypoint": "model_def:T"}}
    (checkpoint / "metadata.json").write_text(json.dumps(content))
    assert StoredTrial.of(checkpoint) == StoredTrial(
        "model_def:T", {"lr": 1}, {"entrypoint": "model_def:T"}, is_trainer=False
    )
    (checkpoint / "metadata.json").write_text("{}")
    assert StoredTrial.of(checkpoint) == StoredTrial(None, None, None, is_trainer=False)


def test_a_directory_that_is_no_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"neither load_data\.json nor metadata\.json; give the directory"):
        StoredTrial.of(tmp_path)


def test_a_class_is_imported_from_the_code_also_from_within_another(checkpoint: Path) -> None:
    (checkpoint / "code" / "stored_a.py").write_text("class T(dict):\n  class In(dict): x = 1")
    assert found(checkpoint, describe(checkpoint, trial_cls_spec="stored_a:T")).__name__ == "T"
    assert found(checkpoint, describe(checkpoint, trial_cls_spec="stored_a:T.In", is_trainer=True)).x == 1


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        (None, ValueError, "names no trial class"),
        ("python3 train.py", ValueError, r"names no trial class \(entrypoint 'python3 train.py'\)"),
        ("stored_b:Missing", ValueError, "is no dict; pass trial_class="),
        ("stored_b:Other", ValueError, "stored_b:Other of .* is no dict"),
        ("stored_b:T.nothing.deeper", ValueError, "is no dict"),
        ("not_there:T", TrialNotImportable, "cannot be imported from .*: No module named 'not_there'"),
        ("needs_more:T", TrialNotImportable, "No module named 'never_installed'; install what is missing"),
    ],
)
def test_a_class_that_cannot_be_had_is_told_with_a_way_out(
    checkpoint: Path, spec: str | None, error: type[Exception], words: str
) -> None:
    (checkpoint / "code" / "stored_b.py").write_text("class Other: pass\nclass T: pass\n")
    (checkpoint / "code" / "needs_more.py").write_text("import never_installed\n")
    with pytest.raises(error, match=words):
        found(checkpoint, describe(checkpoint, trial_cls_spec=spec))


def test_a_checkpoint_without_code_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"code is not there, so the trial cannot be imported; pass trial_class="):
        found(tmp_path, describe(tmp_path, trial_cls_spec="m:T"))


def test_a_class_of_the_script_that_ran_is_looked_for_in_all_files(checkpoint: Path) -> None:
    (checkpoint / "code" / "jobs").mkdir()
    (checkpoint / "code" / "jobs" / "train_c.py").write_text("class Mine: pass\n")
    (checkpoint / "code" / "broken.py").write_text("class Mine(:\n")
    (checkpoint / "code" / "binary.py").write_bytes(b"\0\xff")
    saved = describe(checkpoint, trial_cls_spec="__main__:Mine.Inner").with_script_found(checkpoint / "code")
    assert (saved.class_spec, saved.script_directory) == ("jobs.train_c:Mine.Inner", "jobs")
    (checkpoint / "code" / "second.py").write_text("class Mine: pass\n")
    with pytest.raises(ValueError, match="the trial class Mine was in the script that ran, and 2 files"):
        saved_by_upstream = describe(checkpoint, trial_cls_spec="__main__:Mine")
        saved_by_upstream.with_script_found(checkpoint / "code")


class Harm:
    """A pickle of it would run a program."""

    def __reduce__(self) -> tuple[Any, ...]:
        return sys.exit, ("ran",)


@pytest.mark.parametrize(
    ("name", "state", "counters"),
    [
        ("trial_state.pkl", {"trial_id": 1, "batches_trained": 5, "other": "x"}, {"trial_id": 1, "batches_trained": 5}),
        ("trial_state.pkl", {"steps_completed": 7}, {"batches_trained": 7}),
        ("workload_sequencer.pkl", {"latest_batch": 9, "last_ckpt": None}, {"batches_trained": 9}),
        ("trial_state.pkl", {"batches_trained": 3, "steps_completed": 8}, {"batches_trained": 3}),
        ("trial_state.pkl", {}, {}),
    ],
)
def test_counters_of_every_release_have_todays_names(
    tmp_path: Path, name: str, state: dict[str, Any], counters: dict[str, int]
) -> None:
    (tmp_path / name).write_bytes(pickle.dumps(state))
    assert read_counters(tmp_path) == counters
    assert read_plain_state(tmp_path) == state
    assert is_counters_file(name) and not is_counters_file("state_dict.pth")


def test_no_counters_at_all_are_none(tmp_path: Path) -> None:
    assert read_counters(tmp_path) is None


@pytest.mark.parametrize("arrays", [False, True])
def test_a_pickle_that_would_run_something_is_refused_before_it_does(tmp_path: Path, arrays: bool) -> None:
    (tmp_path / "trial_state.pkl").write_bytes(pickle.dumps({"trial_id": Harm()}))
    with pytest.raises(UnsafeCheckpoint, match=r"trial_state\.pkl holds sys\.exit, and only numbers belong there"):
        read_plain(tmp_path / "trial_state.pkl", arrays=arrays)


def test_arrays_are_read_only_where_they_belong(tmp_path: Path) -> None:
    file = tmp_path / "state.pkl"
    file.write_bytes(pickle.dumps({"weights": np.arange(3), "lr": np.float32(0.5)}))
    assert read_plain(file, arrays=True)["weights"].tolist() == [0, 1, 2]
    with pytest.raises(UnsafeCheckpoint, match="numpy"):
        read_plain(file)
