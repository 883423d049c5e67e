"""An import from its first look to its report: survey, clashes, steps, verification, end."""

from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from determined.errors import FailedPrecondition
from determined.master.config import MasterConfig
from determined.master.db.queries import import_unit, imported, storage_backend
from determined.master.db.rows.imports import Import
from determined.master.importing import import_record, kept_ids
from determined.master.importing.journal import Journal
from determined.master.importing.notes import Tally
from determined.master.importing.options import ImportOptions
from determined.master.importing.progress import Emit
from determined.master.importing.report import Report
from determined.master.importing.sources.upstream import (
    clashes,
    log_units,
    metric_units,
    registry_plan,
    system_metric_units,
)
from determined.master.importing.sources.upstream.mapping.checkpoint import map_storage
from determined.master.importing.sources.upstream.mapping.mapped import MappingContext
from determined.master.importing.sources.upstream.mapping.metric import series_of
from determined.master.importing.sources.upstream.plan import EXPERIMENTS, PROJECTS, USERS, WORKSPACES, Plan, make_plan
from determined.master.importing.sources.upstream.reading import (
    checkpoints,
    logs,
    metrics,
    system_metrics,
    users,
    workspaces,
)
from determined.master.importing.sources.upstream.registry_plan import (
    MODELS,
    TEMPLATES,
    VERSIONS,
    WEBHOOKS,
    RegistryPlan,
)
from determined.master.importing.sources.upstream.registry_steps import RegistrySteps
from determined.master.importing.sources.upstream.source import Source
from determined.master.importing.sources.upstream.steps import Steps
from determined.master.importing.sources.upstream.survey import Survey, look
from determined.master.importing.sources.upstream.verify import Verification
from determined.master.importing.target import Target
from determined.master.importing.unfinished import require_same

KIND = "upstream"
_KEPT = (USERS, WORKSPACES, PROJECTS, EXPERIMENTS, MODELS, VERSIONS, TEMPLATES, WEBHOOKS)


@dataclass(frozen=True, slots=True)
class UpstreamImport:
    """`emit` is told what is found and done, as JSON."""

    source: Source
    target: Target
    options: ImportOptions
    config: MasterConfig
    emit: Emit

    def run(self, *, dry_run: bool) -> Report:
        """Import, or with `dry_run` only say what would be done.

        Raises:
            FailedPrecondition: another import is unfinished, another source was imported, or ids clash.
        """
        begun = self.target.read(self._begun)
        stored, own = self._stored(begun)
        plan = make_plan(self.source, self.options, stored)
        registry = self._registry(plan, stored, own)
        survey = look(self.source, self.options, plan, registry)
        self.emit(survey.to_event(self.source, dry_run=dry_run))
        if begun is None:
            self.target.read(partial(self._require_no_clash, plan))
        if dry_run:
            return Report(self.source.address, self.source.cluster_id, survey, {}, survey.tally, [])
        begun = begun or self._begin()
        journal = import_record.journal_of(self.target, begun, survey.totals(), self.emit)
        self._store(begun, plan, registry, survey, journal)
        taken, tally = self._taken(begun, survey)
        left_out = series_of(tally)
        problems = Verification(self.source, self.target, plan, registry, survey, taken, left_out).problems()
        self.emit({"event": "verified", "problems": problems})
        if not problems:
            self.target.write(partial(kept_ids.finish, begun.id))
        return Report(self.source.address, self.source.cluster_id, survey, taken, tally, problems)

    def _begun(self, conn: Connection) -> Import | None:
        """Return the unfinished import that this one goes on with."""
        for other in import_unit.list_all(conn):
            if other.kind == KIND and other.source_id != self.source.cluster_id:
                raise FailedPrecondition(
                    f"this cluster has data of another source, {other.source} (cluster {other.source_id}); "
                    f"import cluster {self.source.cluster_id} into a cluster of its own"
                )
        running = import_unit.running(conn)
        if running is not None:
            require_same(running, KIND, self.source.cluster_id, self.options.to_json())
        return running

    def _stored(self, begun: Import | None) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
        """Return what finished imports have stored, and what the unfinished one has: that is still in its plan."""

        def read(conn: Connection) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
            stored = {step: import_unit.stored_ids(conn, self.source.cluster_id, step) for step in _KEPT}
            own: dict[str, set[int]] = {step: set() for step in _KEPT}
            for unit in import_unit.units(conn, begun.id) if begun else []:
                if unit.step in stored:
                    own[unit.step] |= set(unit.ids or ())
            return {step: ids - own[step] for step, ids in stored.items()}, own

        return self.target.read(read)

    def _registry(self, plan: Plan, stored: dict[str, set[int]], own: dict[str, set[int]]) -> RegistryPlan:
        names = self.target.read(lambda conn: registry_plan.read_stored(conn, stored, own))
        experiments = stored[EXPERIMENTS] | set(plan.experiments)
        return registry_plan.make(self.source, names, plan.chosen_workspaces, experiments, plan.trials)

    def _require_no_clash(self, plan: Plan, conn: Connection) -> None:
        clashes.require_none(conn, plan, users.names(self.source), workspaces.names(self.source))

    def _begin(self) -> Import:
        def write(conn: Connection) -> Import:
            is_first = all(other.kind != KIND for other in import_unit.list_all(conn))
            options = self.options.to_json()
            begun = import_record.begin(conn, KIND, self.source.cluster_id, self.source.address, options)
            if is_first:
                imported.free_names_of_built_in_users(conn)
            return begun

        return self.target.write(write)

    def _store(self, begun: Import, plan: Plan, registry: RegistryPlan, survey: Survey, journal: Journal) -> None:
        context = MappingContext(
            cluster_id=self.source.cluster_id,
            now=begun.started_at,
            workspace_of_project=plan.workspace_of_project,
            default_pool=self.config.resource_manager.default_compute_resource_pool,
            project_keys=self.target.read(lambda conn: imported.existing_names(conn, PROJECTS, "key")),
        )
        steps = Steps(self.source, plan, journal, context)
        steps.people()
        steps.places()
        steps.experiments()
        steps.code()
        steps.trials()
        for table in metrics.TABLES:
            metric_units.store(self.source, journal, table, survey.metric_rows[table.name], plan.only)
        if self.options.profiling:
            system_metric_units.store(self.source, journal, survey.metric_rows[system_metrics.TABLE])
        steps.ranges()
        steps.checkpoints(survey.trials_with_checkpoints, self._storages())
        first = self.target.read(lambda conn: max(imported.all_ids(conn, TEMPLATES), default=0)) + 1
        with_allocations = [id_ for id_, _ in survey.allocations]
        RegistrySteps(self.source, registry, journal, context).store(with_allocations, first)
        for log_table in logs.TABLES if self.options.logs else ():
            log_units.store(self.source, journal, log_table, [id_ for id_, _ in survey.log_lines[log_table.name]])

    def _storages(self) -> dict[int, int]:
        """Return our id of each of upstream's storages; those that are not here yet are added."""
        sections = {id_: map_storage(section) for id_, section in checkpoints.storages(self.source).items()}
        return self.target.write(
            lambda conn: {id_: storage_backend.ensure(conn, section) for id_, section in sections.items()}
        )

    def _taken(self, begun: Import, survey: Survey) -> tuple[dict[str, int], Tally]:
        """Return the rows that were taken by step, and all notes."""
        tally = Tally()
        tally.merge(survey.tally.to_json())
        return import_record.taken(self.target, begun, tally), tally
