"""det project: create, list, describe, edit, archive, delete."""

import argparse
from typing import Any

from determined.api import experiment, project, workspace
from determined.api.session import Session
from determined.cli import deletion, render
from determined.cli.connection import connect
from determined.cli.grammar import Command, UsageError, arg, command, group
from determined.cli.sort_flags import ORDER, ordered
from determined.wire.experiment import ListExperiments
from determined.wire.project import PatchProject, PostProjectRequest, Project
from determined.wire.workspace import ListProjects

_WORKSPACE = arg("workspace_name", help="workspace")
_PROJECT = arg("project_name", help="project")
_HEADERS = ["ID", "Name", "Description", "# Experiments", "# Active Experiments", "Archived"]


def list_projects(args: argparse.Namespace) -> None:
    session = connect(args)
    owner = workspace.by_name(session, args.workspace_name)
    projects = list(workspace.projects(session, owner.id, ordered(args, ListProjects())))
    render.rows(_HEADERS, [_row(p) for p in projects], args=args, data=projects)


def list_experiments(args: argparse.Namespace) -> None:
    session = connect(args)
    row = project.by_name(session, args.workspace_name, args.project_name)
    _print_experiments(session, row.id, args)


def _print_experiments(session: Session, project_id: int, args: argparse.Namespace) -> None:
    params = ListExperiments(project_id=project_id, archived=None if args.all else False)
    listed = list(experiment.iterate(session, ordered(args, params)))
    headers = ["ID", "Owner", "Name", "State", "Progress", "Started", "Ended"]
    rows = [
        [
            e.id,
            e.username,
            e.name,
            render.state_of(e.state),
            render.percent(e.progress),
            render.time_of(e.start_time),
            render.time_of(e.end_time),
        ]
        for e in listed
    ]
    render.rows(headers, rows, args=args, data=listed)


def create(args: argparse.Namespace) -> None:
    session = connect(args)
    owner = workspace.by_name(session, args.workspace_name)
    request = PostProjectRequest(
        name=args.name, workspace_id=owner.id, description=args.description or "", key=args.key
    )
    _show(project.create(session, request), args)


def describe(args: argparse.Namespace) -> None:
    session = connect(args)
    row = project.by_name(session, args.workspace_name, args.project_name)
    _show(row, args)
    if not args.json:
        render.line("\nExperiments", style="bold")
        _print_experiments(session, row.id, args)


def edit(args: argparse.Namespace) -> None:
    session = connect(args)
    changes = PatchProject(name=args.new_name, description=args.description, key=args.key)
    if changes == PatchProject():
        raise UsageError("nothing to change; give --new_name, --description or --key")
    row = project.by_name(session, args.workspace_name, args.project_name)
    _show(project.patch(session, row.id, changes), args)


def delete(args: argparse.Namespace) -> int | None:
    session = connect(args)
    row = project.by_name(session, args.workspace_name, args.project_name)
    content = f"{row.num_experiments} experiment(s), with all checkpoints"
    return deletion.delete("project", row.name, content, lambda: project.delete(session, row.id), is_confirmed=args.yes)


def verb(name: str) -> Command:
    def run(args: argparse.Namespace) -> None:
        session = connect(args)
        project.act(session, project.by_name(session, args.workspace_name, args.project_name).id, name)
        render.line(f"{name.capitalize()}d project {args.project_name}")

    return command(name, f"{name} project", run, _WORKSPACE, _PROJECT)


def _show(row: Project, args: argparse.Namespace) -> None:
    if args.json:
        render.structured(row)
        return
    render.table(_HEADERS, [_row(row)])


def _row(p: Project) -> list[Any]:
    return [p.id, p.name, p.description, p.num_experiments, p.num_active_experiments, p.archived]


TREE = group(
    "project p",
    "manage projects",
    command(
        "list ls",
        "list projects",
        list_projects,
        _WORKSPACE,
        *ORDER,
        render.FORMATS,
    ),
    command(
        "list-experiments",
        "list experiments of project",
        list_experiments,
        _WORKSPACE,
        _PROJECT,
        arg("-a", "--all", action="store_true", help="also archived ones"),
        *ORDER,
        render.FORMATS,
    ),
    command(
        "create",
        "create project",
        create,
        _WORKSPACE,
        arg("name"),
        arg("--description"),
        arg("--key", help="short key used in links"),
        render.JSON,
    ),
    command(
        "describe",
        "describe project",
        describe,
        _WORKSPACE,
        _PROJECT,
        arg("-a", "--all", action="store_true", help="also archived experiments"),
        render.JSON,
    ),
    command(
        "edit",
        "edit project",
        edit,
        _WORKSPACE,
        _PROJECT,
        arg("--new_name", "--new-name"),
        arg("--description"),
        arg("--key"),
        render.JSON,
    ),
    command(
        "delete", "delete project", delete, _WORKSPACE, _PROJECT, arg("--yes", action="store_true", help="do not ask")
    ),
    verb("archive"),
    verb("unarchive"),
)
