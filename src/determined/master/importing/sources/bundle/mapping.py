"""Entries of a bundle as rows of ours. Pure."""

from dataclasses import dataclass, field
from datetime import datetime

from determined._json import JsonObject
from determined.bundle.layout import CheckpointEntry, ExperimentEntry, LockEntry, UserEntry
from determined.config import ExperimentConfig, generation
from determined.config.experiment import find_violations
from determined.config.resources import DEFAULT_PRIORITY
from determined.config.task_kinds import TRIAL
from determined.constants import MASKED
from determined.errors import InvalidArgument
from determined.master.auth.password import UNUSABLE
from determined.master.db.dialects import Values
from determined.master.db.queries.checkpoint import GC_FROZEN
from determined.master.db.rows.allocations import AllocationValues, TaskValues
from determined.master.db.rows.checkpoints import CheckpointValues
from determined.master.db.rows.experiments import EnvironmentLockValues, ExperimentValues, JobValues, TrialValues
from determined.master.db.rows.users import UserValues
from determined.master.importing import shared_rules
from determined.master.importing.clean import clean_name, clean_object, clean_text, parse_moment
from determined.master.importing.mapped_config import map_config
from determined.master.importing.mapped_state import mapped_state, was_live
from determined.master.importing.notes import Note
from determined.master.importing.sources.bundle import rules
from determined.master.lifecycle.queue_position import queue_position
from determined.master.lifecycle.states import TERMINAL, AllocationState, ExitKind
from determined.schema.text import parse_yaml
from determined.wire.codec import float_from_wire
from determined.wire.trial_record import AllocationRecord, TaskRecord, TrialRecord

_BEING_WRITTEN = "ACTIVE"
_CHECKPOINT_STATES = frozenset({"COMPLETED", "PARTIALLY_DELETED", "DELETED", "ERROR", _BEING_WRITTEN})


@dataclass(frozen=True, slots=True)
class MappingContext:
    """Facts that mappings need beside the entry. `now` is the time of the import, the same for all of its units."""

    now: datetime
    default_pool: str
    users: dict[str, int] = field(default_factory=dict)  # ids here by name
    projects: dict[int, int] = field(default_factory=dict)  # ids here by those of the bundle
    workspaces: dict[int, int] = field(default_factory=dict)  # of projects: ids here by the project's in the bundle


def moment(text: str) -> datetime:
    """Read a time. Raises InvalidArgument."""
    try:
        return parse_moment(text)
    except ValueError as e:
        raise InvalidArgument(f"{text[:80]!r} in the bundle is no time; export it again") from e


def map_user(entry: UserEntry, user_id: int, context: MappingContext) -> UserValues:
    """Map an owner who is not here: nobody can log in as them before an administrator sets a password."""
    return {
        "id": user_id,
        "username": entry.username,
        "display_name": entry.display_name,
        "password_hash": UNUSABLE,
        "admin": False,
        "active": entry.active,
        "remote": False,
        "created_at": context.now,
        "modified_at": context.now,
    }


def map_experiment(
    entry: ExperimentEntry, config_text: str, original: str, context: MappingContext
) -> tuple[list[tuple[str, Values]], list[Note]]:
    active, problems = _config(entry, config_text)
    config = ExperimentConfig.load(active)
    start = moment(entry.start_time)
    state = mapped_state(entry.state, unmanaged=entry.unmanaged)
    owner, resources = context.users[entry.owner], config.resources
    job: JobValues = {
        "id": entry.job_id,
        "type": TRIAL.job.name,
        "owner_id": owner,
        "workspace_id": context.workspaces[entry.project_id],
        "pool": entry.pool or resources.resource_pool or context.default_pool,
        "priority": DEFAULT_PRIORITY if resources.priority is None else resources.priority,
        "weight": 1.0 if resources.weight is None else resources.weight,
        "max_slots": resources.max_slots,
        "submitted_at": start,
        "position": queue_position(start),
    }
    experiment: ExperimentValues = {
        "id": entry.id,
        "job_id": entry.job_id,
        "project_id": context.projects[entry.project_id],
        "owner_id": owner,
        "parent_id": entry.parent_id,
        "state": state,
        "name": clean_name(entry.name),
        "description": None if entry.description is None else clean_text(entry.description),
        "notes": _notes(entry),
        "labels": [clean_name(label) for label in entry.labels],
        "config": active,
        "original_config": original,
        "template": entry.template,
        "archived": entry.archived,
        "unmanaged": entry.unmanaged,
        "external_id": entry.external_id,
        "generation": generation(active),
        "searcher_metric": config.searcher.metric,
        "smaller_is_better": config.searcher.smaller_is_better,
        "warm_start_checkpoint": config.searcher.source_checkpoint_uuid,
        "progress": entry.progress,
        "start_time": start,
        "end_time": _ended(entry.end_time, state in TERMINAL, context),
        "best_trial_id": entry.best_trial_id,
        "error": entry.error,
        "gc_time": GC_FROZEN,
    }
    notes = [Note(rules.CONFIG, f"experiment {entry.id}: {problems[0]}")] if problems else []
    return [("jobs", job), ("experiments", experiment)], notes


def map_lock(lock: LockEntry, experiment_id: int) -> EnvironmentLockValues:
    return {
        "experiment_id": experiment_id,
        "platform": clean_text(lock.platform),
        "content": clean_text(lock.content),
        "created_at": moment(lock.created_at),
    }


