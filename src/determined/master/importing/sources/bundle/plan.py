"""Plan of an import from a bundle: which experiments are new, their trials, counts, and what is to be said about it."""

from array import array
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from determined._json import JsonObject
from determined.bundle import layout
from determined.bundle.layout import ExperimentEntry, Places, UserEntry
from determined.bundle.reader import Bundle
from determined.constants import MASKED
from determined.errors import InvalidArgument
from determined.master.importing import shared_rules
from determined.master.importing.mapped_state import was_live
from determined.master.importing.notes import Note, Tally
from determined.master.importing.sources.bundle import rules
from determined.master.services import user_name
from determined.storage.checkpoint_id import is_checkpoint_id

USERS, WORKSPACES, PROJECTS, EXPERIMENTS = "users", "workspaces", "projects", "experiments"
CODE, TRIALS, METRICS, CHECKPOINTS, LOGS = "code", "trials", "metrics", "checkpoints", "log lines"
CHECK = "bytes checked"

T = TypeVar("T")


@dataclass(slots=True)
class Plan:
    """`trials` are those of the new experiments, in order. `present` counts the others."""

    users: list[UserEntry]
    places: Places
    experiments: list[int] = field(default_factory=list)
    trials: "array[int]" = field(default_factory=lambda: array("q"))
    counts: dict[str, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    present: int = 0

    def totals(self) -> dict[str, int]:
        return self.counts

    def to_json(self) -> JsonObject:
        return {"counts": self.counts, "known_experiments": self.present}


def make_plan(bundle: Bundle, present: Set[int], *, logs: bool) -> Plan:
    """Look through the bundle. `present`: experiments that are here already. Raises InvalidArgument."""
    users = bundle.document(layout.USERS, list[UserEntry]) if bundle.has(layout.USERS) else []
    places = bundle.document(layout.PLACES, Places) if bundle.has(layout.PLACES) else Places([], [])
    plan = Plan(users, places)
    plan.counts = dict.fromkeys((EXPERIMENTS, CODE, TRIALS, METRICS, CHECKPOINTS, LOGS), 0)
    names, projects = {user.username for user in users}, {project.id for project in places.projects}
    _check_places(bundle, plan, names)
    for id_ in sorted(set(bundle.manifest.experiments)):
        if id_ in present:
            plan.present += 1
            plan.tally.add([Note(rules.KNOWN, f"experiment {id_}")])
            continue
        entry = experiment_entry(bundle, id_)
        if entry.owner not in names or entry.project_id not in projects:
            raise InvalidArgument(
                f"{layout.folder(id_)}/experiment.json of {bundle.path} names owner {entry.owner!r} and project "
                f"{entry.project_id}, of which the bundle says nothing; export it again"
            )
        plan.experiments.append(id_)
        _count(bundle, plan, entry, logs=logs)
    return plan


def experiment_entry(bundle: Bundle, id_: int) -> ExperimentEntry:
    """Read an experiment. Raises InvalidArgument."""
    name = f"{layout.folder(id_)}/experiment.json"
    for needed in (name, f"{layout.folder(id_)}/config.yaml", layout.trials_file(id_, bundle.manifest.tables)):
        if not bundle.has(needed):
            raise InvalidArgument(f"{needed} is missing in {bundle.path}; export it again")
    entry = bundle.document(name, ExperimentEntry)
    if entry.id != id_:
        raise InvalidArgument(f"{name} of {bundle.path} is of experiment {entry.id}; export it again")
    return entry


def checkpoint_entries(bundle: Bundle, experiment_id: int, kind: type[T]) -> Iterator[T]:
    """Read the checkpoints of an experiment, of each what `kind` has fields for."""
    name = f"{layout.folder(experiment_id)}/checkpoints.json"
    if bundle.has(name):
        yield from bundle.entries(name, kind)


def log_files(bundle: Bundle, experiment_id: int) -> list[str]:
    return bundle.below(f"{layout.folder(experiment_id)}/logs/")


def metric_files(bundle: Bundle, experiment_id: int) -> list[str]:
    return bundle.below(f"{layout.folder(experiment_id)}/metrics/")


def _check_places(bundle: Bundle, plan: Plan, names: set[str]) -> None:
    workspaces = {workspace.id for workspace in plan.places.workspaces}
    owners = {place.owner for place in plan.places.workspaces} | {place.owner for place in plan.places.projects}
    lost = [project.id for project in plan.places.projects if project.workspace_id not in workspaces]
    if not owners <= names or lost:
        raise InvalidArgument(f"{layout.PLACES} of {bundle.path} names owners or workspaces that are not in the bundle")
    for user in plan.users:
        if user_name.checked_username(user.username) != user.username:
            raise InvalidArgument(
                f"{layout.USERS} of {bundle.path}: {user.username!r} is not written as names are stored"
            )
    for numbers in (
        [user.id for user in plan.users],
        [place.id for place in plan.places.workspaces],
        [p.id for p in plan.places.projects],
    ):
        if len(numbers) != len(set(numbers)) or any(number <= 0 for number in numbers):
            raise InvalidArgument(
                f"{bundle.path}: ids of users or places are not positive or not unique; export it again"
            )


def _count(bundle: Bundle, plan: Plan, entry: ExperimentEntry, *, logs: bool) -> None:
    folder = layout.folder(entry.id)
    plan.counts[EXPERIMENTS] += 1
    plan.counts[CODE] += bundle.has(f"{folder}/code.tgz")
    last = 0
    for trial in bundle.trials(entry.id):
        if trial.id <= last:
            raise InvalidArgument(f"{folder}/trials of {bundle.path}: trials are not in order at {trial.id}")
        last = trial.id
        plan.trials.append(trial.id)
        plan.counts[TRIALS] += 1
        plan.counts[METRICS] += sum(series.points for series in trial.series)
        lines = sum(task.log_lines for task in trial.tasks)
        plan.counts[LOGS] += lines if logs else 0
        plan.tally.add_many(rules.LOGS, 0 if logs else lines, f"{lines} lines of trial {trial.id}")
        if was_live(trial.state, unmanaged=entry.unmanaged):
            plan.tally.add([Note(rules.LIVE, f"trial {trial.id} was {trial.state}")])
    plan.tally.add(_notes(bundle, entry))
    for checkpoint in checkpoint_entries(bundle, entry.id, _Seen):
        if not is_checkpoint_id(checkpoint.uuid):  # no store takes another one, and one may lead out of its directory
            raise InvalidArgument(
                f"{folder}/checkpoints.json of {bundle.path}: {checkpoint.uuid!r} is no id of a checkpoint"
            )
        plan.counts[CHECKPOINTS] += 1
        if not checkpoint.copied and checkpoint.state == "COMPLETED":
            plan.tally.add([Note(rules.FILES_ELSEWHERE, f"checkpoint {checkpoint.uuid}")])


class _Seen(msgspec.Struct):
    uuid: str
    state: str
    copied: bool = False


def _notes(bundle: Bundle, entry: ExperimentEntry) -> list[Note]:
    notes = []
    if was_live(entry.state, unmanaged=entry.unmanaged):
        notes.append(Note(rules.LIVE, f"experiment {entry.id} was {entry.state}"))
    elif entry.state.startswith("DELET"):
        notes.append(Note(shared_rules.DELETION, f"experiment {entry.id} was {entry.state}"))
    if MASKED in bundle.text(f"{layout.folder(entry.id)}/config.yaml"):
        notes.append(Note(rules.MASKED, f"experiment {entry.id}"))
    return notes
