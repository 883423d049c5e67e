"""Plan of models, versions, lineage, templates and webhooks. A taken id or name leaves one out; the rest is taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from determined.master.db.queries import imported
from determined.master.importing.notes import Tally
from determined.master.importing.sources.upstream import required_columns as kinds
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.template import problem_of
from determined.master.importing.sources.upstream.reading import models, templates, webhooks
from determined.master.importing.sources.upstream.source import Source

MODELS, VERSIONS, TEMPLATES, WEBHOOKS = "models", "model versions", "templates", "webhooks"
"""Steps whose ids are kept. Those of templates are ours: upstream's have only names."""


@dataclass(frozen=True, slots=True)
class StoredNames:
    """Rows of this cluster by table. `of_earlier`, `of_this`: ids by step that finished imports and this one stored.

    `versions`: ids by model and number.
    """

    names: Mapping[str, Mapping[str, int]]
    versions: Mapping[tuple[int, int], int]
    webhooks: set[int]
    of_earlier: Mapping[str, set[int]]
    of_this: Mapping[str, set[int]]

    def own_names(self, step: str) -> dict[str, int]:
        """Return the ids by name of what no import has brought."""
        return {name: id_ for name, id_ in self.names[step].items() if not self.is_imported(step, id_)}

    def is_imported(self, step: str, id_: int) -> bool:
        return id_ in self.of_earlier[step] or id_ in self.of_this[step]


@dataclass(slots=True)
class RegistryPlan:
    """Plan of the registry; all lists are in order. `models_here`: those of the source that are here afterwards."""

    models: list[int] = field(default_factory=list)
    models_here: set[int] = field(default_factory=set)
    versions: list[int] = field(default_factory=list)
    templates: list[str] = field(default_factory=list)
    webhooks: list[int] = field(default_factory=list)
    lineage: list[int] = field(default_factory=list)  # trials
    experiments: set[int] = field(default_factory=set)  # whose checkpoints are here
    tally: Tally = field(default_factory=Tally)


def read_stored(conn: Connection, of_earlier: Mapping[str, set[int]], of_this: Mapping[str, set[int]]) -> StoredNames:
    names = {table: imported.existing_names(conn, table, "name") for table in (MODELS, TEMPLATES)}
    versions = imported.version_ids(conn)
    return StoredNames(names, versions, imported.all_ids(conn, WEBHOOKS), of_earlier, of_this)


def make(
    source: Source, stored: StoredNames, workspaces: set[int] | None, experiments: set[int], trials: Sequence[int]
) -> RegistryPlan:
    """Choose what to take. `workspaces`: only of these, None: of all; `experiments`: all whose checkpoints are here."""
    plan = RegistryPlan(experiments=experiments)
    if source.has(kinds.MODELS):
        _plan_models(source, stored, workspaces, plan)
        _plan_versions(source, stored, plan)
    if source.has(kinds.LINEAGE):
        _plan_lineage(source, trials, plan)
    if source.has(kinds.TEMPLATES):
        _plan_templates(source, stored, workspaces, plan)
    if source.has(kinds.WEBHOOKS):
        _plan_webhooks(source, stored, workspaces, plan)
    return plan


def _plan_models(source: Source, stored: StoredNames, workspaces: set[int] | None, plan: RegistryPlan) -> None:
    own = stored.own_names(MODELS)
    ids = set(own.values())
    for id_, name, workspace in models.names(source):
        if id_ in stored.of_earlier[MODELS]:
            plan.models_here.add(id_)
        elif id_ in ids or name in own:
            plan.tally.add_many(rules.TAKEN, 1, f"model {id_} ({name})")
        elif workspaces is None or (workspace or 1) in workspaces:
            plan.models.append(id_)
            plan.models_here.add(id_)


def _plan_versions(source: Source, stored: StoredNames, plan: RegistryPlan) -> None:
    own = {place: id_ for place, id_ in stored.versions.items() if not stored.is_imported(VERSIONS, id_)}
    ids = set(own.values())
    for id_, model, version, experiment in models.places_of_versions(source):
        if id_ in stored.of_earlier[VERSIONS]:
            continue
        if model in plan.models_here and (id_ in ids or (model, version) in own):
            plan.tally.add_many(rules.TAKEN, 1, f"version {version} of model {model}")
        elif model in plan.models_here and experiment in plan.experiments:
            plan.versions.append(id_)
        else:
            plan.tally.add_many(rules.LOST_VERSIONS, 1, f"version {version} of model {model}")


def _plan_lineage(source: Source, trials: Sequence[int], plan: RegistryPlan) -> None:
    chosen = set(trials)
    candidates = [id_ for id_ in models.trials_with_lineage(source) if id_ in chosen]
    for row in models.lineage(source, candidates):
        if row.experiment_id not in plan.experiments:
            plan.tally.add_many(rules.LOST_LINEAGE, 1, f"trial {row.trial_id}, checkpoint {row.checkpoint_uuid}")
        elif not plan.lineage or plan.lineage[-1] != row.trial_id:
            plan.lineage.append(row.trial_id)


def _plan_templates(source: Source, stored: StoredNames, workspaces: set[int] | None, plan: RegistryPlan) -> None:
    own, names = stored.own_names(TEMPLATES), stored.names[TEMPLATES]
    for row in templates.read(source):
        if row.name in own:
            plan.tally.add_many(rules.TAKEN, 1, f"template {row.name}")
        elif names.get(row.name) in stored.of_earlier[TEMPLATES]:
            continue
        elif problem := problem_of(row):
            plan.tally.add_many(rules.BAD_TEMPLATE, 1, f"{row.name}: {problem}")
        elif workspaces is None or row.workspace_id in workspaces:
            plan.templates.append(row.name)


def _plan_webhooks(source: Source, stored: StoredNames, workspaces: set[int] | None, plan: RegistryPlan) -> None:
    for row in webhooks.read(source):
        if row.id in stored.of_earlier[WEBHOOKS]:
            continue
        if row.id in stored.webhooks and not stored.is_imported(WEBHOOKS, row.id):
            plan.tally.add_many(rules.TAKEN, 1, f"webhook {row.id}")
        elif workspaces is None or row.workspace_id in workspaces:
            plan.webhooks.append(row.id)
