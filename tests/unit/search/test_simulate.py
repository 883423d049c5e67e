"""The simulation drives a search as the master would, without a cluster."""

import json
from typing import Any

import pytest

from determined.errors import FailedPrecondition
from determined.search.events import feed
from determined.search.method import Create, ExitReason, Operation, SearchContext, SearchMethod, Shutdown, Stop, Tally
from determined.search.methods.classic.sync_halving import SyncHalving
from determined.search.rng import Rng
from determined.search.searcher import Searcher
from determined.search.simulate import SimulatedTrial, Simulator, simulate

SPACE = {"x": {"type": "double", "minval": 0, "maxval": 1}}
RANDOM = {"name": "random", "max_trials": 6, "max_concurrent_trials": 2, "max_length": 10}
HALVING = {
    "name": "sync_halving",
    "num_rungs": 3,
    "divisor": 2,
    "max_length": {"batches": 40},
    "budget": {"batches": 80},
}


def searcher(config: dict[str, Any] = HALVING, *, classic: bool = True, seed: int = 1) -> Searcher:
    return Searcher.create(config, SPACE, seed=seed, classic=classic)


def loss(hparams: dict[str, Any], length: float) -> float:
    return float(hparams["x"])


def test_classic_trials_train_to_the_lengths_they_are_given() -> None:
    done = simulate(searcher(), loss, Rng(5))
    best, second, *others = sorted(done.trials, key=lambda trial: trial.hparams["x"])
    assert best.lengths == [10, 20, 40]
    assert second.lengths == [10, 20]
    assert [trial.lengths for trial in others] == [[10], [10]]
    assert all(trial.over and trial.reason is None for trial in done.trials)
    assert done.shutdown == Shutdown()


def test_late_trials_report_at_the_given_lengths_and_then_end() -> None:
    done = simulate(searcher(RANDOM, classic=False), loss, Rng(5), reports=[3, 6, 9])
    assert [trial.lengths for trial in done.trials] == [[3, 6, 9]] * 6


def test_order_is_drawn_from_the_generator_and_repeats_with_it() -> None:
    first, again, other = (simulate(searcher(), loss, Rng(seed)) for seed in (5, 5, 6))
    assert first == again
    assert first.events != other.events


def test_every_trial_gets_its_turn_about_as_often() -> None:
    first = [simulate(searcher(), loss, Rng(seed)).events[5]["id"] for seed in range(80)]
    ids = {event["id"] for event in simulate(searcher(), loss, Rng(0)).events[1:5]}
    assert set(first) == ids
    assert all(first.count(one) > 8 for one in ids)


def test_trial_that_leaves_is_told_to_the_search_with_its_reason() -> None:
    def leaves(trial: SimulatedTrial) -> ExitReason | None:
        return ExitReason.ERRORED if trial.hparams["x"] < 0.5 else None

    done = simulate(searcher(RANDOM), loss, Rng(5), leaves=leaves)
    assert {trial.hparams["x"] < 0.5 for trial in done.trials} == {True, False}
    for trial in done.trials:
        early = trial.hparams["x"] < 0.5
        assert (trial.reason, trial.lengths) == ((ExitReason.ERRORED, []) if early else (None, [10]))


def test_log_replays_to_the_same_operations_after_json() -> None:
    done = simulate(searcher(), loss, Rng(5), leaves=lambda trial: ExitReason.ERRORED if trial.reached == 10 else None)
    events = json.loads(json.dumps(done.events))
    fresh = searcher()
    assert [feed(fresh, event) for event in events] == done.operations


def test_custom_search_is_answered_by_its_client() -> None:
    name = "00000000-0000-4000-8000-000000000001"

    def client(event: dict[str, Any]) -> list[dict[str, Any]]:
        if "initialOperations" in event:
            return [
                {"createTrial": {"requestId": name, "hyperparams": '{"x": 0.5}'}},
                {"trialOperation": {"validateAfter": {"requestId": name, "length": "7"}}},
            ]
        if "validationCompleted" in event:
            return [{"closeTrial": {"requestId": name}}]
        return [{"shutDown": {}}] if "trialClosed" in event else []

    done = simulate(searcher({"name": "custom"}), loss, Rng(5), client=client)
    (trial,) = done.trials
    assert (trial.request_id, trial.lengths, trial.over) == (name, [7], True)


def test_search_that_waits_for_nothing_is_an_error() -> None:
    with pytest.raises(FailedPrecondition, match="stands still"):
        simulate(searcher({"name": "custom"}), loss, Rng(5), client=lambda event: [])


def test_search_that_never_ends_is_an_error() -> None:
    def leaves(trial: SimulatedTrial) -> ExitReason:
        return ExitReason.INVALID_HP  # random search replaces these for ever

    with pytest.raises(FailedPrecondition, match="not ended after 100 events"):
        simulate(searcher(RANDOM), loss, Rng(5), leaves=leaves, max_events=100)


def test_stopped_trial_may_still_report_before_it_exits() -> None:
    config = {**RANDOM, "name": "async_halving", "num_rungs": 1, "time_metric": "epochs", "max_time": 3}
    simulator = Simulator(searcher(config, classic=False), loss, reports=[3, 6])
    simulator.start()
    trial = simulator.runnable()[0]
    simulator.step(trial)
    assert Stop(trial.request_id) in simulator.operations[-2]
    assert not simulator.trains(trial)
    simulator.report(trial, 6)
    assert simulator.operations[-1] == []
    simulator.step(trial)
    assert trial.over


def test_classic_trial_between_operations_is_not_runnable() -> None:
    simulator = Simulator(searcher(), loss)
    simulator.start()
    trial = simulator.runnable()[0]
    simulator.step(trial)
    assert trial not in simulator.runnable()
    simulator.leave(trial, ExitReason.USER_CANCELED)
    assert trial in simulator.runnable()
    simulator.step(trial)
    assert trial.over
    assert trial not in simulator.runnable()


def test_second_shutdown_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SyncHalving, "build", lambda *args, **options: _ShutsDownItself())
    with pytest.raises(FailedPrecondition, match="shut down twice"):
        simulate(searcher(), loss, Rng(5), reports=[1])


class _ShutsDownItself(SearchMethod):
    def initial(self, ctx: SearchContext) -> list[Operation]:
        create: Create = ctx.create()
        return [create]

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        return [Shutdown()]

    def progress(self, tally: Tally) -> float:
        return 0.0

    def snapshot(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        pass
