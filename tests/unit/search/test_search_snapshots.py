"""A searcher restored from its snapshot has the same future, whatever happened before."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determined.errors import FailedPrecondition
from determined.search.method import Create, ExitReason, Operation
from determined.search.searcher import Searcher

SPACE = {
    "i": {"type": "int", "minval": 0, "maxval": 3, "count": 3},
    "g": {"c": {"type": "categorical", "vals": ["x", "y"]}, "empty": {}},
}
METHODS = st.sampled_from(
    [
        {"name": "single", "max_length": 10},
        {"name": "random", "max_trials": 5, "max_concurrent_trials": 2, "max_length": {"batches": 10}},
        {"name": "grid", "max_concurrent_trials": 2, "max_length": 10},
        {"name": "grid", "max_concurrent_trials": 0, "max_length": 10},
    ]
)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["created", "validation", "progress", "early", "exited"]),
        st.integers(0, 9),
        st.sampled_from(list(ExitReason)),
    ),
    max_size=25,
)


def feed(search: Searcher, known: list[str], event: tuple[str, int, ExitReason]) -> list[Operation]:
    kind, which, reason = event
    trial = known[which % len(known)]
    if kind == "created":
        return search.trial_created(trial)
    if kind == "validation":
        return search.validation(trial, which / 7, which)
    if kind == "progress":
        return search.progress_reported(trial, which / 10)
    if kind == "early":
        return search.exited_early(trial, reason)
    return search.exited(trial)


def play(search: Searcher, known: list[str], events: list[tuple[str, int, ExitReason]]) -> list[Any]:
    heard: list[Any] = []
    for event in events:
        operations = feed(search, known, event)
        known += [op.request_id for op in operations if isinstance(op, Create)]
        heard.append((operations, search.progress()))
    return heard


@settings(deadline=None)
@given(config=METHODS, classic=st.booleans(), seed=st.integers(0, 2**31 - 1), before=EVENTS, after=EVENTS)
def test_restored_searcher_has_the_same_future(
    config: dict[str, Any],
    classic: bool,
    seed: int,
    before: list[tuple[str, int, ExitReason]],
    after: list[tuple[str, int, ExitReason]],
) -> None:
    search = Searcher.create(config, SPACE, seed=seed, classic=classic)
    known = [op.request_id for op in search.start() if isinstance(op, Create)]
    play(search, known, before)
    other = Searcher.restore(json.loads(json.dumps(search.snapshot(), allow_nan=False)))
    assert play(search, list(known), after) == play(other, list(known), after)
    assert search.snapshot() == other.snapshot()


def test_searcher_restored_before_its_start_starts_the_same() -> None:
    search = Searcher.create({"name": "random", "max_trials": 3}, SPACE, seed=9, classic=False)
    other = Searcher.restore(search.snapshot())
    assert search.start() == other.start()


def test_snapshot_is_not_changed_by_later_events() -> None:
    search = Searcher.create({"name": "random", "max_trials": 3}, SPACE, seed=9, classic=False)
    trial = next(op.request_id for op in search.start() if isinstance(op, Create))
    search.trial_created(trial)
    snapshot = search.snapshot()
    before = json.dumps(snapshot)
    search.progress_reported(trial, 0.7)
    search.exited(trial)
    assert json.dumps(snapshot) == before


def test_infinite_constant_is_handed_out_as_the_wire_writes_it() -> None:
    search = Searcher.create({"name": "single"}, {"clip": math.inf}, seed=1, classic=False)
    other = Searcher.restore(json.loads(json.dumps(search.snapshot(), allow_nan=False)))
    (create,) = search.start()
    assert isinstance(create, Create)
    assert create.hparams == {"clip": "Infinity"}
    assert other.start() == [create]


def test_snapshot_of_a_newer_master_is_refused() -> None:
    snapshot = Searcher.create({"name": "single"}, {}, seed=1, classic=False).snapshot()
    with pytest.raises(FailedPrecondition, match="version 99 is newer"):
        Searcher.restore({**snapshot, "version": 99})
