"""Test the promises of every search method, in both generations, whatever its trials do."""

import json
import math
import sys
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from search_contract import CASES, METRICS, SAMPLED, SPACE, STEPS, Case, Move, Play, check_orders, said_to

from determined.errors import FailedPrecondition
from determined.search.events import feed
from determined.search.method import INVALID_HPARAMS, Create, ExitReason, Operation, Shutdown, ValidateAfter
from determined.search.preview import preview
from determined.search.registry import samplers, searchers
from determined.search.rng import Rng
from determined.search.searcher import Searcher
from determined.search.searcher_config import SearcherConfig
from determined.search.simulate import SimulatedTrial, Simulation, Simulator

SETTINGS = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=12,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
MOVES = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 99)), max_size=60)
every_case = pytest.mark.parametrize("name", CASES)
every_sampled_case = pytest.mark.parametrize("name", SAMPLED)


def play(case: Case, seed: int = 0, metric: str = "own", moves: list[Move] | None = None, **changes: Any) -> Play:
    played = Play(case, case.simulator(METRICS[metric], seed, **changes))
    played.run(moves or [], Rng(seed + 1))
    return played


def test_every_searcher_has_a_case_in_each_of_its_generations() -> None:
    every = [*CASES.values(), *SAMPLED.values()]
    covered = {(case.config["name"], "classic" if case.classic else "late") for case in every}
    assert covered == {(name, generation) for name, one in searchers().items() for generation in one.generations}


def test_searcher_has_the_trait_of_a_model_exactly_where_it_builds_one() -> None:
    """The master looks by this trait for searches in which a trial waits for its point."""
    built = {name: case.searcher().declared.build_sampler(SPACE) is not None for name, case in CASES.items()}
    assert built == {name: case.declared.has_model for name, case in CASES.items()}


def test_every_sampler_but_the_slowest_has_a_case() -> None:
    slow = {"gp", "nsga2"}  # tests/unit/search/test_optuna_sampler.py has them
    assert {case.config["sampler"] for case in SAMPLED.values()} | slow == set(samplers())


@pytest.mark.parametrize("planned", [True, False], ids=["planned", "simulated"])
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.custom])
def test_search_is_previewed_in_its_generation_with_as_many_trials_as_it_promises(
    monkeypatch: pytest.MonkeyPatch, name: str, planned: bool
) -> None:
    """`simulated`: a searcher may leave out `plan`; the simulation then counts the same trials."""
    case = CASES[name]
    if not planned:
        monkeypatch.setattr(case.declared, "plan", SearcherConfig.plan)
    assert preview({"metric": "loss", **case.config}, SPACE, classic=case.classic).trials == case.trials


@every_case
def test_search_is_extended_exactly_where_its_searcher_says_so(name: str) -> None:
    simulator = CASES[name].simulator(METRICS["own"])
    simulator.start()
    expected = nullcontext() if CASES[name].declared.extendable else pytest.raises(FailedPrecondition, match="extended")
    with expected:
        simulator.search.extend(2)


@every_case
@pytest.mark.parametrize("seed", [1, 2])
def test_search_left_alone_runs_as_many_trials_as_it_promises(name: str, seed: int) -> None:
    check_quiet_run(CASES[name], seed)


@every_case
@given(seed=st.integers(0, 2**31 - 2), metric=st.sampled_from(sorted(METRICS)), moves=MOVES, smaller=st.booleans())
@SETTINGS
def test_search_keeps_its_promises_whatever_happens_to_its_trials(
    name: str, seed: int, metric: str, moves: list[Move], smaller: bool
) -> None:
    check_wild_run(play(CASES[name], seed, metric, moves, smaller_is_better=smaller), CASES[name], seed, smaller)


@every_sampled_case
def test_sampled_search_keeps_the_same_promises(name: str) -> None:
    pytest.importorskip("optuna")
    case = SAMPLED[name]
    check_quiet_run(case, 1)
    for seed in (2, 3):
        check_wild_run(play(case, seed, moves=random_moves(seed)), case, seed, True)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.custom])
@pytest.mark.parametrize("smaller", [True, False])
def test_nan_and_infinity_count_as_the_worst_number(name: str, smaller: bool) -> None:
    case = CASES[name]
    sign = 1 if smaller else -1
    runs: list[list[list[Operation]]] = []
    for worst in (math.nan, sign * math.inf, sign * sys.float_info.max):
        simulator = case.simulator(
            lambda hparams, length, worst=worst: worst if hparams["x"] < 0.6 else hparams["x"],
            smaller_is_better=smaller,
        )
        played = Play(case, simulator)
        played.run([], Rng(4))
        runs.append(simulator.operations)
    assert runs[0] == runs[1] == runs[2]


def pick(simulator: Simulator, rng: Rng) -> SimulatedTrial:
    """Draw whose turn it is, every trial that waits for a point having got one."""
    while waiting := simulator.search.proposals():
        simulator.propose(waiting[0])
    return simulator.pick(rng)


def _all_leave(simulator: Simulator, reason: ExitReason) -> None:
    rng = Rng(3)
    while simulator.shutdown is None:
        trial = pick(simulator, rng)
        if trial.reason is None:
            simulator.leave(trial, reason)
        else:
            simulator.step(trial)


