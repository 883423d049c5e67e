"""Trials that cost nothing, run through the master's own transactions; a master that can die at every one of them.

Whose turn it is comes from a seed. What happened is a script, which the pure simulation can play as well.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, insert

from determined.config import Prepared, generation, prepare
from determined.master.db import dialects, schema
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import search_queue
from determined.master.db.queries import trial as trials
from determined.master.db.queries.trial import WaitingTrial
from determined.master.db.rows.experiments import Trial
from determined.master.lifecycle import (
    allocation_state,
    experiment,
    proposals,
    search,
    search_batches,
    searchers,
    trial_state,
)
from determined.master.lifecycle.states import TERMINAL, AllocationState, ExitKind, State
from determined.search.method import ExitReason
from determined.search.searcher import Searcher
from determined.search.simulate import Simulator

T = TypeVar("T")
SLOTS = 3
SPACE = {
    "x": {"type": "double", "minval": 0, "maxval": 1},
    "n": {"type": "int", "minval": 0, "maxval": 9},
}


@dataclass(frozen=True, slots=True)
class Act:
    """One thing a trial did: `report` (with its length), `leave` (with its reason), `exit`, `propose`."""

    kind: str
    request_id: str
    value: Any = None


class Death(StrEnum):
    NEVER = "never"
    BEFORE = "before"  # each commit: whoever wanted the change wants it still
    AFTER = "after"  # each commit: what was not answered is sent again


@dataclass
class DyingMaster:
    """Transactions one after the other, with a death of the master at each. One drops all that a process knows."""

    url: str
    death: Death = Death.NEVER
    deaths: int = 0
    now: datetime = datetime(2026, 11, 15, tzinfo=UTC)

    def __post_init__(self) -> None:
        self.engine: Engine = dialects.create_engine(self.url)

    def write(self, run: Callable[[Connection, datetime], T], *, sent: bool = False) -> T:
        """`sent`: the change was asked for by a request, which is repeated when its answer gets lost."""
        if self.death == Death.BEFORE:
            self._transact(run, commit=False)
            self._die()
        result = self._transact(run, commit=True)
        if self.death == Death.AFTER:
            self._die()
            if sent:
                self._transact(run, commit=True)
        return result

    def read(self, run: Callable[[Connection], T]) -> T:
        with self.engine.connect() as conn:
            return run(conn)

    def close(self) -> None:
        self.engine.dispose()

    def _transact(self, run: Callable[[Connection, datetime], T], *, commit: bool) -> T:
        self.now += timedelta(seconds=1)
        with self.engine.connect() as conn:
            dialects.begin_write(conn)
            result = run(conn, self.now)
            if commit:
                conn.commit()
            else:
                conn.rollback()
            return result

    def _die(self) -> None:
        self.deaths += 1
        searchers._cache._held.clear()
        self.engine.dispose()


def prepare_database(engine: Engine) -> None:
    schema.metadata.create_all(engine)
    with engine.begin() as conn:
        now = datetime(2026, 11, 15, tzinfo=UTC)
        conn.execute(insert(schema.users).values(username="u", created_at=now, modified_at=now))
        conn.execute(insert(schema.workspaces).values(name="w", user_id=1, created_at=now))
        conn.execute(insert(schema.projects).values(workspace_id=1, user_id=1, name="p", notes=[], created_at=now))


def metric(hparams: dict[str, Any], length: float) -> float:
    return float(hparams.get("x", 0.5)) / (1 + length) + float(hparams.get("n", 0)) / 100


@dataclass
class Fleet:
    """One experiment. `reports`: where late trials validate. `trouble`: how often a trial leaves and does not train."""

    master: DyingMaster
    searcher: dict[str, Any]
    seed: int
    reports: tuple[int, ...] = ()
    trouble: float = 0.0
    space: dict[str, Any] = field(default_factory=lambda: SPACE)
    script: list[Act] = field(default_factory=list)
    pieces: int = 0  # done outside of the transaction that caused them

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.prepared = _prepare(self.searcher, self.space, self.seed)
        self.classic = generation(self.prepared.active) == "classic"
        self.experiment_id = self.master.write(self._submit)
        self.running: dict[int, str] = {}  # trial -> allocation
        self.reached: dict[str, int] = {}  # late: how many times a trial has reported
        self.over: set[str] = set()

    def run(self, until: int | None = None) -> State:
        """To the end, or until so many things have happened; returns the experiment's state."""
        while True:
            state, wanting = self._look()
            if state in TERMINAL or (until is not None and len(self.script) >= until):
                return state
            for row in wanting:
                self.running[row.id] = self.master.write(lambda conn, now, row=row: _start(conn, now, row))
            assert self.running, f"the search stands still: {self.trials()}"
            self._turn(self.rng.choice(sorted(self.running)))

    def _look(self) -> tuple[State, list[WaitingTrial]]:
        """The experiment's state and which trials start now; notes who is over and proposes points on the way."""
        self.finish_pieces()
        self._propose()

        def read(conn: Connection) -> tuple[State, list[WaitingTrial], list[Trial]]:
            state = State(experiments.get(conn, self.experiment_id).state)
            wanting = [t for t in trials.wanting_allocation(conn, 1000) if t.experiment_id == self.experiment_id]
            return state, wanting, trials.of_experiment(conn, self.experiment_id)

        state, wanting, known = self.master.read(read)
        self._note_exits(known)
        return state, wanting[: SLOTS - len(self.running)]

    def state(self) -> State:
        return State(self.master.read(lambda conn: experiments.get(conn, self.experiment_id)).state)

    def trials(self) -> list[Trial]:
        return self.master.read(lambda conn: trials.of_experiment(conn, self.experiment_id))

    def lengths(self) -> dict[str, list[int]]:
        """Return where each trial reported, of trials in the order of their creation."""
        found: dict[str, list[int]] = {trial.request_id: [] for trial in self.trials()}
        for act in self.script:
            if act.kind == "report":
                found[act.request_id].append(act.value)
        return found

    def _submit(self, conn: Connection, now: datetime) -> int:
        new = experiment.NewExperiment(
            owner_id=1,
            project_id=1,
            workspace_id=1,
            parent_id=None,
            config=self.prepared.config,
            active=self.prepared.active,
            original_config="",
            model_definition=None,
            template=None,
            generation="classic" if self.classic else "late",
            unmanaged=False,
            submitter_python=None,
            warm_start_checkpoint=None,
        )
        experiment_id = experiment.create(conn, now, new)
        experiment.activate(conn, now, experiment_id)
        return experiment_id

    def finish_pieces(self) -> None:
        """Each piece of what is left of a large search in a transaction of its own, as the master's loop does it."""
        while self.master.read(lambda conn: search_queue.is_waiting(conn, self.experiment_id)):
            self.pieces += 1
            self.master.write(lambda conn, now: search_batches.go_on(conn, now, self.experiment_id))

    def _propose(self) -> None:
        """Answer all who wait for a point, found as the proposer finds them."""
        while self.experiment_id in self.master.read(proposals.waiting):
            question = self.master.read(lambda conn: proposals.question(conn, self.experiment_id, None))
            assert question is not None, "nobody waits in a search that is said to wait"
            point = question.think()
            self.script.append(Act("propose", question.request_id))
            self.master.write(
                lambda conn, now, id=question.request_id, point=point: proposals.answer(
                    conn, now, self.experiment_id, id, point
                ),
                sent=True,
            )

    def _note_exits(self, known: list[Trial]) -> None:
        """Also of trials that were closed while they waited: they need nobody to be over."""
        for trial in known:
            if trial.state in TERMINAL and trial.request_id not in self.over:
                self.over.add(trial.request_id)
                self.script.append(Act("exit", trial.request_id))

    def _turn(self, trial_id: int) -> None:
        trial = self.master.read(lambda conn: trials.get(conn, trial_id))
        if trial.state == State.ACTIVE and self.rng.random() < self.trouble:
            self._leave(trial)
        elif trial.state != State.ACTIVE or not self._train(trial):
            told = trial.state != State.ACTIVE or self.classic
            self._exit(trial, ExitKind.PREEMPTED if told else ExitKind.COMPLETED)

    def _train(self, trial: Trial) -> bool:
        """Report once; False when there is nothing to train."""
        if self.classic:
            length = trial.op_length
            if length == trial.op_completed:
                return False
            value = metric(trial.hparams, length)
            self.script.append(Act("report", trial.request_id, length))
            self.master.write(
                lambda conn, now: search.complete_operation(conn, now, trial.id, length, value), sent=True
            )
            return True
        number = self.reached.get(trial.request_id, 0)
        if number == len(self.reports):
            return False
        self.reached[trial.request_id] = number + 1
        length = self.reports[number]
        values = {"loss": metric(trial.hparams, length), "epochs": length}
        self.script.append(Act("report", trial.request_id, length))
        self.master.write(lambda conn, now: search.validation_reported(conn, now, trial.id, values, length))
        return True

    def _leave(self, trial: Trial) -> None:
        """It fails, or finds its hyperparameters invalid."""
        if self.rng.random() < 0.5:
            self.script.append(Act("leave", trial.request_id, ExitReason.ERRORED))
            self._exit(trial, ExitKind.ERRORED)
            return
        self.script.append(Act("leave", trial.request_id, ExitReason.INVALID_HP))
        self.master.write(lambda conn, now: search.early_exit_reported(conn, now, trial.id, "INVALID_HP"), sent=True)
        self._exit(trial, ExitKind.COMPLETED)

    def kill(self, trial: Trial) -> None:
        """The runner of a trial that was killed has left."""
        self._exit(trial, ExitKind.KILLED)

    def _exit(self, trial: Trial, kind: ExitKind) -> None:
        allocation_id = self.running.pop(trial.id)

        def end(conn: Connection, now: datetime) -> None:
            allocation_state.end(conn, now, allocations.get(conn, allocation_id), kind=kind, reason="")
            trial_state.allocation_ended(conn, now, trial.id, kind)
            search.settle(conn, now, self.experiment_id)

        self.master.write(end)


