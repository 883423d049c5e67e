"""Writer of what readers of other trackers yield: survey, units, verification, report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.master.db.log_chunk import Origin
from determined.master.db.queries import (
    import_unit,
    imported,
    imported_metrics,
    log,
    metric_trial,
    project,
    user,
    workspace,
)
from determined.master.db.queries.imported import TrackedHere
from determined.master.db.rows.imports import Import
from determined.master.db.rows.workspaces import ProjectValues
from determined.master.importing import import_record, tracked_verify
from determined.master.importing.clean import clean_name, clean_text
from determined.master.importing.journal import Journal, Unit
from determined.master.importing.notes import Rule, Tally
from determined.master.importing.packed_metrics import Packed
from determined.master.importing.registry import Finished, Request
from determined.master.importing.report import Report
from determined.master.importing.tracked import TrackedExperiment, TrackedSource, TrackedTrial
from determined.master.importing.tracked_metrics import MetricChoice
from determined.master.importing.tracked_plan import EXPERIMENTS, PROJECTS, RULES, TRIALS, WORKSPACES, look, new_of
from determined.master.importing.tracked_rows import (
    Place,
    experiment_rows,
    external_id,
    task_row,
    trial_row,
)
from determined.master.importing.tracked_series import STEPS, series_of
from determined.master.importing.unfinished import require_same
from determined.master.services import naming
from determined.master.services.imported_id import prefix
from determined.wire.report import LogLine

_AT_ONCE = 20  # trials in a unit
_LINES = 1000  # of a log in a chunk
_RUN = 0
_OWNER = "determined"


def run(request: Request, source: TrackedSource, choice: MetricChoice | None = None) -> Finished:
    """Import what a store of another tracker has, or with `dry_run` only say what would be done.

    `choice` is the one that the source was given.

    Raises:
        FailedPrecondition: another import is unfinished.
        InvalidArgument: the store cannot be read, or the owner does not exist.
    """
    return _TrackedImport(request, source, choice).run()


@dataclass(slots=True)
class _TrackedImport:
    request: Request
    source: TrackedSource
    choice: MetricChoice | None = None
    _projects: dict[str, int] = field(default_factory=dict)
    _read: tracked_verify.RunsRead = field(default_factory=dict)

    def run(self) -> Finished:
        """Import everything that is new."""
        target, source = self.request.target, self.source
        begun = target.read(self._begun)
        owner = target.read(self._owner)
        stored_experiments = target.read(partial(self._stored_before, begun))
        survey = look(source, stored_experiments, self.choice)
        self.request.emit(
            {
                "event": "survey",
                "source": source.address,
                "dry_run": self.request.dry_run,
                **survey.to_json(),
                "notes": survey.tally.to_json(),
            }
        )
        if self.request.dry_run:
            return Finished(Report(source.address, None, survey, {}, survey.tally, []), self._rules, [])
        begun = begun or target.write(self._begin)
        journal = import_record.journal_of(target, begun, survey.totals(), self.request.emit)
        self._store(journal, begun, owner, stored_experiments)
        problems = tracked_verify.problems(source, target, stored_experiments, self._read, begun.started_at)
        self.request.emit({"event": "verified", "problems": problems})
        if not problems:
            target.write(partial(_end, begun.id))
        taken = import_record.taken(target, begun, survey.tally)
        return Finished(Report(source.address, None, survey, taken, survey.tally, problems), self._rules, [])

    @property
    def _rules(self) -> dict[str, Rule]:
        return {**self.source.rules, STEPS.name: STEPS, **RULES}

    @property
    def _options(self) -> JsonObject:
        """Options as a later run compares them: one that goes on must be asked for the same."""
        given = vars(self.request.options)
        kept = {name: given.get(name) for name in ("validation", "metric", "maximize")}
        return {"workspace": given["workspace"], "user": given["user"], **kept}

    def _begun(self, conn: Connection) -> Import | None:
        running = import_unit.running(conn)
        if running is not None:
            require_same(running, self.source.kind, self.source.identity, self._options)
        return running

    def _owner(self, conn: Connection) -> int:
        name = self.request.options.user or _OWNER
        owner = user.by_name(conn, name)
        if owner is None:
            raise InvalidArgument(
                f"--user {name!r} does not exist; name the owner of what comes in, see: det user list"
            )
        return owner.id

    def _stored_before(self, begun: Import | None, conn: Connection) -> dict[str, TrackedHere]:
        """Return what finished imports have stored; what the unfinished one has stored is still in its plan."""
        stored = imported.tracked(conn, prefix(self.source.identity))
        units = import_unit.units(conn, begun.id) if begun else []
        own = {step: {id_ for u in units if u.step == step for id_ in u.ids or ()} for step in (EXPERIMENTS, TRIALS)}
        for one in stored.values():
            one.trials = {name: id_ for name, id_ in one.trials.items() if id_ not in own[TRIALS]}
        return {name: one for name, one in stored.items() if one.id not in own[EXPERIMENTS]}

    def _begin(self, conn: Connection) -> Import:
        return import_record.begin(conn, self.source.kind, self.source.identity, self.source.address, self._options)

    def _store(
        self, journal: Journal, begun: Import, owner: int, stored_experiments: Mapping[str, TrackedHere]
    ) -> None:
        all_stored = self.request.target.read(lambda conn: imported.tracked(conn, prefix(self.source.identity)))
        workspace_id = self._workspace(journal, owner)
        pool = self.request.config.resource_manager.default_compute_resource_pool
        for new in new_of(self.source, stored_experiments):
            project_id = self._project(journal, owner, workspace_id, new.experiment.project)
            place = Place(self.source.identity, begun.started_at, owner, workspace_id, project_id, pool)
            stored = all_stored.get(external_id(self.source.identity, new.experiment.external_id))
            if stored is None:
                stored = _store_experiment(journal, new.experiment, place)
            self._read.update({(new.experiment.external_id, run.external_id): run.is_live for run in new.trials})
            left = [trial for trial in new.trials if clean_text(trial.external_id) not in stored.trials]
            for start in range(0, len(left), _AT_ONCE):
                _store_trials(journal, left[start : start + _AT_ONCE], stored, place)

    def _workspace(self, journal: Journal, owner: int) -> int:
        name = naming.checked_name(self.request.options.workspace or self.source.title, "workspace")
        workspace_id = self.request.target.read(lambda conn: workspace.by_name(conn, name))
        if workspace_id is not None:
            return workspace_id

        def write(conn: Connection) -> list[int]:
            return [workspace.create(conn, datetime.now(UTC), {"name": name, "user_id": owner})]

        (made,) = journal.store(Unit(WORKSPACES, 1), write)
        return made

    def _project(self, journal: Journal, owner: int, workspace_id: int, text: str) -> int:
        name = _project_name(text)
        if name not in self._projects:
            project_id = self.request.target.read(lambda conn: project.by_name(conn, workspace_id, name))
            self._projects[name] = project_id or _store_project(journal, owner, workspace_id, name)
        return self._projects[name]


def _store_project(journal: Journal, owner: int, workspace_id: int, name: str) -> int:
    def write(conn: Connection) -> list[int]:
        values: ProjectValues = {
            "workspace_id": workspace_id,
            "user_id": owner,
            "name": name,
            "key": naming.new_key(name, project.keys(conn)),
            "description": "",
            "notes": [],
        }
        return [project.create(conn, datetime.now(UTC), values)]

    (made,) = journal.store(Unit(PROJECTS, 1), write)
    return made


def _store_experiment(journal: Journal, tracked: TrackedExperiment, place: Place) -> TrackedHere:
    job, experiment = experiment_rows(tracked, place)

    def write(conn: Connection) -> list[int]:
        imported.insert_rows(conn, "jobs", [job])
        return [imported.insert_numbered(conn, "experiments", experiment)]

    (made,) = journal.store(Unit(EXPERIMENTS, 1), write)
    return TrackedHere(made, job["id"])


def _store_trials(journal: Journal, trials: Sequence[TrackedTrial], stored: TrackedHere, place: Place) -> None:
    """Store some trials of an experiment with their metrics and logs, and the ranges of the experiment, as a unit."""

    tally = Tally()

    def write(conn: Connection) -> list[int]:
        made = [_store_trial(conn, trial, stored, place, tally) for trial in trials]
        imported.make_ranges(conn, [stored.id])
        return made

    journal.store(Unit(TRIALS, len(trials), tally=tally), write)


def _store_trial(conn: Connection, trial: TrackedTrial, stored: TrackedHere, place: Place, tally: Tally) -> int:
    row = trial_row(trial, stored.id, place)
    trial_id = imported.insert_numbered(conn, "trials", row)
    imported.insert_rows(conn, "tasks", [task_row(row, trial_id, stored.job_id)])
    packed = Packed()
    for group, rows in series_of(trial, place.now, tally).items():
        packed.add_series(trial_id, _RUN, group, rows)
    imported_metrics.add(conn, packed.chunks, packed.spans, packed.summaries)
    if packed.spans:
        metric_trial.set_steps(conn, trial_id, max(last for _, last in packed.spans.values()))
        metric_trial.recompute_validations(conn, metric_trial.reporter(conn, trial_id))
    _store_log(conn, row["task_id"], trial, place.now)
    return trial_id


def _store_log(conn: Connection, task_id: str, trial: TrackedTrial, now: datetime) -> None:
    origin, lines = Origin(), []
    default = (trial.started_at or now).timestamp()
    for line in trial.logs():
        time = line.time.timestamp() if line.time else default
        lines.append((origin, LogLine(clean_text(line.text), time, origin.stdtype, None, None, origin.source)))
        if len(lines) == _LINES:
            log.append_mixed(conn, task_id, lines)
            lines = []
    log.append_mixed(conn, task_id, lines)


def _project_name(text: str) -> str:
    """Return a name that a project may have: without control characters, not too long, not empty."""
    return clean_name(text)[: naming.LONGEST].strip() or "imported"


def _end(import_id: int, conn: Connection) -> None:
    import_unit.finish(conn, datetime.now(UTC), import_id)
