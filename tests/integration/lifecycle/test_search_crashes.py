"""A master that dies at every transaction, before and after its commit: each search is the one of the simulation."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fleet import Death, DyingMaster, Fleet, prepare_database, simulated

from determined.master.lifecycle import operations, search, trial_state
from determined.search.registry import searchers

FEW, ALL = range(10), range(50)
REPORTS = (1, 3)
LATE = {"metric": "loss", "time_metric": "epochs", "max_time": 3}
CLASSIC = {"metric": "loss", "max_length": {"epochs": 3}}
HALVING = {"max_trials": 4, "num_rungs": 2, "divisor": 3, "max_concurrent_trials": 2}
GRID = {"x": {"type": "double", "minval": 0, "maxval": 1, "count": 2}, "n": {"type": "categorical", "vals": [1, 5]}}

METHODS: dict[str, dict[str, Any]] = {
    "random late": {"name": "random", "metric": "loss", "max_trials": 4, "max_concurrent_trials": 2},
    "random classic": {"name": "random", "max_trials": 4, "max_concurrent_trials": 2, **CLASSIC},
    "grid": {"name": "grid", "metric": "loss", "max_concurrent_trials": 2},
    "auto late": {"name": "auto", "max_trials": 8, "max_concurrent_trials": 2, **LATE},
    "auto classic": {"name": "auto", "max_trials": 8, "max_concurrent_trials": 2, **CLASSIC},
    "stopping asha": {"name": "async_halving", **HALVING, **LATE},
    "promoting asha": {"name": "async_halving", **HALVING, **CLASSIC},
    "adaptive asha late": {"name": "adaptive_asha", "max_trials": 4, "divisor": 3, "max_rungs": 2, **LATE},
    "adaptive asha classic": {"name": "adaptive_asha", "max_trials": 4, "divisor": 3, "max_rungs": 2, **CLASSIC},
    "sync halving": {"name": "sync_halving", "num_rungs": 2, "divisor": 3, "budget": {"epochs": 9}, **CLASSIC},
    "adaptive": {"name": "adaptive", "max_rungs": 2, "divisor": 3, "budget": {"epochs": 16}, **CLASSIC},
    "adaptive simple": {"name": "adaptive_simple", "max_rungs": 2, "divisor": 3, "max_trials": 4, **CLASSIC},
    "pbt": {"name": "pbt", "metric": "loss", "population_size": 3, "num_rounds": 2, "length_per_round": {"epochs": 2}},
}

LEFT_OUT = {
    "single": "random with one trial",
    "optuna": "its model answers between transactions; test_proposals.py kills the master there",
    "custom": "its own program decides; tests/integration/experiments/test_custom_search_http.py",
}


def test_every_searcher_is_among_the_methods_or_said_to_be_left_out() -> None:
    assert {str(config["name"]) for config in METHODS.values()} == searchers().keys() - LEFT_OUT.keys()


@pytest.fixture(scope="module")
def database() -> Iterator[DyingMaster]:
    """In memory where there is such a file system: a real disk would only make the same test slower."""
    memory = Path("/dev/shm")
    directory = Path(tempfile.mkdtemp(prefix="det-crashes-", dir=memory if memory.is_dir() else None))
    master = DyingMaster(f"sqlite:///{directory / 'master.db'}")
    prepare_database(master.engine)
    yield master
    master.close()
    shutil.rmtree(directory)


@pytest.fixture
def master(database: DyingMaster) -> DyingMaster:
    database.deaths = 0
    return database


@pytest.mark.parametrize("seeds", [FEW, pytest.param(ALL, marks=pytest.mark.chaos)], ids=len)
@pytest.mark.parametrize("method", METHODS)
def test_search_of_a_master_that_dies_at_every_transaction_is_the_simulated_one(
    master: DyingMaster, method: str, seeds: range
) -> None:
    space = {"space": GRID} if method == "grid" else {}
    asked = False
    for seed in seeds:
        master.death = Death.BEFORE if seed % 2 else Death.AFTER
        fleet = Fleet(master, METHODS[method], seed, REPORTS, trouble=0.1 * (seed % 3), **space)
        state = fleet.run()
        pure = simulated(fleet)
        told = {trial.request_id: trial.hparams for trial in fleet.trials()}
        assert told == {request_id: trial.hparams for request_id, trial in pure.trials.items()}
        assert fleet.lengths() == {request_id: trial.lengths for request_id, trial in pure.trials.items()}
        assert pure.shutdown is not None
        assert state == ("ERROR" if pure.shutdown.failure else "COMPLETED")
        asked = asked or any(act.kind == "propose" for act in fleet.script)
    assert master.deaths > 8 * len(seeds)
    assert asked == method.startswith("auto"), "its model thinks after the first six points, that of no other does"


@pytest.mark.parametrize("method", METHODS)
def test_a_search_in_pieces_is_the_simulated_one_though_the_master_dies_at_each(
    master: DyingMaster, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of thousands of trials, with pieces of one trial: none is lost, none doubled."""
    monkeypatch.setattr(operations, "AT_ONCE", 1)
    monkeypatch.setattr(search, "_EXITS_AT_ONCE", 1)
    monkeypatch.setattr(trial_state, "_IDLE_AT_ONCE", 1)
    monkeypatch.setattr(trial_state, "_LIVE_AT_ONCE", 1)
    space = {"space": GRID} if method == "grid" else {}
    for seed in range(2):
        master.death = Death.BEFORE if seed % 2 else Death.AFTER
        fleet = Fleet(master, METHODS[method], seed, REPORTS, trouble=0.1 * (seed % 3), **space)
        fleet.run()
        pure = simulated(fleet)
        assert [trial.request_id for trial in fleet.trials()] == list(pure.trials)
        assert fleet.lengths() == {request_id: trial.lengths for request_id, trial in pure.trials.items()}
        assert fleet.pieces > 0