@every_case
@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        (ExitReason.ERRORED, Shutdown(failure=True)),
        (ExitReason.USER_CANCELED, Shutdown(cancel=True)),
        (ExitReason.USER_REQUESTED_STOP, Shutdown()),
    ],
)
def test_search_whose_trials_all_leave_ends_as_they_did(name: str, reason: ExitReason, outcome: Shutdown) -> None:
    case = CASES[name]
    simulator = case.simulator(METRICS["own"])
    simulator.start()
    judges = case.declared.compares and not case.custom
    unheard = reason is ExitReason.USER_REQUESTED_STOP and judges
    with pytest.raises(FailedPrecondition, match="reported the searcher metric") if unheard else nullcontext():
        _all_leave(simulator, reason)
        assert simulator.shutdown == (Shutdown() if case.custom else outcome)


@every_case
def test_trial_that_fails_after_it_was_told_to_end_changes_nothing(name: str) -> None:
    case = CASES[name]
    simulator = case.simulator(METRICS["own"])
    simulator.start()
    rng = Rng(3)
    while simulator.shutdown is None:
        trial = pick(simulator, rng)
        if trial.told_to_end and trial.reason is None and not simulator.trains(trial):
            before = len(simulator.operations)
            simulator.leave(trial, ExitReason.ERRORED)
            assert not any(simulator.operations[before:])
        simulator.step(trial)
    assert len(simulator.trials) == case.trials


def check_quiet_run(case: Case, seed: int) -> None:
    played = play(case, seed)
    done = played.simulator.result()
    assert len(done.trials) == case.trials
    assert done.shutdown == Shutdown()
    assert all(trial.over and trial.reason is None for trial in done.trials)
    assert max(trial.reached for trial in done.trials) == (9 if case.custom else case.length)
    if case.busy is not None:
        assert played.busiest <= case.busy
    again = play(case, seed)
    assert again.simulator.result() == done


def check_wild_run(played: Play, case: Case, seed: int, smaller: bool) -> None:
    done = played.simulator.result()
    check_one_end(done, case)
    check_outcome(done, case)
    check_counts(done, case, played)
    for told in said_to(done.operations).values():
        check_orders(case, told)
    check_silence_after_exits(done)
    fresh = case.searcher(seed, smaller_is_better=smaller)
    check_replays(fresh, done)


def check_one_end(done: Simulation, case: Case) -> None:
    ends = [operation for batch in done.operations for operation in batch if isinstance(operation, Shutdown)]
    assert ends == [done.shutdown]
    assert done.operations[-1][-1] == done.shutdown
    assert all(trial.over for trial in done.trials)


def check_outcome(done: Simulation, case: Case) -> None:
    if case.custom:
        return
    reasons = [trial.reason for trial in done.trials]
    assert done.shutdown.failure == all(reason is ExitReason.ERRORED for reason in reasons)
    assert done.shutdown.cancel == all(reason is ExitReason.USER_CANCELED for reason in reasons)


def check_counts(done: Simulation, case: Case, played: Play) -> None:
    creates = [op for batch in done.operations for op in batch if isinstance(op, Create)]
    assert len({create.request_id for create in creates}) == len(creates) == len(done.trials)
    counted = [t for t in done.trials if not (case.replaces_invalid and t.reason in INVALID_HPARAMS)]
    assert len(counted) <= case.trials
    fixed = case.fixed and (case.replaces_quitters or not played.quitters)
    assert not fixed or len(counted) == case.trials
    if case.busy is not None:
        # A trial that is already told to end, or waits, and then turns out invalid is replaced beside those that run.
        assert played.busiest <= case.busy + played.invalid_while_idle


def check_silence_after_exits(done: Simulation) -> None:
    """Nobody trains a trial that has said it will leave."""
    gone: set[str] = set()
    for event, operations in zip(done.events, done.operations, strict=True):
        if event["type"] in ("exited_early", "exited"):
            gone.add(event["id"])
        assert not {op.request_id for op in operations if isinstance(op, ValidateAfter)} & gone


def check_replays(fresh: Searcher, done: Simulation) -> None:
    """The log gives the same operations again: to a fresh searcher, and to one restored after every single event."""
    events = json.loads(json.dumps(done.events, allow_nan=False))
    restored = through_json(fresh)
    middle: Searcher | None = None
    for number, (event, operations) in enumerate(zip(events, done.operations, strict=True)):
        assert feed(fresh, event) == operations
        assert feed(restored, event) == operations
        assert middle is None or feed(middle, event) == operations
        assert restored.progress() == fresh.progress()
        assert 0 <= fresh.progress() <= 1
        restored = through_json(restored)
        if number == len(events) // 2:
            middle = through_json(fresh)
    assert middle is not None
    assert fresh.snapshot() == restored.snapshot() == middle.snapshot()


def through_json(search: Searcher) -> Searcher:
    return Searcher.restore(json.loads(json.dumps(search.snapshot(), allow_nan=False)))


def random_moves(seed: int) -> list[Move]:
    rng = Rng(seed)
    return [(STEPS[rng.below(len(STEPS))], rng.below(99)) for _ in range(20)]
