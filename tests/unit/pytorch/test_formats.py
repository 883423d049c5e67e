"""Files of every release: all load, none runs what it holds."""

import logging
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from determined.errors import CheckpointNotFound, UnsafeCheckpoint
from determined.pytorch._formats import fitted, of_rank, read_state, unsafe_classes
from determined.trial import read_counters

UPSTREAM = Path(__file__).parent / "upstream_checkpoints"
LAYOUTS = sorted(path.name for path in UPSTREAM.iterdir() if path.is_dir())


class Touch:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self._path,)


class Opinion:
    """A class of the user's."""

    def __init__(self, value: int) -> None:
        self.value = value


def _saved(directory: Path, **state: Any) -> Path:
    torch.save({"models_state_dict": [{}], **state}, directory / "state_dict.pth")
    return directory


def _original() -> dict[str, Any]:
    state: dict[str, Any] = torch.load(UPSTREAM / "trainer" / "state_dict.pth", weights_only=False)
    return state


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_state(layout: str) -> None:
    state, original = read_state(UPSTREAM / layout), _original()
    weights = fitted(state["models_state_dict"][0], list(original["models_state_dict"][0]))
    assert weights.keys() == original["models_state_dict"][0].keys()
    assert all(torch.equal(weights[name], value) for name, value in original["models_state_dict"][0].items())
    (optimizer,), (expected,) = state["optimizers_state_dict"], original["optimizers_state_dict"]
    assert optimizer["param_groups"] == expected["param_groups"]
    for index, moments in expected["state"].items():
        assert all(torch.equal(optimizer["state"][index][name], value) for name, value in moments.items())
    assert state["lr_schedulers_state_dict"] == original["lr_schedulers_state_dict"]
    assert state["callbacks"] == {"counter": {"epochs": 1}}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_says_how_far_it_was_trained(layout: str) -> None:
    counters = read_counters(UPSTREAM / layout)
    assert counters is not None
    assert (counters["trial_id"], counters["batches_trained"], counters["last_ckpt"]) == (0, 6, 6)


def test_versions_of_modules_are_kept_under_the_names_of_the_bare_model() -> None:
    state = read_state(UPSTREAM / "entrypoint")["models_state_dict"][0]
    assert next(iter(state)).startswith("module.")
    original = _original()["models_state_dict"][0]
    assert fitted(state, list(original))._metadata == original._metadata  # type: ignore[attr-defined]


