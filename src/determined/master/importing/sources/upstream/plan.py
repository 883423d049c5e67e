"""Plan of an import: ids of everything that is taken, without what earlier imports have stored."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from determined.errors import InvalidArgument
from determined.master.importing.options import ImportOptions
from determined.master.importing.sources.upstream.reading import experiments, trials, users, workspaces
from determined.master.importing.sources.upstream.source import Source

USERS, WORKSPACES, PROJECTS, EXPERIMENTS = "users", "workspaces", "projects", "experiments"
"""Steps whose ids are kept: a later import takes only others."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of an import; all lists are in order. `only`: trials whose metrics are read; None for all of the source."""

    users: list[int]
    workspaces: list[int]
    projects: list[int]
    experiments: list[int]
    trials: "array[int]"
    workspace_of_project: dict[int, int]
    only: "array[int] | None"
    chosen_workspaces: set[int] | None  # of --only; None: all


def make_plan(source: Source, options: ImportOptions, stored: dict[str, set[int]]) -> Plan:
    """Choose what to take. `stored`: ids by step that earlier imports have brought. Raises InvalidArgument."""
    names = workspaces.names(source)
    chosen = _chosen(names, options.selection.workspaces)
    workspace_ids = sorted(names.values()) if chosen is None else chosen
    of_projects = workspaces.workspaces_of_projects(source)
    project_ids = [project for project, workspace in of_projects.items() if workspace in set(workspace_ids)]
    experiment_ids = _without(experiments.ids(source, options.selection, chosen), stored[EXPERIMENTS])
    trial_ids = trials.ids(source, experiment_ids)
    return Plan(
        users=_without(users.ids(source), stored[USERS]),
        workspaces=_without(workspace_ids, stored[WORKSPACES]),
        projects=_without(project_ids, stored[PROJECTS]),
        experiments=experiment_ids,
        trials=trial_ids,
        workspace_of_project=of_projects,
        only=None if len(trial_ids) == source.value("SELECT count(*) FROM runs") else trial_ids,
        chosen_workspaces=None if chosen is None else set(chosen),
    )


def _chosen(names: dict[str, int], wanted: Sequence[str] | None) -> list[int] | None:
    if wanted is None:
        return None
    by_text = {**{str(id_): id_ for id_ in names.values()}, **names}
    unknown = [text for text in wanted if text not in by_text]
    if unknown:
        raise InvalidArgument(f"--only workspaces={unknown[0]}: the source has {', '.join(sorted(names))}")
    return sorted({by_text[text] for text in wanted})


def _without(ids: Sequence[int], stored: set[int]) -> list[int]:
    return [id_ for id_ in ids if id_ not in stored]
