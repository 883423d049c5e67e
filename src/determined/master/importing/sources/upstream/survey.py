"""Survey of the source before anything is written: counts per table and state, bytes, time, what stays out."""

from dataclasses import dataclass, field

from determined._json import JsonObject
from determined.master.importing.notes import Tally
from determined.master.importing.options import ImportOptions
from determined.master.importing.sources.upstream import file_check, leftovers, log_units, rules
from determined.master.importing.sources.upstream import required_columns as kinds
from determined.master.importing.sources.upstream.metric_units import TrialRows, step_name
from determined.master.importing.sources.upstream.plan import EXPERIMENTS, PROJECTS, USERS, WORKSPACES, Plan
from determined.master.importing.sources.upstream.reading import (
    allocations,
    checkpoints,
    experiments,
    logs,
    metrics,
    sizes,
    system_metrics,
)
from determined.master.importing.sources.upstream.registry_plan import (
    MODELS,
    TEMPLATES,
    VERSIONS,
    WEBHOOKS,
    RegistryPlan,
)
from determined.master.importing.sources.upstream.registry_steps import ALLOCATIONS, LINEAGE
from determined.master.importing.sources.upstream.source import Source
from determined.master.importing.sources.upstream.steps import CHECKPOINTS, CODE, RANGES, TRIALS

_ROWS_PER_SECOND = 200_000  # of metrics, on two cores
_BYTES_PER_ROW = 60  # of metrics, in our chunks


@dataclass(slots=True)
class Survey:
    counts: dict[str, int]  # things to take, by step
    states: dict[str, dict[str, int]]  # experiments and trials by state
    source_bytes: dict[str, int]
    metric_rows: dict[str, list[TrialRows]] = field(default_factory=dict)
    trials_with_checkpoints: list[int] = field(default_factory=list)
    checkpoints: int = 0
    log_lines: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # lines of each trial, by table
    allocations: list[tuple[int, int]] = field(default_factory=list)  # of each trial
    registry: RegistryPlan = field(default_factory=RegistryPlan)
    tally: Tally = field(default_factory=Tally)

    def totals(self) -> dict[str, int]:
        """Return the rows of the source by step, for the progress."""
        return {
            **self.counts,
            **{step_name(name): _sum(rows) for name, rows in self.metric_rows.items()},
            CHECKPOINTS: len(self.trials_with_checkpoints),
            ALLOCATIONS: len(self.allocations),
            MODELS: len(self.registry.models),
            VERSIONS: len(self.registry.versions),
            LINEAGE: len(self.registry.lineage),
            TEMPLATES: len(self.registry.templates),
            WEBHOOKS: len(self.registry.webhooks),
            **{log_units.step_name(name): sum(n for _, n in lines) for name, lines in self.log_lines.items()},
        }

    def to_json(self) -> JsonObject:
        rows = sum(_sum(rows) for rows in self.metric_rows.values())
        return {
            "counts": self.totals(),
            "checkpoints": self.checkpoints,
            "states": self.states,
            "source_bytes": self.source_bytes,
            "estimated_bytes": rows * _BYTES_PER_ROW,
            "estimated_seconds": round(rows / _ROWS_PER_SECOND + sum(self.counts.values()) / 5_000, 1),
        }

    def to_event(self, source: Source, *, dry_run: bool) -> JsonObject:
        return {
            "event": "survey",
            "source": source.address,
            "cluster_id": source.cluster_id,
            "schema": source.version,
            "dry_run": dry_run,
            **self.to_json(),
            "notes": self.tally.to_json(),
        }


def look(source: Source, options: ImportOptions, plan: Plan, registry: RegistryPlan) -> Survey:
    """Count what is to be taken and what stays out."""
    survey = Survey(
        counts={
            USERS: len(plan.users),
            WORKSPACES: len(plan.workspaces),
            PROJECTS: len(plan.projects),
            EXPERIMENTS: len(plan.experiments),
            CODE: len(experiments.code_sizes(source, plan.experiments)),
            TRIALS: len(plan.trials),
            RANGES: len(plan.experiments),
        },
        states=sizes.states(source),
        source_bytes=sizes.tables(source),
        registry=registry,
    )
    _count_metrics(source, plan, survey)
    if options.profiling:
        _count_system_metrics(source, plan, survey)
    _count_files_and_logs(source, options, plan, survey)
    _note_left_out(source, options, survey)
    survey.tally.merge(registry.tally.to_json())
    if options.check_files:
        survey.tally.add(file_check.notes(source, survey.trials_with_checkpoints, options.check_files))
    return survey


def _count_files_and_logs(source: Source, options: ImportOptions, plan: Plan, survey: Survey) -> None:
    chosen = set(plan.trials)
    survey.trials_with_checkpoints = [id_ for id_ in checkpoints.trials(source) if id_ in chosen]
    survey.checkpoints = checkpoints.count(source, survey.trials_with_checkpoints)
    lost = checkpoints.total(source) - survey.checkpoints
    survey.tally.add_many(rules.LOST_CHECKPOINTS, lost, f"{lost} rows of checkpoints_v2")
    if source.has(kinds.ALLOCATIONS):
        survey.allocations = [(id_, n) for id_, n in allocations.trials(source) if id_ in chosen]
    for table in logs.TABLES:
        lines = [(id_, n) for id_, n in logs.counts(source, table) if id_ in chosen]
        count = sum(n for _, n in lines)
        survey.log_lines[table.name] = lines if options.logs else []
        survey.tally.add_many(rules.LOGS, 0 if options.logs else count, f"{count} rows of {table.name}")


def _count_metrics(source: Source, plan: Plan, survey: Survey) -> None:
    chosen = set(plan.trials)
    for table in metrics.TABLES:
        archived = 0
        rows = survey.metric_rows[table.name] = []
        for trial_id, live, hidden in metrics.counts(source, table):
            if trial_id in chosen:
                rows.append(TrialRows(trial_id, live))
                archived += hidden
        survey.tally.add_many(rules.ARCHIVED, archived, f"{archived} rows of {table.name}")


def _count_system_metrics(source: Source, plan: Plan, survey: Survey) -> None:
    chosen = set(plan.trials)
    rows: dict[int, int] = {}
    for trial_id, _, n in system_metrics.points(source):
        if trial_id in chosen:
            rows[trial_id] = rows.get(trial_id, 0) + n
    survey.metric_rows[system_metrics.TABLE] = [TrialRows(trial_id, n) for trial_id, n in rows.items()]


def _note_left_out(source: Source, options: ImportOptions, survey: Survey) -> None:
    for rule, count, example in leftovers.notes(source):
        if rule != rules.PROFILING or not options.profiling:
            survey.tally.add_many(rule, count, example)


def _sum(rows: list[TrialRows]) -> int:
    return sum(trial.rows for trial in rows)
