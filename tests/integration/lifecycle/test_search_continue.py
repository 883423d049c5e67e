"""Continuing a search: a fresh searcher of the same seed hears again what its trials have shown."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fleet import DyingMaster, Fleet, prepare_database
from sqlalchemy import event

from determined.errors import FailedPrecondition
from determined.master.db.queries import search as rows
from determined.master.db.queries import trial as trials
from determined.master.lifecycle import experiment, extension, searchers
from determined.master.lifecycle import trial as trial_lifecycle
from determined.master.lifecycle.states import State

REPORTS = (1, 3, 9)
LATE = {"metric": "loss", "time_metric": "epochs", "max_time": 9}
CLASSIC = {"metric": "loss", "max_length": {"epochs": 9}}
HALVING = {"max_trials": 9, "num_rungs": 3, "divisor": 3, "max_concurrent_trials": 3}
SEARCHES: dict[str, dict[str, Any]] = {
    "random late": {"name": "random", "metric": "loss", "max_trials": 6, "max_concurrent_trials": 2},
    "random classic": {"name": "random", "max_trials": 6, "max_concurrent_trials": 2, **CLASSIC},
    "grid classic": {"name": "grid", "max_concurrent_trials": 2, **CLASSIC},
    "stopping asha": {"name": "async_halving", **HALVING, **LATE},
    "promoting asha": {"name": "async_halving", **HALVING, **CLASSIC},
    "adaptive asha": {"name": "adaptive_asha", "max_trials": 9, "divisor": 3, "max_rungs": 2, **CLASSIC},
    "sync halving": {"name": "sync_halving", "num_rungs": 2, "divisor": 3, "budget": {"epochs": 40}, **CLASSIC},
}
GRID = {"x": {"type": "double", "minval": 0, "maxval": 1, "count": 3}, "n": {"type": "categorical", "vals": [1, 5]}}


@pytest.fixture
def master(tmp_path: Path) -> Iterator[DyingMaster]:
    master = DyingMaster(f"sqlite:///{tmp_path / 'master.db'}")
    prepare_database(master.engine)
    yield master
    master.close()


def make(master: DyingMaster, name: str, seed: int, trouble: float = 0.0) -> Fleet:
    space = {"space": GRID} if name.startswith("grid") else {}
    return Fleet(master, SEARCHES[name], seed, REPORTS, trouble=trouble, **space)


def interrupt(fleet: Fleet, after: int) -> None:
    """Kill the experiment after so many things have happened, and continue it."""
    fleet.run(until=after)
    fleet.master.write(lambda conn, now: experiment.kill(conn, now, fleet.experiment_id))
    for trial in fleet.trials():
        if trial.id in fleet.running:
            fleet.kill(trial)
    assert fleet.state() in (State.CANCELED, State.COMPLETED)
    fleet.master.write(lambda conn, now: experiment.continue_experiment(conn, now, fleet.experiment_id, None, None))


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("after", [1, 5, 9])
def test_search_killed_and_continued_ends_as_if_nothing_had_happened(
    master: DyingMaster, name: str, after: int
) -> None:
    straight = make(master, name, 3)
    assert straight.run() == State.COMPLETED
    broken = make(master, name, 3)
    interrupt(broken, after)
    assert broken.run() == State.COMPLETED
    assert [t.request_id for t in broken.trials()] == [t.request_id for t in straight.trials()]
    assert {t.state for t in broken.trials()} == {"COMPLETED"}
    left = master.read(lambda conn: [row for row in rows.history(conn, broken.experiment_id) if row.pending])
    assert left == [], "all that was known has been told again"


@pytest.mark.parametrize("name", ["promoting asha", "random classic", "sync halving"])
def test_no_operation_is_trained_twice(master: DyingMaster, name: str) -> None:
    fleet = make(master, name, 5)
    interrupt(fleet, 8)
    fleet.run()
    trained = Counter((act.request_id, act.value) for act in fleet.script if act.kind == "report")
    assert set(trained.values()) == {1}


def test_completed_trials_of_a_continued_search_keep_their_runs_and_their_end(master: DyingMaster) -> None:
    fleet = make(master, "promoting asha", 1)
    fleet.run(until=14)
    done = {t.id: (t.run_id, t.end_time) for t in fleet.trials() if t.state == "COMPLETED"}
    interrupt(fleet, 0)
    fleet.run()
    after = {t.id: (t.run_id, t.end_time) for t in fleet.trials()}
    assert done and {key: after[key] for key in done} == done


def test_failed_trials_are_resumed_under_their_ids_and_the_others_left_alone(master: DyingMaster) -> None:
    fleet = make(master, "random late", 2, trouble=0.4)
    fleet.run()
    failed = {t.id for t in fleet.trials() if t.state == "ERROR"}
    before = {t.id: t.run_id for t in fleet.trials()}
    assert failed and len(failed) < len(before)
    fleet.trouble = 0.0
    fleet.reached.clear()
    fleet.master.write(lambda conn, now: experiment.continue_experiment(conn, now, fleet.experiment_id, None, None))
    assert fleet.run() == State.COMPLETED
    after = {t.id: t for t in fleet.trials()}
    assert {t.state for t in after.values()} == {"COMPLETED"}
    assert {n for n in before if after[n].run_id > before[n]} == failed


def test_invalid_trials_are_replaced_only_once(master: DyingMaster) -> None:
    fleet = make(master, "random late", 11, trouble=0.3)
    fleet.run(until=20)
    fleet.trouble = 0.0
    interrupt(fleet, 0)
    fleet.run()
    invalid = [t for t in fleet.trials() if t.early_exit == "INVALID_HP"]
    assert invalid and len(fleet.trials()) == 6 + len(invalid)


def test_continued_twice_still_knows_all(master: DyingMaster) -> None:
    fleet = make(master, "stopping asha", 4)
    interrupt(fleet, 6)
    interrupt(fleet, 12)
    assert fleet.run() == State.COMPLETED
    told = master.read(lambda conn: rows.history(conn, fleet.experiment_id))
    exits = Counter(row.request_id for row in told if row.event["type"] == "exited")
    assert exits == Counter({t.request_id: 1 for t in fleet.trials()})
    assert len(master.read(lambda conn: trials.of_experiment(conn, fleet.experiment_id))) == 9


def statements_to_continue(fleet: Fleet) -> int:
    seen: list[str] = []
    engine = fleet.master.engine

    def note(_conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    fleet.master.write(lambda conn, now: experiment.continue_experiment(conn, now, fleet.experiment_id, None, None))
    event.remove(engine, "before_cursor_execute", note)
    return len(seen)


def test_what_a_continued_search_hears_in_silence_costs_no_statement(master: DyingMaster) -> None:
    needed = []
    for reports in (1, 400):
        fleet = make(master, "stopping asha", 4)
        fleet.master.write(lambda conn, now, fleet=fleet: experiment.kill(conn, now, fleet.experiment_id))
        first = fleet.trials()[0].request_id
        said = [searchers.validation(first, 1.0, n / 1000) for n in range(reports)]
        master.write(lambda conn, now, fleet=fleet, said=said: rows.append_history(conn, fleet.experiment_id, said))
        needed.append(statements_to_continue(fleet))
        told = master.read(lambda conn, fleet=fleet: rows.history(conn, fleet.experiment_id))
        assert [row.event for row in told] == said and not any(row.pending for row in told)
        assert fleet.run() == State.COMPLETED
    assert needed[1] == needed[0]


def test_search_that_had_only_its_exits_to_wait_for_is_completed_by_being_continued(master: DyingMaster) -> None:
    fleet = Fleet(master, {"name": "random", "max_trials": 1, **CLASSIC}, 6)
    fleet.run(until=1)
    assert [act.kind for act in fleet.script] == ["report"]
    fleet.master.write(lambda conn, now: trial_lifecycle.kill(conn, now, fleet.trials()[0].id))
    fleet.kill(fleet.trials()[0])
    assert fleet.state() == State.CANCELED
    fleet.master.write(lambda conn, now: experiment.continue_experiment(conn, now, fleet.experiment_id, None, None))
    assert fleet.state() == State.COMPLETED
    assert [t.run_id for t in fleet.trials()] == [1]


@pytest.mark.parametrize("name", ["stopping asha", "promoting asha"])
def test_history_is_told_on_either_database(db_url: str, name: str) -> None:
    master = DyingMaster(db_url)
    prepare_database(master.engine)
    fleet = make(master, name, 8)
    interrupt(fleet, 7)
    assert fleet.run() == State.COMPLETED
    assert len(fleet.trials()) == 9
    master.close()


@pytest.mark.parametrize("name", ["pbt", "custom"])
def test_search_that_cannot_be_rebuilt_is_refused(master: DyingMaster, name: str) -> None:
    pbt = {"population_size": 2, "num_rounds": 2, "length_per_round": {"epochs": 1}} if name == "pbt" else {}
    fleet = Fleet(master, {"name": name, "metric": "loss", **pbt}, 1)
    master.write(lambda conn, now: experiment.kill(conn, now, fleet.experiment_id))
    with pytest.raises(FailedPrecondition, match="fork"):
        master.write(lambda conn, now: experiment.continue_experiment(conn, now, fleet.experiment_id, None, None))


def extend(fleet: Fleet, trials: int) -> None:
    fleet.master.write(lambda conn, now: extension.extend(conn, now, fleet.experiment_id, trials))


@pytest.mark.parametrize("after", [4, 40])
def test_trials_of_an_extended_search_keep_their_brackets_when_it_is_continued(master: DyingMaster, after: int) -> None:
    adaptive = {"name": "adaptive_asha", "metric": "loss", "max_trials": 16, "max_length": {"batches": 1000}}
    straight = Fleet(master, adaptive, 3)
    broken = Fleet(master, adaptive, 3)
    for fleet in (straight, broken):
        fleet.run(until=3)
        extend(fleet, 48)
    interrupt(broken, after)
    assert straight.run() == broken.run() == State.COMPLETED
    assert [t.request_id for t in broken.trials()] == [t.request_id for t in straight.trials()]
    assert len(broken.trials()) == 64
    for lengths in broken.lengths().values():
        assert lengths == sorted(lengths) and set(lengths) <= {62, 250, 1000}


@pytest.mark.parametrize("name", ["random late", "stopping asha", "promoting asha"])
def test_search_extended_after_its_end_is_continued_past_that_end(master: DyingMaster, name: str) -> None:
    fleet = make(master, name, 5)
    assert fleet.run() == State.COMPLETED
    before = fleet.trials()
    extend(fleet, 3)
    extend(fleet, 1)
    interrupt(fleet, len(fleet.script) + 1)
    interrupt(fleet, len(fleet.script) + 2)
    assert fleet.run() == State.COMPLETED
    after = fleet.trials()
    assert len(after) == len(before) + 4
    assert [t.request_id for t in after[: len(before)]] == [t.request_id for t in before]
    left = master.read(lambda conn: [row for row in rows.history(conn, fleet.experiment_id) if row.pending])
    assert not left
