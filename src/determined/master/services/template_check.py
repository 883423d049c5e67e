"""Check of a template for whoever writes it; nothing is stored."""

import asyncio

from determined._json import JsonObject
from determined.config import dump_yaml, masked_places, parse_yaml
from determined.config.templates import check_storable, find_problems
from determined.errors import InvalidConfig
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.services.config_problems import problems_of
from determined.schema.text import check_size
from determined.schema.yaml_lines import lines_of
from determined.wire.dry_run import Problem
from determined.wire.template import CheckTemplateRequest, CheckTemplateResponse


async def check(ctx: MasterContext, caller: Caller, request: CheckTemplateRequest) -> CheckTemplateResponse:
    """Answer also for a faulty config: its problems are the answer."""
    async with ctx.config_turns.take(caller.user_id):
        return await asyncio.to_thread(_check, request)


def _check(request: CheckTemplateRequest) -> CheckTemplateResponse:
    try:
        text = _text(request.config)
    except RecursionError:
        return _faulty("", [Problem(path="", message="the config is nested too deeply; flatten it")])
    except InvalidConfig as e:
        return _faulty("", [Problem(path="", message=e.message)])
    lines = lines_of(text)
    try:
        config = parse_yaml(text)
        check_storable(config)
    except InvalidConfig as e:
        return _faulty(text, problems_of(e, "", {}, lines))
    violations, for_tasks = find_problems(config)
    error = InvalidConfig("", violations)
    problems = problems_of(error, "", config, lines) if violations else []
    return CheckTemplateResponse(text=text, problems=problems, warnings=_warnings(config, for_tasks), config=config)


def _text(config: str | JsonObject | None) -> str:
    check_size(config)
    return dump_yaml(config) if isinstance(config, dict) else config or ""


def _faulty(text: str, problems: list[Problem]) -> CheckTemplateResponse:
    return CheckTemplateResponse(text=text, problems=problems)


def _warnings(config: JsonObject, for_tasks: list[str]) -> list[str]:
    warnings = []
    if for_tasks:
        warnings.append(f"{', '.join(for_tasks)}: only for tasks; an experiment with this template is refused")
    if places := masked_places(config):
        warnings.append(f"{', '.join(places)}: masked; a template that has a secret there keeps it")
    return warnings