def simulated(fleet: Fleet) -> Simulator:
    """The same search in the pure simulation, its trials doing what the fleet's script says."""
    active = fleet.prepared.active
    pure = Searcher.create(active["searcher"], active["hyperparameters"], seed=fleet.seed, classic=fleet.classic)
    simulator = Simulator(pure, metric, reports=None if fleet.classic else fleet.reports)
    simulator.start()
    for act in fleet.script:
        _play(simulator, act)
    return simulator


def _play(simulator: Simulator, act: Act) -> None:
    match act.kind:
        case "propose":
            simulator.propose(act.request_id)
        case "report":
            simulator.report(simulator.trials[act.request_id], act.value)
        case "leave":
            simulator.leave(simulator.trials[act.request_id], act.value)
        case "exit":
            simulator.exit(simulator.trials[act.request_id])


def _start(conn: Connection, now: datetime, row: WaitingTrial) -> str:
    allocation_id = trial_state.allocate(conn, now, row)
    assert allocation_id is not None
    allocations.update_row(conn, allocation_id, {"state": AllocationState.RUNNING, "ready_at": now})
    return allocation_id


def _prepare(searcher: dict[str, Any], space: dict[str, Any], seed: int) -> Prepared:
    config = {"entrypoint": "x", "searcher": searcher, "hyperparameters": space, "max_restarts": 0}
    return prepare(
        {**config, "reproducibility": {"experiment_seed": seed}},
        template=None,
        pool_tcd=None,
        cluster_tcd=None,
        workspace_storage=None,
        master_storage={"type": "shared_fs", "host_path": "/tmp"},
        default_priority=42,
        invariants=[],
        seed=seed,
        name="fleet",
        managed=True,
    )
