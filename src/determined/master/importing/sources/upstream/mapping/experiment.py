"""Experiments with their jobs."""

from dataclasses import dataclass
from datetime import datetime

from determined.config import ExperimentConfig, dump_yaml, generation
from determined.config.resources import DEFAULT_PRIORITY
from determined.config.task_kinds import TRIAL
from determined.master.db.queries.checkpoint import GC_FROZEN
from determined.master.db.rows.experiments import ExperimentValues, JobValues
from determined.master.importing import shared_rules
from determined.master.importing.mapped_config import MappedConfig, map_config
from determined.master.importing.mapped_state import mapped_state, was_live
from determined.master.importing.notes import Note
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.mapped import Mapped, MappingContext
from determined.master.importing.sources.upstream.reading.experiments import ExperimentRow
from determined.master.lifecycle.queue_position import queue_position
from determined.master.lifecycle.states import TERMINAL, State


@dataclass(frozen=True, slots=True)
class _Ended:
    state: State
    end_time: datetime | None
    notes: str


def map_experiment(row: ExperimentRow, context: MappingContext) -> Mapped:
    mapped = map_config(row.config, f"imported experiment {row.id}")
    job = _job(row, ExperimentConfig.load(mapped.active), context)
    experiment = _experiment(row, mapped, job["id"], context)
    return Mapped([("jobs", job), ("experiments", experiment)], _notes(row, mapped))


def _job(row: ExperimentRow, config: ExperimentConfig, context: MappingContext) -> JobValues:
    resources = config.resources
    return {
        "id": context.job_id(row.id, row.job_id),
        "type": TRIAL.job.name,
        "owner_id": row.owner_id,
        "workspace_id": context.workspace_of_project[row.project_id],
        "pool": resources.resource_pool or context.default_pool,
        "priority": DEFAULT_PRIORITY if resources.priority is None else resources.priority,
        "weight": 1.0 if resources.weight is None else resources.weight,
        "max_slots": resources.max_slots,
        "submitted_at": row.start_time,
        "position": queue_position(row.start_time),
    }


def _experiment(row: ExperimentRow, mapped: MappedConfig, job_id: str, context: MappingContext) -> ExperimentValues:
    active, config = mapped.active, ExperimentConfig.load(mapped.active)
    ended = _ended(row, context)
    return {
        "id": row.id,
        "job_id": job_id,
        "project_id": row.project_id,
        "owner_id": row.owner_id,
        "parent_id": row.parent_id,
        "state": ended.state,
        "name": config.name,
        "description": config.description,
        "notes": ended.notes,
        "labels": list(config.labels),
        "config": active,
        "original_config": row.original_config or dump_yaml(active),
        "archived": row.archived,
        "unmanaged": row.unmanaged,
        "external_id": row.external_id,
        "generation": generation(active),
        "searcher_metric": config.searcher.metric,
        "smaller_is_better": config.searcher.smaller_is_better,
        "warm_start_checkpoint": config.searcher.source_checkpoint_uuid,
        "progress": row.progress,
        "start_time": row.start_time,
        "end_time": ended.end_time,
        "best_trial_id": row.best_trial_id,
        "gc_time": GC_FROZEN,
    }


def _ended(row: ExperimentRow, context: MappingContext) -> _Ended:
    state = mapped_state(row.state, unmanaged=row.unmanaged)
    end_time = row.end_time or (context.now if state in TERMINAL else None)
    notes = row.notes or ""
    if was_live(row.state, unmanaged=row.unmanaged):
        notes = "\n\n".join(part for part in (notes, f"was {row.state} when imported") if part)
    return _Ended(state, end_time, notes)


def _notes(row: ExperimentRow, mapped: MappedConfig) -> list[Note]:
    notes = [Note(rules.CONFIG, f"experiment {row.id}: {mapped.problems[0]}")] if mapped.problems else []
    if was_live(row.state, unmanaged=row.unmanaged):
        notes.append(Note(rules.LIVE, f"experiment {row.id} was {row.state}"))
    elif row.state.startswith("DELET"):
        notes.append(Note(shared_rules.DELETION, f"experiment {row.id} was {row.state}"))
    return notes
