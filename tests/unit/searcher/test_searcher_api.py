"""`determined.searcher` as search methods see it: names, operations, state, saving and loading."""

import dataclasses
import inspect
import json
import math
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from determined import searcher
from determined.searcher import _events
from determined.wire.codec import convert
from determined.wire.custom_search import SearcherEvent

ONE = UUID("11111111-1111-4111-8111-111111111111")
TWO = UUID("22222222-2222-4222-8222-222222222222")

NAMES = [
    "Close", "Create", "ExitedReason", "LocalSearchRunner", "Operation", "Progress", "RemoteSearchRunner",
    "SearchMethod", "SearchRunner", "SearcherState", "Shutdown", "ValidateAfter",
]  # fmt: skip
SIGNATURES = {
    searcher.Create: "(request_id, hparams, checkpoint=None)",
    searcher.ValidateAfter: "(request_id, length)",
    searcher.Close: "(request_id)",
    searcher.Progress: "(progress)",
    searcher.Shutdown: "(cancel=False, failure=False)",
    searcher.LocalSearchRunner: "(search_method, searcher_dir=None, session=None)",
    searcher.LocalSearchRunner.run: "(self, exp_config, model_dir=None, includes=None)",
    searcher.RemoteSearchRunner: "(search_method, context)",
    searcher.RemoteSearchRunner.run: "(self, exp_config, model_dir=None, includes=None)",
    searcher.SearchMethod.initial_operations: "(self, searcher_state)",
    searcher.SearchMethod.on_trial_created: "(self, searcher_state, request_id)",
    searcher.SearchMethod.on_validation_completed: "(self, searcher_state, request_id, metric, train_length)",
    searcher.SearchMethod.on_trial_closed: "(self, searcher_state, request_id)",
    searcher.SearchMethod.on_trial_exited_early: "(self, searcher_state, request_id, exited_reason)",
    searcher.SearchMethod.progress: "(self, searcher_state)",
    searcher.SearchMethod.save: "(self, searcher_state, path, *, experiment_id)",
    searcher.SearchMethod.load: "(self, path)",
    searcher.SearchMethod.save_method_state: "(self, path)",
    searcher.SearchMethod.load_method_state: "(self, path)",
}


class Noting(searcher.SearchMethod):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def initial_operations(self, searcher_state: searcher.SearcherState) -> list[searcher.Operation]:
        return self._note("initial")

    def on_trial_created(self, searcher_state: searcher.SearcherState, request_id: UUID) -> list[searcher.Operation]:
        return self._note("created", request_id)

    def on_validation_completed(
        self, searcher_state: searcher.SearcherState, request_id: UUID, metric: Any, train_length: int
    ) -> list[searcher.Operation]:
        return self._note("validated", request_id, metric, train_length)

    def on_trial_closed(self, searcher_state: searcher.SearcherState, request_id: UUID) -> list[searcher.Operation]:
        return self._note("closed", request_id)

    def on_trial_exited_early(
        self, searcher_state: searcher.SearcherState, request_id: UUID, exited_reason: searcher.ExitedReason
    ) -> list[searcher.Operation]:
        return self._note("exited", request_id, exited_reason)

    def progress(self, searcher_state: searcher.SearcherState) -> float:
        return 0.5

    def save_method_state(self, path: Path) -> None:
        (path / "calls").write_text(str(len(self.calls)))

    def load_method_state(self, path: Path) -> None:
        self.calls = ["loaded"] * int((path / "calls").read_text())

    def _note(self, *call: Any) -> list[searcher.Operation]:
        self.calls.append(call)
        return [searcher.Close(ONE)]


def told(event: dict[str, Any], state: searcher.SearcherState) -> tuple[list[Any], list[searcher.Operation]]:
    """Return what a method hears of an event, and the operations that follow."""
    method = Noting()
    operations = _events.answer(method, state, convert({"id": 7, **event}, SearcherEvent))
    return method.calls, operations


def _plain(signature: inspect.Signature) -> str:
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def test_the_public_names_and_signatures_are_these() -> None:
    assert searcher.__all__ == NAMES
    assert {thing: _plain(inspect.signature(thing)) for thing in SIGNATURES} == SIGNATURES
    assert [reason.name for reason in searcher.ExitedReason] == ["ERRORED", "USER_CANCELED", "INVALID_HP"]


def test_operations_travel_in_the_words_of_the_wire() -> None:
    operations = [
        searcher.Create(ONE, {"lr": 0.1, "layers": (1, 2)}),
        searcher.ValidateAfter(ONE, 100),
        searcher.Close(ONE),
        searcher.Progress(0.5),
        searcher.Shutdown(failure=True),
    ]
    name = str(ONE)
    assert [operation._to_wire() for operation in operations] == [
        {"createTrial": {"requestId": name, "hyperparams": '{"lr": 0.1, "layers": [1, 2]}'}},
        {"trialOperation": {"validateAfter": {"requestId": name, "length": "100"}}},
        {"closeTrial": {"requestId": name}},
        {"setSearcherProgress": {"progress": 0.5}},
        {"shutDown": {"cancel": False, "failure": True}},
    ]


