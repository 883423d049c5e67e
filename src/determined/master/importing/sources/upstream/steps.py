"""Steps of an import in their order: each reads a few hundred things, maps them and stores them as a unit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from determined.master.db.queries import checkpoint as checkpoint_rows
from determined.master.db.queries import imported
from determined.master.importing.journal import Batch, Journal, Unit
from determined.master.importing.notes import Tally
from determined.master.importing.sources.upstream.mapping.checkpoint import map_checkpoint
from determined.master.importing.sources.upstream.mapping.experiment import map_experiment
from determined.master.importing.sources.upstream.mapping.mapped import Mapped, MappingContext
from determined.master.importing.sources.upstream.mapping.project import keys_of, map_project
from determined.master.importing.sources.upstream.mapping.trial import map_trial
from determined.master.importing.sources.upstream.mapping.user import map_setting, map_user
from determined.master.importing.sources.upstream.mapping.workspace import map_workspace
from determined.master.importing.sources.upstream.plan import EXPERIMENTS, PROJECTS, USERS, WORKSPACES, Plan
from determined.master.importing.sources.upstream.reading import checkpoints, experiments, trials, users, workspaces
from determined.master.importing.sources.upstream.source import Source

CODE, TRIALS, RANGES, CHECKPOINTS = "code of experiments", "trials", "ranges of metrics", "trials with checkpoints"
_PEOPLE, _EXPERIMENTS, _TRIALS, _RANGES, _CHECKPOINTS = 10_000, 100, 500, 500, 100  # things in a unit
_CODE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Steps:
    source: Source
    plan: Plan
    journal: Journal
    context: MappingContext

    def people(self) -> None:
        self.journal.store_ids(USERS, self.plan.users, self._users, size=_PEOPLE, keep_ids=True)

    def places(self) -> None:
        """Store workspaces, then projects."""
        self.journal.store_ids(WORKSPACES, self.plan.workspaces, self._workspaces, size=_PEOPLE, keep_ids=True)
        self.journal.store_ids(PROJECTS, self.plan.projects, self._projects, size=_PEOPLE, keep_ids=True)

    def experiments(self) -> None:
        self.journal.store_ids(EXPERIMENTS, self.plan.experiments, self._experiments, size=_EXPERIMENTS, keep_ids=True)

    def code(self) -> None:
        """Store the code of experiments, a few megabytes at a time."""
        done = self.journal.upto(CODE)
        part: list[int] = []
        collected = 0
        for experiment_id, size in experiments.code_sizes(self.source, self.plan.experiments):
            if done and experiment_id <= done[0]:
                continue
            if part and collected + size > _CODE_BYTES:
                self._store_code(part)
                part, collected = [], 0
            part.append(experiment_id)
            collected += size
        if part:
            self._store_code(part)

    def trials(self) -> None:
        self.journal.store_ids(TRIALS, self.plan.trials, self._trials, size=_TRIALS)

    def checkpoints(self, trial_ids: Sequence[int], storages: Mapping[int, int]) -> None:
        """Store the checkpoints of trials. `storages`: our id of each of upstream's storages."""
        done = self.journal.upto(CHECKPOINTS)
        left = [id_ for id_ in trial_ids if not done or id_ > done[0]]
        for start in range(0, len(left), _CHECKPOINTS):
            part = left[start : start + _CHECKPOINTS]
            batch = batch_of(
                [map_checkpoint(row, storages, self.context) for row in checkpoints.read(self.source, part)]
            )
            unit = Unit(CHECKPOINTS, len(part), batch.checksum(), [part[-1]], batch.tally)
            self.journal.store(unit, partial(_write_checkpoints, batch, part))

    def ranges(self) -> None:
        """Compute the ranges of metrics that project tables show."""
        done = self.journal.upto(RANGES)
        left = [id_ for id_ in self.plan.experiments if not done or id_ > done[0]]
        for start in range(0, len(left), _RANGES):
            part = left[start : start + _RANGES]
            unit = Unit(RANGES, len(part), "", [part[-1]], Tally())
            self.journal.store(unit, partial(_write_ranges, part))

    def _users(self, ids: Sequence[int]) -> Batch:
        rows = [map_user(row) for row in users.read(self.source, ids)]
        return batch_of([*rows, *(map_setting(row) for row in users.settings(self.source, ids))])

    def _workspaces(self, ids: Sequence[int]) -> Batch:
        batch = batch_of([map_workspace(row) for row in workspaces.workspaces(self.source, ids)])
        for user_id, workspace_id in workspaces.pins(self.source, ids):
            pin = {"user_id": user_id, "workspace_id": workspace_id, "pinned_at": self.context.now}
            batch.add([("workspace_pins", pin)])
        for workspace_id, pool in workspaces.bindings(self.source, ids):
            batch.add([("pool_bindings", {"pool": pool, "workspace_id": workspace_id})])
        return batch

    def _projects(self, ids: Sequence[int]) -> Batch:
        rows = workspaces.projects(self.source, ids)
        keys = keys_of(rows, self.context.project_keys)
        batch = batch_of([map_project(row, keys[row.id]) for row in rows])
        for user_id, project_id, time in workspaces.views(self.source, ids):
            view = {"user_id": user_id, "project_id": project_id, "viewed_at": time}
            batch.add([("project_views", view)])
        return batch

    def _experiments(self, ids: Sequence[int]) -> Batch:
        return batch_of([map_experiment(row, self.context) for row in experiments.read(self.source, ids)])

    def _store_code(self, ids: Sequence[int]) -> None:
        batch = Batch()
        for experiment_id, packed in experiments.code(self.source, ids):
            batch.add([("model_definitions", {"experiment_id": experiment_id, "tgz": packed})])
        self.journal.store(Unit(CODE, len(ids), batch.checksum(), [ids[-1]], batch.tally), batch.write)

    def _trials(self, ids: Sequence[int]) -> Batch:
        tasks = trials.tasks(self.source, ids)
        return batch_of([map_trial(row, tasks.get(row.id, []), self.context) for row in trials.read(self.source, ids)])


def _write_ranges(experiment_ids: Sequence[int], conn: Connection) -> None:
    imported.make_ranges(conn, experiment_ids)


def _write_checkpoints(batch: Batch, trial_ids: Sequence[int], conn: Connection) -> None:
    batch.write(conn)
    checkpoint_rows.refresh_trials(conn, trial_ids)


def batch_of(mapped: Sequence[Mapped]) -> Batch:
    batch = Batch()
    for one in mapped:
        batch.add(one.rows)
        batch.tally.add(one.notes)
    return batch
