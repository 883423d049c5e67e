"""Templates: configs of which experiments and tasks use the part that is for them. Pure."""

from determined._json import JsonObject
from determined.config.experiment import ROOT, find_violations
from determined.config.experiment_schema import EXPERIMENT
from determined.config.job import GenericTaskConfig, JobConfig
from determined.errors import InvalidConfig
from determined.schema.known_part import known_part
from determined.schema.node import Report
from determined.schema.storable import find_unstorable
from determined.schema.text import check_size

# A task has those of its own request: old templates hold the slots of trials.
_OF_THE_REQUEST = ("slots", "resource_pool")


def check_storable(config: JsonObject) -> None:
    """Refuse what cannot be stored or shown again. Raises InvalidConfig. Unknown keys and wrong types pass."""
    check_size(config)
    violations = [f"{at}: {reason}" for at, reason in find_unstorable(config, ROOT)]
    if violations:
        raise InvalidConfig("the template cannot be stored", violations)


def find_problems(config: JsonObject) -> tuple[list[str], list[str]]:
    """Return violations, as `<config>.path: reason`, and the keys that only tasks have: experiments refuse these."""
    only_tasks = JobConfig.schema.fields.keys() - EXPERIMENT.fields.keys()
    own = {key: value for key, value in config.items() if key not in only_tasks}
    for_tasks = {key: value for key, value in config.items() if key in only_tasks}
    report = Report(complete=False)
    JobConfig.schema.check(JobConfig.canonical(for_tasks), ROOT, report)
    return sorted(find_violations(own, complete=False) + report.violations), list(for_tasks)


def part_for_task(
    kind: type[JobConfig] | type[GenericTaskConfig], template: JsonObject, *, has_program: bool
) -> JsonObject:
    """Return what a template says to a task, canonical. What tasks do not have, slots and the pool are left out.

    Args:
        kind: The config of the task.
        template: As it was stored.
        has_program: The task runs a program of its own and not the entrypoint.

    Raises:
        InvalidConfig: a value of a wrong type.
    """
    part = known_part(kind, kind.canonical(_as_task(template, has_program=has_program)))
    report = Report(complete=False)
    kind.schema.check(part, ROOT, report)
    if report.violations:
        raise InvalidConfig("the template is not a valid task configuration", report.violations)
    return part


def _as_task(template: JsonObject, *, has_program: bool) -> JsonObject:
    entrypoint, resources = template.get("entrypoint"), template.get("resources")
    changed = {key: value for key, value in template.items() if key != "entrypoint"}
    if not has_program and entrypoint is not None:
        changed["entrypoint"] = [entrypoint] if isinstance(entrypoint, str) else entrypoint
    if isinstance(resources, dict):
        changed["resources"] = {key: value for key, value in resources.items() if key not in _OF_THE_REQUEST}
    return changed
