"""CallbackSet: who is called at a hook, older names and signatures, shutting down, states."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from determined.pytorch import PyTorchCallback
from determined.pytorch._callback_set import CallbackSet


class _Noting(PyTorchCallback):
    def __init__(self, name: str, notes: list[Any]) -> None:
        self.name, self.notes, self.state = name, notes, {"n": 0}

    def on_training_epoch_end(self, epoch_idx: int) -> None:
        self.notes.append((self.name, epoch_idx))

    def on_trial_shutdown(self) -> None:
        self.notes.append(f"{self.name} down")

    def state_dict(self) -> dict[str, Any]:
        return self.state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.state = state_dict


class _Heir(_Noting):
    """Overrides nothing itself."""


def test_a_hook_runs_in_the_order_of_build_callbacks_on_those_that_override_it() -> None:
    notes: list[Any] = []
    callbacks = CallbackSet({"a": _Heir("a", notes), "plain": PyTorchCallback(), "b": _Noting("b", notes)})
    callbacks.fire("on_training_epoch_end", 7)
    callbacks.fire("on_training_start")
    assert notes == [("a", 7), ("b", 7)]
    assert callbacks.overrides("on_training_epoch_end")
    assert not callbacks.overrides("on_training_start")


def test_a_set_that_was_shared_knows_the_hooks_of_other_ranks() -> None:
    ranks: Any = SimpleNamespace(size=2, allgather=lambda own: [["on_validation_end"], own])
    callbacks = CallbackSet({"a": _Noting("a", [])})
    assert not callbacks.anywhere("on_validation_end")
    callbacks.share(ranks)
    assert callbacks.anywhere("on_validation_end") and callbacks.anywhere("on_training_epoch_end")
    assert not callbacks.overrides("on_validation_end")


def test_an_unknown_hook_is_no_silent_nothing() -> None:
    with pytest.raises(KeyError, match="on_trainig_start"):
        CallbackSet({}).fire("on_trainig_start")


@pytest.mark.parametrize(
    ("callbacks", "words"),
    [
        ([PyTorchCallback()], "build_callbacks returned a list; return a dict"),
        ({"early": object()}, "build_callbacks returned a object as 'early'"),
        ({"early": PyTorchCallback}, "build_callbacks returned the class PyTorchCallback as 'early'"),
    ],
)
def test_callbacks_of_a_wrong_type_are_refused_by_the_name_of_the_method(callbacks: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        CallbackSet(callbacks)


def test_an_epoch_start_without_a_parameter_still_works_with_a_warning() -> None:
    notes: list[str] = []

    class Old(PyTorchCallback):
        def on_training_epoch_start(self) -> None:  # type: ignore[override]
            notes.append("started")

    with pytest.warns(FutureWarning, match="Old.on_training_epoch_start without a parameter is deprecated; add epoch_"):
        callbacks = CallbackSet({"old": Old()})
    callbacks.fire("on_training_epoch_start", 3)
    assert notes == ["started"]


def test_older_names_of_validation_hooks_are_called_beside_the_newer_ones() -> None:
    notes: list[Any] = []

    class Old(PyTorchCallback):
        def on_validation_step_start(self) -> None:
            notes.append("start")

        def on_validation_step_end(self, metrics: dict[str, Any]) -> None:
            notes.append(metrics)

    with pytest.warns(FutureWarning) as warned:
        callbacks = CallbackSet({"old": Old()})
    assert [str(warning.message) for warning in warned] == [
        "Old.on_validation_step_start is deprecated; rename it to on_validation_start",
        "Old.on_validation_step_end is deprecated; rename it to on_validation_end",
    ]
    assert callbacks.overrides("on_validation_end")
    callbacks.fire("on_validation_start")
    callbacks.fire("on_validation_end", {"loss": 1.0})
    assert notes == ["start", {"loss": 1.0}]


def test_on_checkpoint_end_is_called_with_a_warning_that_names_its_successor() -> None:
    class Old(PyTorchCallback):
        def on_checkpoint_end(self, checkpoint_dir: str) -> None:
            self.seen = checkpoint_dir

    old = Old()
    with pytest.warns(FutureWarning, match="Old.on_checkpoint_end is deprecated; rename it to on_checkpoint_write_end"):
        callbacks = CallbackSet({"old": old})
    callbacks.fire("on_checkpoint_end", "here")
    assert old.seen == "here"


def test_all_callbacks_are_shut_down_in_reverse_though_some_fail(caplog: pytest.LogCaptureFixture) -> None:
    notes: list[Any] = []

    class Failing(_Noting):
        def on_trial_shutdown(self) -> None:
            super().on_trial_shutdown()
            raise OSError(f"{self.name} failed")

    callbacks = CallbackSet({"a": _Noting("a", notes), "b": Failing("b", notes), "c": Failing("c", notes)})
    with pytest.raises(OSError, match="c failed"):
        callbacks.shut_down()
    assert notes == ["c down", "b down", "a down"]
    assert "on_trial_shutdown failed as well, in Failing" in caplog.text and "b failed" in caplog.text


def test_states_travel_by_name_and_a_missing_one_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    first = {"a": _Noting("a", []), "b": _Noting("b", [])}
    first["a"].state = {"n": 5}
    states = CallbackSet(dict(first)).state_dict()
    assert states == {"a": {"n": 5}, "b": {"n": 0}}

    second = {"a": _Noting("a", []), "new": _Noting("new", [])}
    with caplog.at_level(logging.WARNING):
        CallbackSet(dict(second)).load_state_dict(states)
    assert second["a"].state == {"n": 5} and second["new"].state == {"n": 0}
    assert "no state of callback 'new'" in caplog.text and "['b']" in caplog.text
