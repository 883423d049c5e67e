"""det template: parts of configs that experiments and tasks share, kept on the master."""

import argparse
import sys
from pathlib import Path
from typing import Any

from determined._json import JsonObject
from determined.api import template, workspace
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import FILES, UsageError, arg, command, group
from determined.errors import InvalidConfig
from determined.wire.template import Template
from determined.wire.workspace import ListWorkspaces

_NAME = arg("template_name", completes="template", help="template name")
_FILE = arg("template_file", completes=FILES, help="config template file (YAML); - reads the standard input")


def list_templates(args: argparse.Namespace) -> None:
    session = connect(args)
    listed = list(template.iterate(session))
    names = {one.id: one.name for one in workspace.iterate(session, ListWorkspaces())}
    headers = ["name", "workspace", *(["config"] if args.details else [])]
    rows = [_row(one, names, details=args.details) for one in listed]
    render.rows(headers, rows, args=args, data=listed)


def describe(args: argparse.Namespace) -> None:
    from determined.config import dump_yaml

    found = template.get(connect(args), args.template_name)
    if args.json:
        render.structured(found)
    else:
        render.raw(dump_yaml(found.config))


def create(args: argparse.Namespace) -> None:
    config, session = _read(args.template_file), connect(args, start=True)
    place = workspace.by_name(session, args.workspace_name).id if args.workspace_name else None
    _say("Created", template.create(session, args.template_name, config, place), args)
    _warn(config)


def set_config(args: argparse.Namespace) -> None:
    config = _read(args.template_file)
    _say("Updated", template.replace_config(connect(args), args.template_name, config), args)
    _warn(config)


def set_template(args: argparse.Namespace) -> None:
    render.warn("det template set is deprecated; use: det template create, det template set-value config")
    config = _read(args.template_file)
    _say("Set", template.put(connect(args, start=True), args.template_name, config), args)
    _warn(config)


def set_name(args: argparse.Namespace) -> None:
    _say("Updated", template.rename(connect(args), args.template_name, args.new_name), args)


def set_workspace(args: argparse.Namespace) -> None:
    session = connect(args)
    template.get(session, args.template_name)  # else one would be created
    place = workspace.by_name(session, args.workspace_name).id
    _say("Updated", template.put(session, args.template_name, workspace_id=place), args)


def remove(args: argparse.Namespace) -> None:
    template.delete(connect(args), args.template_name)
    render.line(f"Removed template {args.template_name}", style="green")


def _row(one: Template, workspaces: dict[int, str], *, details: bool) -> list[Any]:
    place = workspaces.get(one.workspace_id, "missing workspace")
    return [one.name, place, one.config] if details else [one.name, place]


def _say(verb: str, changed: Template, args: argparse.Namespace) -> None:
    if args.json:
        render.structured(changed)
    else:
        render.line(f"{verb} template {changed.name}", style="green")


def _read(path: str) -> JsonObject:
    from determined.config import parse_yaml

    if path != "-" and (Path(path).is_dir() or not Path(path).exists()):  # a pipe will do: `<(...)`
        raise UsageError(f"template file '{path}' does not exist or is a directory; name a YAML file")
    try:
        return parse_yaml(sys.stdin.read() if path == "-" else Path(path).read_text())
    except UnicodeDecodeError as e:
        raise InvalidConfig(f"template file '{path}' is not UTF-8 text ({e})") from e


def _warn(config: JsonObject) -> None:
    """Name what experiments will refuse: the master keeps a template as it is."""
    from determined.config.templates import find_problems

    violations, for_tasks = find_problems(config)
    for text in violations:
        render.warn(f"Warning: {text}")
    if for_tasks:
        render.warn(f"Warning: {', '.join(for_tasks)}: only for tasks; an experiment with this template is refused")


TREE = group(
    "template tpl",
    "manage config templates",
    command(
        "list ls",
        "list config templates",
        list_templates,
        arg("-d", "--details", action="store_true", help="show the configs of the templates"),
        render.FORMATS,
        default=True,
    ),
    command("describe", "describe config template", describe, _NAME, render.JSON),
    command(
        "create",
        "create config template",
        create,
        _NAME,
        _FILE,
        arg("-w", "--workspace-name", help="workspace"),
        render.JSON,
    ),
    command("set", "set config template", set_template, _NAME, _FILE, render.JSON),
    group(
        "set-value",
        "set template attributes",
        command("config", "update config template", set_config, _NAME, _FILE, render.JSON),
        command("name", "rename config template", set_name, _NAME, arg("new_name", help="the new name"), render.JSON),
        command(
            "workspace",
            "move config template",
            set_workspace,
            _NAME,
            arg("workspace_name", help="the new workspace"),
            render.JSON,
        ),
    ),
    command("remove rm", "remove config template", remove, _NAME),
)