def test_operations_are_values() -> None:
    assert searcher.Create(ONE, {"lr": 0.1}) == searcher.Create(ONE, {"lr": 0.1})
    assert json.loads(searcher.Create(ONE, {"lr": 0.1}).hparams) == {"lr": 0.1}
    with pytest.raises(dataclasses.FrozenInstanceError):
        searcher.Close(ONE).request_id = TWO  # type: ignore[misc]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_json_lacks_are_refused_where_they_are_made(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        searcher.Create(ONE, {"lr": value})
    with pytest.raises(ValueError, match=f"progress={value}"):
        searcher.Progress(value)


def test_a_checkpoint_given_to_create_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    assert searcher.Create(ONE, {}, "some checkpoint").checkpoint == "some checkpoint"
    assert "source_checkpoint_uuid" in caplog.text


def test_state_becomes_json_and_comes_back() -> None:
    state = searcher.SearcherState()
    state.failures, state.trials_created, state.trials_closed = {ONE}, {ONE, TWO}, {ONE}
    state.trial_progress, state.last_event_id, state.experiment_id = {TWO: 0.5}, 9, 3
    state.experiment_failed = True
    raw = json.loads(json.dumps(state.to_dict()))
    assert raw == {
        "failures": [str(ONE)],
        "trialsCreated": [str(ONE), str(TWO)],
        "trialsClosed": [str(ONE)],
        "trialProgress": {str(TWO): 0.5},
        "lastEventId": 9,
        "experimentId": 3,
        "experimentCompleted": False,
        "experimentFailed": True,
    }
    other = searcher.SearcherState()
    other.from_dict(raw)
    assert vars(other) == vars(state)


def test_a_method_is_saved_with_the_state_and_loaded_with_it(tmp_path: Path) -> None:
    method, state = Noting(), searcher.SearcherState()
    method.calls, state.last_event_id = [1, 2, 3], 4
    method.save(state, tmp_path, experiment_id=12)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["calls", "state"]
    loaded = Noting()
    again, experiment_id = loaded.load(tmp_path)
    assert experiment_id == 12 and vars(again) == vars(state)
    assert loaded.calls == ["loaded"] * 3


def test_events_update_the_state_before_the_method_hears_of_them() -> None:
    state = searcher.SearcherState()
    close, progress = searcher.Close(ONE), searcher.Progress(0.5)
    assert told({"initialOperations": {}}, state) == ([("initial",)], [close])
    assert told({"trialCreated": {"requestId": str(ONE)}}, state) == ([("created", ONE)], [close])
    assert state.trials_created == {ONE} and state.trial_progress == {ONE: 0.0}
    assert told({"trialProgress": {"requestId": str(ONE), "partialUnits": 3}}, state) == ([], [progress])
    assert state.trial_progress == {ONE: 3.0}
    validated = {"requestId": str(ONE), "metric": 0.1, "validateAfterLength": "5"}
    assert told({"validationCompleted": validated}, state) == ([("validated", ONE, 0.1, 5)], [close, progress])
    assert told({"trialClosed": {"requestId": str(ONE)}}, state) == ([("closed", ONE)], [close, progress])
    assert state.trials_closed == {ONE}


@pytest.mark.parametrize(
    ("word", "reason", "failures", "progress"),
    [
        ("UNSPECIFIED", "ERRORED", {ONE}, {ONE: 1.0}),
        ("INVALID_HP", "INVALID_HP", set(), {}),
        ("USER_CANCELED", "USER_CANCELED", set(), {ONE: 1.0}),
        ("USER_REQUESTED_STOP", "USER_CANCELED", set(), {ONE: 1.0}),
    ],
)
def test_an_early_exit_is_counted_by_its_reason(
    word: str, reason: str, failures: set[UUID], progress: dict[UUID, float]
) -> None:
    state = searcher.SearcherState()
    state.trial_progress = {ONE: 1.0}
    early = {"requestId": str(ONE), "exitedReason": f"EXITED_REASON_{word}"}
    calls, operations = told({"trialExitedEarly": early}, state)
    assert calls == [("exited", ONE, searcher.ExitedReason[reason])]
    assert operations[-1] == searcher.Progress(0.5)
    assert state.failures == failures and state.trial_progress == progress


def test_metrics_that_json_lacks_arrive_as_numbers() -> None:
    state = searcher.SearcherState()
    metric = {"loss": "NaN", "all": ["Infinity", "-Infinity", "text", 1]}
    validated = {"requestId": str(ONE), "metric": metric, "validateAfterLength": "5"}
    [(_, _, heard, _)], _ = told({"validationCompleted": validated}, state)
    assert math.isnan(heard["loss"])
    assert heard["all"] == [math.inf, -math.inf, "text", 1]


def test_an_event_of_a_newer_master_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    assert told({"somethingNew": {}}, searcher.SearcherState()) == ([], [])
    assert "event 7" in caplog.text
