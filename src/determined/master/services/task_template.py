"""The template of a submitted task: which part of it the task gets."""

import asyncio

from determined._json import JsonObject
from determined.config.job import GenericTaskConfig, JobConfig
from determined.config.task_kinds import GENERIC, TaskKind
from determined.config.template_paths import paths_from_template
from determined.config.templates import part_for_task
from determined.errors import InvalidConfig
from determined.master.context import MasterContext
from determined.master.services import template as templates


async def part(ctx: MasterContext, kind: TaskKind, name: str | None) -> JsonObject | None:
    """Return what the named template says to a task of a kind; None where no template is named.

    Raises:
        NotFound: there is no such template.
        InvalidConfig: a value of a wrong type; names the template.
    """
    config = await templates.config_of(ctx, name)
    return None if config is None else await asyncio.to_thread(_part, kind, name or "", config)


def places(kind: type[JobConfig], raw: JsonObject, template: JsonObject | None) -> list[str] | None:
    """List the places of a task's config that have what its template says; None where it has no template."""
    if template is None:
        return None
    user = kind.canonical(raw)
    return paths_from_template(user, template, kind.merge(user, template))


def _part(kind: TaskKind, name: str, config: JsonObject) -> JsonObject:
    section = GenericTaskConfig if kind is GENERIC else JobConfig
    try:
        return part_for_task(section, config, has_program=bool(kind.program))
    except InvalidConfig as e:
        raise InvalidConfig(f"template '{name}' is not a valid task configuration", e.violations) from None
