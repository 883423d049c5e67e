"""Tracked experiments and trials as rows of ours. Pure."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from determined._json import JsonObject, JsonValue
from determined.config import ExperimentConfig, dump_yaml, generation
from determined.config.resources import DEFAULT_PRIORITY
from determined.config.secret_names import mask_logins
from determined.config.task_kinds import TRIAL
from determined.master.db.queries.checkpoint import GC_FROZEN
from determined.master.db.rows.allocations import TaskValues
from determined.master.db.rows.experiments import ExperimentValues, JobValues, TrialValues
from determined.master.importing.clean import clean_name, clean_object, clean_text, masked_object
from determined.master.importing.mapped_config import map_config
from determined.master.importing.tracked import TrackedExperiment, TrackedTrial
from determined.master.lifecycle.queue_position import queue_position
from determined.master.services.imported_id import prefix

_MAX_CHOICES = 100  # values of a hyperparameter that the config lists


@dataclass(frozen=True, slots=True)
class Place:
    """Place of an experiment: whom it belongs to and where it goes. `now` is the time of the import."""

    source: str  # identity of the store
    now: datetime
    owner_id: int
    workspace_id: int
    project_id: int
    pool: str

    def made_up_id(self, noun: str, external_id: str) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.source}/{noun}/{clean_text(external_id)}"))


def external_id(identity: str, of_source: str) -> str:
    """Return the id by which a later import finds an experiment; no two stores share one."""
    return prefix(identity) + clean_text(of_source)


def experiment_rows(tracked: TrackedExperiment, place: Place) -> tuple[JobValues, ExperimentValues]:
    name = clean_name(tracked.name) or "imported"
    active = map_config(json.dumps(_config(tracked, name)), name).active
    config = ExperimentConfig.load(active)
    start, end = _span(tracked.trials, place.now)
    job: JobValues = {
        "id": place.made_up_id("job", tracked.external_id),
        "type": TRIAL.job.name,
        "owner_id": place.owner_id,
        "workspace_id": place.workspace_id,
        "pool": place.pool,
        "priority": DEFAULT_PRIORITY,
        "weight": 1.0,
        "max_slots": None,
        "submitted_at": start,
        "position": queue_position(start),
    }
    experiment: ExperimentValues = {
        "job_id": job["id"],
        "project_id": place.project_id,
        "owner_id": place.owner_id,
        "state": tracked.state,
        "name": name,
        "description": clean_text(mask_logins(tracked.description)),
        "notes": clean_text(mask_logins(tracked.notes)),
        "labels": [clean_name(label) for label in tracked.labels],
        "config": active,
        "original_config": dump_yaml(active),
        "unmanaged": True,
        "external_id": external_id(place.source, tracked.external_id),
        "generation": generation(active),
        "searcher_metric": config.searcher.metric,
        "smaller_is_better": config.searcher.smaller_is_better,
        "progress": 1.0,
        "start_time": start,
        "end_time": end,
        "gc_time": GC_FROZEN,
    }
    return job, experiment


def trial_row(trial: TrackedTrial, experiment_id: int, place: Place) -> TrialValues:
    request_id = place.made_up_id("trial", trial.external_id)
    start, end = _span([trial], place.now)
    return {
        "experiment_id": experiment_id,
        "request_id": request_id,
        "task_id": f"{experiment_id}.{request_id}",
        "state": trial.state,
        "hparams": clean_object(masked_object(trial.hparams)),
        "seed": 0,
        "run_id": 0,
        "start_time": start,
        "end_time": end,
        "runner_state": "",
        "metadata": clean_object(masked_object(trial.metadata)),
        "early_stopped": trial.early_stopped,
        "exit_reported": True,
        "external_id": clean_text(trial.external_id),
        "last_activity": end,
    }


def task_row(trial: TrialValues, trial_id: int, job_id: str) -> TaskValues:
    return {
        "id": trial["task_id"],
        "type": TRIAL.name,
        "job_id": job_id,
        "trial_id": trial_id,
        "experiment_id": trial["experiment_id"],
        "start_time": trial["start_time"],
        "end_time": trial["end_time"],
    }


def _span(trials: Sequence[TrackedTrial], now: datetime) -> tuple[datetime, datetime]:
    """Return when the first trial started and when the last one ended; an end is never before its start."""
    start = min((trial.started_at for trial in trials if trial.started_at), default=now)
    end = max((trial.ended_at for trial in trials if trial.ended_at), default=start)
    return start, max(start, end)


def _config(tracked: TrackedExperiment, name: str) -> JsonObject:
    searcher: JsonObject = {
        "name": "random" if tracked.is_search else "single",
        "metric": clean_text(tracked.metric) or "validation_loss",
        "smaller_is_better": tracked.smaller_is_better,
    }
    if tracked.is_search:
        searcher["max_trials"] = max(1, len(tracked.trials))
    return {
        "name": name,
        "description": clean_text(mask_logins(tracked.description)),
        "labels": [clean_name(label) for label in tracked.labels],
        "entrypoint": "true",
        "searcher": searcher,
        "hyperparameters": _spaces([clean_object(masked_object(trial.hparams)) for trial in tracked.trials]),
    }


def _spaces(hparams: Sequence[JsonObject]) -> JsonObject:
    """Describe what was tried: a constant, a range of numbers, or a choice."""
    choices_by_name: dict[str, list[JsonValue]] = {}
    for values in hparams:
        for name, value in values.items():
            choices = choices_by_name.setdefault(name, [])
            if value not in choices and len(choices) < _MAX_CHOICES:
                choices.append(value)
    return {name: _space(choices) for name, choices in choices_by_name.items()}


def _space(values: list[JsonValue]) -> JsonObject:
    if len(values) == 1:
        return {"type": "const", "val": values[0]}
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(values):
        return {"type": "categorical", "vals": values}
    kind = "int" if all(isinstance(number, int) for number in numbers) else "double"
    return {"type": kind, "minval": min(numbers), "maxval": max(numbers)}