def map_trial(record: TrialRecord, entry: ExperimentEntry, context: MappingContext) -> list[tuple[str, Values]]:
    state = mapped_state(record.state, unmanaged=entry.unmanaged)
    is_over = state in TERMINAL
    end = _ended(record.end_time, is_over, context)
    trial: TrialValues = {
        "id": record.id,
        "experiment_id": entry.id,
        "request_id": record.request_id,
        "task_id": record.task_id,
        "state": state,
        "hparams": clean_object(record.hparams),
        "seed": record.seed,
        "run_id": record.run_id,
        "restarts": record.restarts,
        "start_time": moment(record.start_time),
        "end_time": end,
        "runner_state": record.runner_state,
        "metadata": None if record.metadata is None else clean_object(record.metadata),
        "progress": record.progress,
        "early_stopped": record.early_stopped,
        "stop_reason": record.stop_reason,
        "early_exit": record.early_exit,
        "exit_reported": is_over,
        "warm_start_checkpoint": record.warm_start_checkpoint,
        "steps_completed": record.steps_completed,
        "latest_validation_step": record.latest_validation_step,
        "latest_validation_value": _number(record.latest_validation_value),
        "latest_validation_time": _time(record.latest_validation_time),
        "best_validation_step": record.best_validation_step,
        "best_validation_value": _number(record.best_validation_value),
        "best_validation_time": _time(record.best_validation_time),
        "log_retention_days": record.log_retention_days,
        "log_policy_label": record.log_policy_label,
        "external_id": record.external_id,
        "last_activity": _time(record.last_activity),
        "archived": record.archived,
    }
    tasks = [("tasks", _task(task, record, entry, end if is_over else None)) for task in record.tasks]
    allocations = [("allocations", _allocation(one, record, end or context.now)) for one in record.allocations]
    return [("trials", trial), *tasks, *allocations]


def trial_notes(record: TrialRecord) -> list[Note]:
    return [Note(shared_rules.ALLOCATION_LIVE, one.id) for one in record.allocations if one.ended_at is None]


def map_checkpoint(entry: CheckpointEntry, experiment_id: int, storage_id: int | None) -> CheckpointValues:
    if entry.state not in _CHECKPOINT_STATES:
        raise InvalidArgument(f"checkpoint {entry.uuid}: {entry.state!r} is no state of a checkpoint")
    return {
        "uuid": entry.uuid,
        "task_id": entry.task_id,
        "allocation_id": entry.allocation_id,
        "trial_id": entry.trial_id,
        "experiment_id": experiment_id,
        "run_id": entry.run_id,
        "state": "ERROR" if entry.state == _BEING_WRITTEN else entry.state,
        "steps_completed": entry.steps_completed,
        "metadata": clean_object(entry.metadata),
        "resources": entry.resources,
        "size": entry.size,
        "report_time": moment(entry.report_time),
        "storage_id": storage_id,
    }


def checkpoint_notes(entry: CheckpointEntry) -> list[Note]:
    return [Note(shared_rules.CHECKPOINT_ACTIVE, entry.uuid)] if entry.state == _BEING_WRITTEN else []


def map_storage(section: JsonObject) -> JsonObject:
    """Return a storage without its masked secrets: what reads it finds credentials in its environment."""
    return {key: value for key, value in section.items() if value != MASKED and value is not None}


def _config(entry: ExperimentEntry, text: str) -> tuple[JsonObject, list[str]]:
    """Return the config, with defaults for keys that are not valid here, and those keys."""
    config = parse_yaml(text)
    if not find_violations(config, complete=True):
        return config, []
    import json

    mapped = map_config(json.dumps(config), entry.name)
    return mapped.active, mapped.problems


def _notes(entry: ExperimentEntry) -> str:
    if not was_live(entry.state, unmanaged=entry.unmanaged):
        return clean_text(entry.notes)
    return "\n\n".join(part for part in (clean_text(entry.notes), f"was {entry.state} when imported") if part)


def _task(task: TaskRecord, trial: TrialRecord, entry: ExperimentEntry, end: datetime | None) -> TaskValues:
    return {
        "id": task.id,
        "type": TRIAL.name,
        "job_id": entry.job_id,
        "trial_id": trial.id,
        "experiment_id": entry.id,
        "start_time": moment(task.start_time),
        "end_time": _time(task.end_time) or end,
        "log_retention_days": task.log_retention_days,
    }


def _allocation(record: AllocationRecord, trial: TrialRecord, end: datetime) -> AllocationValues:
    requested = moment(record.requested_at)
    return {
        "id": record.id,
        "task_id": record.task_id,
        "trial_id": trial.id,
        "run_id": record.run_id,
        "state": AllocationState.TERMINATED,
        "slots": record.slots,
        "pool": record.pool,
        "preemptible": True,
        "requested_at": requested,
        "assigned_at": _time(record.assigned_at),
        "started_at": _time(record.started_at),
        "ended_at": _time(record.ended_at) or max(requested, end),
        "exit_kind": _exit_kind(record),
        "exit_reason": record.exit_reason,
        "exit_code": record.exit_code,
        "drained": True,
    }


def _exit_kind(record: AllocationRecord) -> str | None:
    """Return how it ended; one that had not was ended by the import."""
    if record.ended_at is None:
        return ExitKind.KILLED
    return record.exit_kind if record.exit_kind in set(ExitKind) else None


def _ended(text: str | None, is_over: bool, context: MappingContext) -> datetime | None:
    return _time(text) or (context.now if is_over else None)


def _time(text: str | None) -> datetime | None:
    return None if text is None else moment(text)


def _number(value: float | str | None) -> float | None:
    try:
        return None if value is None else float_from_wire(value)
    except ValueError as e:
        raise InvalidArgument(f"{value!r} in the bundle is no number; export it again") from e