def test_arrays_of_numpy_1_load(tmp_path: Path) -> None:
    state = {"models_state_dict": [{}], "rng_state": np.arange(3, dtype=np.uint32), "best": np.float32(0.5)}
    torch.save(state, tmp_path / "state_dict.pth", _use_new_zipfile_serialization=False)
    raw = (tmp_path / "state_dict.pth").read_bytes()
    assert raw.count(b"numpy._core.multiarray") == 2
    (tmp_path / "state_dict.pth").write_bytes(raw.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    found = read_state(tmp_path)
    assert found["rng_state"].tolist() == [0, 1, 2] and found["best"] == np.float32(0.5)


def test_a_state_that_would_run_code_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    _saved(tmp_path, callbacks={"bad": Touch(tmp_path / "ran")})
    with pytest.raises(UnsafeCheckpoint) as refused:
        read_state(tmp_path)
    assert not (tmp_path / "ran").exists()
    message = str(refused.value)
    assert "pathlib" in message
    assert "torch.serialization.add_safe_globals" in message
    assert 'torch_load_kwargs={"weights_only": False}' in message


def test_object_arrays_do_not_smuggle_classes_in(tmp_path: Path) -> None:
    _saved(tmp_path, callbacks=np.array([Touch(tmp_path / "ran")], dtype=object))
    with pytest.raises(UnsafeCheckpoint):
        read_state(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_counters_that_would_run_code_are_refused_and_run_nothing(tmp_path: Path) -> None:
    (tmp_path / "trial_state.pkl").write_bytes(pickle.dumps({"trial_id": Touch(tmp_path / "ran")}))
    with pytest.raises(UnsafeCheckpoint, match="only numbers"):
        read_counters(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_trials_own_checkpoint_may_hold_its_classes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _saved(tmp_path, callbacks={"judge": Opinion(3)})
    with caplog.at_level(logging.WARNING, logger="determined.pytorch"):
        state = read_state(tmp_path, is_own=True)
    assert state["callbacks"]["judge"].value == 3
    assert "Opinion" in caplog.text


def test_classes_the_user_has_allowed_load(tmp_path: Path) -> None:
    _saved(tmp_path, callbacks={"judge": Opinion(3)})
    with torch.serialization.safe_globals([Opinion]):
        assert read_state(tmp_path)["callbacks"]["judge"].value == 3
        assert unsafe_classes(tmp_path / "state_dict.pth") == []
    assert unsafe_classes(tmp_path / "state_dict.pth") == [f"{__name__}.Opinion"]


def test_options_for_torch_go_before_ours(tmp_path: Path) -> None:
    _saved(tmp_path, callbacks={"judge": Opinion(3)})
    assert read_state(tmp_path, options={"weights_only": False})["callbacks"]["judge"].value == 3


def test_both_forms_of_a_key_are_refused(tmp_path: Path) -> None:
    _saved(tmp_path, model_state_dict={})
    with pytest.raises(RuntimeError, match="both model_state_dict and models_state_dict"):
        read_state(tmp_path)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    torch.save({"epoch": 3}, tmp_path / "state_dict.pth")
    with pytest.raises(RuntimeError, match=r"no models_state_dict, only \['epoch'\]"):
        read_state(tmp_path)
    torch.save([1], tmp_path / "state_dict.pth")
    with pytest.raises(RuntimeError, match="holds a list"):
        read_state(tmp_path)


def test_a_directory_without_a_state_is_said_to_be_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").touch()
    with pytest.raises(CheckpointNotFound, match=r"state_dict\.pth.*weights\.bin"):
        read_state(tmp_path)


def test_no_counters_are_no_counters(tmp_path: Path) -> None:
    assert read_counters(tmp_path) is None


@pytest.mark.parametrize(
    ("saved", "expected"),
    [
        ("module.a.w", "a.w"),
        ("a.w", "module.a.w"),
        ("module.module.w", "module.w"),  # the user's own model has a part called module
        ("a._orig_mod.w", "a.w"),
        ("module._orig_mod.a.w", "a.w"),
        ("a.w", "a._orig_mod.w"),
    ],
)
def test_a_wrapper_around_a_model_does_not_change_its_names(saved: str, expected: str) -> None:
    assert dict(fitted(OrderedDict({saved: 1}), [expected])) == {expected: 1}


def test_names_of_another_model_stay_as_they_are() -> None:
    assert dict(fitted({"module.a": 1, "module.b": 2}, ["a", "c"])) == {"a": 1, "module.b": 2}


def test_each_rank_finds_its_own_and_another_number_of_ranks_the_chiefs() -> None:
    state = {"rng_state": "chief", "rng_states": ["chief", "second"]}
    assert [of_rank(state, "rng_state", rank, 2) for rank in range(2)] == ["chief", "second"]
    assert of_rank(state, "rng_state", 1, 3) == "chief"
    assert of_rank({"rng_state": "chief"}, "rng_state", 1, 2) == "chief"
    assert of_rank({}, "rng_state", 0, 1) is None


def test_an_array_of_objects_is_refused_by_the_name_of_its_kind_and_not_by_torchs_advice(tmp_path: Path) -> None:
    torch.save({"callbacks": {"mine": np.array([{}], dtype=object)}}, tmp_path / "state_dict.pth")
    with pytest.raises(UnsafeCheckpoint, match=r"state_dict\.pth holds numpy\.dtypes\.ObjectDType, and loading that"):
        read_state(tmp_path)
