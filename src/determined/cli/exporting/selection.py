"""Experiments that an export is asked for: by id, of a project, or all that the user sees."""

from collections.abc import Sequence
from dataclasses import dataclass

from determined.api import experiment, project, workspace
from determined.api.session import Session
from determined.cli.grammar import UsageError
from determined.errors import NotFound
from determined.wire.experiment import ListExperiments
from determined.wire.project import Project

_PAGE = 200


@dataclass(frozen=True, slots=True)
class Chosen:
    """Ids in order. `trials`: how many trials they have in all, for the progress."""

    ids: list[int]
    trials: int


def choose(session: Session, ids: Sequence[int], project_name: str | None, *, everything: bool) -> Chosen:
    """Find the experiments. Raises UsageError, NotFound."""
    ways = sum((bool(ids), project_name is not None, everything))
    if ways != 1:
        too_many = ", only one of them" if ways else ""
        raise UsageError(f"say which experiments: their IDs, or --project WORKSPACE/PROJECT, or --all{too_many}")
    if ids:
        requested = sorted(set(ids))
        experiments = [
            row for start in range(0, len(requested), _PAGE) for row in _some(session, requested[start : start + _PAGE])
        ]
        missing = sorted(set(requested) - {row[0] for row in experiments})
        if missing:
            raise NotFound(f"experiment {missing[0]} not found; list them with: det experiment list --all")
    else:
        params = ListExperiments(project_id=_project(session, project_name).id) if project_name else ListExperiments()
        experiments = [(row.id, row.num_trials) for row in experiment.iterate(session, params)]
        if not experiments:
            raise NotFound("there is no experiment to export")
    return Chosen(sorted(id_ for id_, _ in experiments), sum(trials for _, trials in experiments))


def _some(session: Session, ids: Sequence[int]) -> list[tuple[int, int]]:
    return [(row.id, row.num_trials) for row in experiment.iterate(session, ListExperiments(ids=list(ids)))]


def _project(session: Session, name: str) -> Project:
    """Find a project by its id or as WORKSPACE/PROJECT; both names may have slashes."""
    if name.isdecimal():
        return project.get(session, int(name))
    parts = name.split("/")
    for cut in range(1, len(parts)):
        try:
            owner = workspace.by_name(session, "/".join(parts[:cut]))
            return project.of_workspace(session, owner, "/".join(parts[cut:]))
        except NotFound:
            continue
    raise NotFound(f"there is no project {name!r}; write WORKSPACE/PROJECT, or its id from: det project list WORKSPACE")
