"""An import of a bundle from its first look to its report: hashes, survey, clashes, steps, verification, end."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.bundle.reader import Bundle
from determined.master.db.queries import cluster, import_unit, imported
from determined.master.db.rows.imports import Import
from determined.master.importing import import_record, kept_ids
from determined.master.importing.notes import Tally
from determined.master.importing.progress import Progress
from determined.master.importing.registry import Finished, Request
from determined.master.importing.report import Report
from determined.master.importing.sources.bundle import clashes, metric_units, rules
from determined.master.importing.sources.bundle.mapping import MappingContext
from determined.master.importing.sources.bundle.places import PlaceSteps
from determined.master.importing.sources.bundle.plan import CHECK, EXPERIMENTS, Plan, make_plan
from determined.master.importing.sources.bundle.steps import Steps
from determined.master.importing.sources.bundle.verify import Verification
from determined.master.importing.unfinished import require_same

KIND = "bundle"
_FILES = "imported-checkpoints"  # in the data directory


@dataclass(frozen=True, slots=True)
class BundleImport:
    request: Request
    bundle: Bundle

    def run(self) -> Finished:
        """Import what is new, or with `dry_run` only say what would be done.

        Raises:
            FailedPrecondition: another import is unfinished, or ids clash.
            InvalidArgument: the bundle is not as it was exported.
        """
        target, bundle, emit = self.request.target, self.bundle, self.request.emit
        begun = target.read(self._begun)
        checked = Progress(emit, {CHECK: bundle.size}, {})
        bundle.check(partial(checked.stored, CHECK))
        plan = make_plan(bundle, target.read(partial(self._present, begun)), logs=self._logs)
        emit(self._survey(plan))
        if begun is None:
            target.read(partial(clashes.require_none, bundle=bundle, plan=plan))
        if self.request.dry_run:
            return self._finished(plan, {}, plan.tally, [])
        begun = begun or target.write(self._begin)
        self._store(begun, plan)
        problems = Verification(bundle, target, plan, self._logs, self._files).problems()
        emit({"event": "verified", "problems": problems})
        if not problems:
            target.write(partial(kept_ids.finish, begun.id))
        return self._finished(plan, *self._taken(begun, plan), problems)

    def _survey(self, plan: Plan) -> JsonObject:
        return {
            "event": "survey",
            "source": str(self.bundle.path),
            "cluster_id": self.bundle.manifest.cluster_id,
            "schema": str(self.bundle.manifest.version),
            "dry_run": self.request.dry_run,
            "bytes": self.bundle.unpacked,
            **plan.to_json(),
            "notes": plan.tally.to_json(),
        }

    @property
    def _logs(self) -> bool:
        return not self.request.options.no_logs

    @property
    def _files(self) -> Path:
        given = self.request.options.checkpoints
        return Path(given).absolute() if given else (self.request.target.report_directory.parent / _FILES).absolute()

    @property
    def _options(self) -> JsonObject:
        """Options as a later run compares them: one that goes on must be asked for the same, with the same file."""
        return {"bundle": self.bundle.identity, "logs": self._logs, "checkpoints": str(self._files)}

    def _begun(self, conn: Connection) -> Import | None:
        running = import_unit.running(conn)
        if running is not None:
            require_same(running, KIND, self.bundle.manifest.cluster_id, self._options)
        return running

    def _present(self, begun: Import | None, conn: Connection) -> set[int]:
        """Return what is here of the bundle's cluster: of finished imports, or as this is that cluster itself."""
        source = self.bundle.manifest.cluster_id
        if cluster.get(conn, "cluster_id") == source:
            ids = set(self.bundle.manifest.experiments)
        else:
            ids = import_unit.stored_ids(conn, source, EXPERIMENTS)
        units = import_unit.units(conn, begun.id) if begun else []
        own = {id_ for unit in units if unit.step == EXPERIMENTS for id_ in unit.ids or ()}
        return imported.existing_ids(conn, EXPERIMENTS, sorted(ids - own))

    def _begin(self, conn: Connection) -> Import:
        source = self.bundle.manifest.cluster_id
        return import_record.begin(conn, KIND, source, str(self.bundle.path), self._options)

    def _store(self, begun: Import, plan: Plan) -> None:
        journal = import_record.journal_of(self.request.target, begun, plan.totals(), self.request.emit)
        context = MappingContext(begun.started_at, self.request.config.resource_manager.default_compute_resource_pool)
        PlaceSteps(self.request.target, plan, journal, context).store()
        steps = Steps(self.bundle, plan, journal, context, self._files)
        steps.experiments()
        steps.code()
        steps.trials()
        metric_units.store(self.bundle, plan, journal)
        steps.ranges()
        steps.checkpoints()
        if self._logs:
            steps.logs()

    def _taken(self, begun: Import, plan: Plan) -> tuple[dict[str, int], Tally]:
        """Return the rows that were taken by step, and all notes."""
        tally = Tally()
        tally.merge(plan.tally.to_json())
        return import_record.taken(self.request.target, begun, tally), tally

    def _finished(self, plan: Plan, taken: dict[str, int], tally: Tally, problems: list[str]) -> Finished:
        report = Report(str(self.bundle.path), self.bundle.manifest.cluster_id, plan, taken, tally, problems)
        return Finished(report, rules.RULES, [])
