"""Steps of models, versions, lineage, templates, webhooks and allocations; they come after checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from determined.master.db.queries import imported
from determined.master.importing.journal import Batch, Journal, Unit
from determined.master.importing.sources.upstream.mapping.allocation import map_allocation
from determined.master.importing.sources.upstream.mapping.mapped import MappingContext
from determined.master.importing.sources.upstream.mapping.model import map_lineage, map_model, map_version
from determined.master.importing.sources.upstream.mapping.template import map_template
from determined.master.importing.sources.upstream.mapping.webhook import map_webhook
from determined.master.importing.sources.upstream.reading import allocations, models, templates, webhooks
from determined.master.importing.sources.upstream.registry_plan import (
    MODELS,
    TEMPLATES,
    VERSIONS,
    WEBHOOKS,
    RegistryPlan,
)
from determined.master.importing.sources.upstream.source import Source
from determined.master.importing.sources.upstream.steps import batch_of

LINEAGE, ALLOCATIONS = "trials with lineage", "trials with allocations"
_AT_ONCE = 500  # things in a unit


@dataclass(frozen=True, slots=True)
class RegistrySteps:
    source: Source
    plan: RegistryPlan
    journal: Journal
    context: MappingContext

    def store(self, trials_with_allocations: Sequence[int], first_template_id: int) -> None:
        """Store all of it. `first_template_id`: a number above those of the templates that are here."""
        self.journal.store_ids(ALLOCATIONS, trials_with_allocations, self._allocations, size=_AT_ONCE)
        self.journal.store_ids(MODELS, self.plan.models, self._models, size=_AT_ONCE, keep_ids=True)
        self._store_versions()
        self.journal.store_ids(LINEAGE, self.plan.lineage, self._lineage, size=_AT_ONCE)
        self._store_templates(first_template_id)
        self.journal.store_ids(WEBHOOKS, self.plan.webhooks, self._webhooks, size=_AT_ONCE, keep_ids=True)

    def _allocations(self, trial_ids: Sequence[int]) -> Batch:
        return batch_of([map_allocation(row, self.context) for row in allocations.read(self.source, trial_ids)])

    def _models(self, ids: Sequence[int]) -> Batch:
        return batch_of([map_model(row, self.context) for row in models.read(self.source, ids)])

    def _store_versions(self) -> None:
        done = self.journal.upto(VERSIONS)
        left = [id_ for id_ in self.plan.versions if not done or id_ > done[0]]
        for start in range(0, len(left), _AT_ONCE):
            part = left[start : start + _AT_ONCE]
            rows = models.versions(self.source, part)
            batch = batch_of([map_version(row, self.context) for row in rows])
            unit = Unit(VERSIONS, len(part), batch.checksum(), [part[-1]], batch.tally, part)
            self.journal.store(unit, partial(_write_versions, batch, sorted({row.model_id for row in rows})))

    def _lineage(self, trial_ids: Sequence[int]) -> Batch:
        rows = models.lineage(self.source, trial_ids)
        stored_models = self.plan.models_here
        return batch_of([map_lineage(row, stored_models) for row in rows if row.experiment_id in self.plan.experiments])

    def _store_templates(self, first_id: int) -> None:
        """Store all templates as one unit: they are few, and have no numbers to go on after."""
        if self.journal.upto(TEMPLATES) is not None or not self.plan.templates:
            return
        chosen = set(self.plan.templates)
        rows = [row for row in templates.read(self.source) if row.name in chosen]
        mapped = [map_template(row, first_id + n, self.context) for n, row in enumerate(rows)]
        batch = batch_of(mapped)
        ids = list(range(first_id, first_id + len(rows)))
        unit = Unit(TEMPLATES, len(rows), batch.checksum(), [len(rows)], batch.tally, ids)
        self.journal.store(unit, batch.write)

    def _webhooks(self, ids: Sequence[int]) -> Batch:
        chosen = set(ids)
        return batch_of([map_webhook(row, self.context) for row in webhooks.read(self.source) if row.id in chosen])


def _write_versions(batch: Batch, model_ids: Sequence[int], conn: Connection) -> None:
    batch.write(conn)
    imported.count_versions(conn, model_ids)
