"""Results that analyses of hyperparameters are made of, and the front of the best, against a naive one."""

import random
from typing import Any

import pytest
from database_world import World, after
from sqlalchemy import Connection

from determined.master.db.queries import hp_analysis, metric, metric_trial
from determined.search import pareto
from determined.wire.report import MetricReport

NAMES = ["loss", "latency", "acc"]


def dominates(one: list[float], other: list[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and one != other


def naive_ranks(points: list[list[float]]) -> list[int]:
    """Front by front: what nobody left dominates."""
    ranks: dict[int, int] = {}
    rank = 0
    while len(ranks) < len(points):
        left = [i for i in range(len(points)) if i not in ranks]
        front = [i for i in left if not any(dominates(points[j], points[i]) for j in left)]
        ranks |= dict.fromkeys(front, rank)
        rank += 1
    return [ranks[i] for i in range(len(points))]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("objectives", [2, 3])
def test_fronts_are_those_of_a_naive_search_with_ties_and_equal_points(seed: int, objectives: int) -> None:
    rng = random.Random(seed)
    values = [0.0, 0.5, 1.0, 2.0, -3.0, 1e300]
    points = [[rng.choice(values) for _ in range(objectives)] for _ in range(rng.randint(1, 40))]
    assert pareto.ranks(points) == naive_ranks(points)


def test_no_points_have_no_ranks() -> None:
    assert pareto.ranks([]) == []


@pytest.fixture
def results(conn: Connection, world: World) -> tuple[int, dict[int, dict[str, list[Any]]]]:
    """An experiment, and what its completed trials have reported by name, in order."""
    rng = random.Random(2)
    experiment_id = world.experiment({})
    told: dict[int, dict[str, list[Any]]] = {}
    for n in range(16):
        state = rng.choice(["COMPLETED", "COMPLETED", "ERROR", "ACTIVE"])
        trial_id = world.trial(experiment_id, {"state": state, "end_time": after(n), "hparams": {"n": n}})
        who = metric_trial.reporter(conn, trial_id)
        said: dict[str, list[Any]] = {}
        for step in range(rng.randrange(4)):
            values: dict[str, Any] = {name: _value(rng) for name in rng.sample(NAMES, rng.randint(1, 3))}
            metric.append_reports(conn, who, [MetricReport("validation", step, {**values, "word": "x"}, 1.0)])
            for name, value in values.items():
                said.setdefault(name, []).append(value)
        if state == "COMPLETED":
            told[trial_id] = said
    world.trial(world.experiment({}), {"state": "COMPLETED", "end_time": after(99)})
    return experiment_id, told


def _value(rng: random.Random) -> Any:
    return rng.choice([rng.uniform(-1, 1), rng.randrange(5), float("nan"), float("inf")])


def test_only_completed_trials_and_numbers_have_results(
    conn: Connection, results: tuple[int, dict[int, dict[str, list[Any]]]]
) -> None:
    experiment_id, told = results
    found = hp_analysis.results(conn, experiment_id, "COMPLETED", [*NAMES, "word"])
    assert list(found) == sorted(trial_id for trial_id, said in told.items() if said)
    for trial_id, by_name in found.items():
        assert set(by_name) == set(told[trial_id])
        for name, result in by_name.items():
            finite = [v for v in told[trial_id][name] if abs(v) < 1e300]
            assert (result.low, result.high) == (min(finite, default=None), max(finite, default=None))
            last = told[trial_id][name][-1]
            assert result.last == (last if abs(last) < 1e300 else "NaN" if last != last else "Infinity")


def test_the_mark_changes_with_every_trial_that_completes(
    conn: Connection, results: tuple[int, dict[int, dict[str, list[Any]]]], world: World
) -> None:
    experiment_id, told = results
    before = hp_analysis.mark(conn, experiment_id, "COMPLETED")
    assert before[0] == len(told)
    world.trial(experiment_id, {"state": "ERROR", "end_time": after(200)})
    assert hp_analysis.mark(conn, experiment_id, "COMPLETED") == before
    world.trial(experiment_id, {"state": "COMPLETED", "end_time": after(0)})
    assert hp_analysis.mark(conn, experiment_id, "COMPLETED") == (before[0] + 1, before[1])


def test_hyperparameters_of_more_trials_than_a_statement_binds_are_read(
    conn: Connection, results: tuple[int, dict[int, dict[str, list[Any]]]]
) -> None:
    _, told = results
    asked = [*told, *range(2**40, 2**40 + 1500)]
    assert set(hp_analysis.hparams(conn, asked)) == set(told)
