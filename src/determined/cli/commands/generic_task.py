"""Commands of `det task` for generic tasks: create, fork, pause, unpause, kill, config."""

import argparse
import json
import sys

from determined.api import generic_task as api
from determined.api import task
from determined.api.session import Session
from determined.cli import environment, log_follow, render
from determined.cli.config_file import config_text
from determined.cli.connection import connect
from determined.cli.context_files import read_files
from determined.cli.grammar import FILES, OWN_TASKS, Command, arg, command, one_of
from determined.wire.generic_task import CreateGenericTaskRequest

_ID = arg("task_id", metavar="ID", completes=OWN_TASKS)
_FOLLOW_OR_JSON = one_of(arg("-f", "--follow", action="store_true", help="follow the log of the task"), render.JSON)
_PROJECT = arg("--project_id", type=int, help="project of the task")


def create(args: argparse.Namespace) -> None:
    files, _ = read_files(args.context, args.include)
    request = CreateGenericTaskRequest(
        config=config_text(args.config_file, args.config, "det task create CONFIG_FILE"),
        context_directory=files,
        forked_from=args.fork,
        inherit_context=args.inherit_context,
        no_pause=args.no_pause,
        parent_id=args.parent,
        project_id=args.project_id,
        template_name=args.template,
    )
    _submit(connect(args, start=True), request, args)


def fork(args: argparse.Namespace) -> None:
    request = CreateGenericTaskRequest(config="", forked_from=args.parent_id, project_id=args.project_id)
    _submit(connect(args), request, args)


def _submit(session: Session, request: CreateGenericTaskRequest, args: argparse.Namespace) -> None:
    request.submitter_python = environment.submitters_python() or sys.executable
    task_id = api.create(session, request)
    if args.json:
        return render.structured(task.get(session, task_id))
    render.line(f"Created task {task_id}")
    if args.follow:
        log_follow.follow_task(session, task_id)
    return None


def kill(args: argparse.Namespace) -> None:
    api.kill(connect(args), args.task_id, from_root=args.root)
    render.line(f"Successfully killed task: {args.task_id}")


def pause(args: argparse.Namespace) -> None:
    api.pause(connect(args), args.task_id)
    render.line(f"Paused task: {args.task_id}")


def unpause(args: argparse.Namespace) -> None:
    api.unpause(connect(args), args.task_id)
    render.line(f"Unpaused task: {args.task_id}")


def config(args: argparse.Namespace) -> None:
    from determined.config import dump_yaml

    submitted = json.loads(api.config(connect(args), args.task_id) or "{}")
    if args.json:
        render.structured(submitted)
    else:
        render.raw(dump_yaml(submitted))


COMMANDS: list[Command] = [
    command(
        "create",
        "create a generic task",
        create,
        arg("config_file", completes=FILES, help="config file (YAML)"),
        arg("-c", "--context", metavar="DIR", help="directory whose files the task gets"),
        arg("-i", "--include", action="append", default=[], metavar="PATH", help="further file or directory to send"),
        _PROJECT,
        arg("--config", action="append", default=[], metavar="KEY=VALUE", help="set a field of the config"),
        arg("--template", completes="template", help="template under the config"),
        _FOLLOW_OR_JSON,
        arg("--fork", metavar="ID", help="start from the config and files of this task"),
        arg("-p", "--parent", metavar="ID", help="task that this one is killed and paused with"),
        arg("--inherit_context", action="store_true", help="take the files of the parent"),
        arg("--no_pause", action="store_true", help="refuse to be paused"),
    ),
    command("config", "show the config of a generic task", config, _ID, render.JSON),
    command(
        "fork",
        "start a generic task again, as another one",
        fork,
        arg("parent_id", metavar="ID", help="task to start again"),
        _FOLLOW_OR_JSON,
        _PROJECT,
    ),
    command(
        "kill",
        "kill a generic task and its descendants",
        kill,
        _ID,
        arg("--root", action="store_true", help="from its topmost ancestor on"),
    ),
    command("pause", "pause a generic task and its descendants", pause, _ID),
    command("unpause", "start a paused generic task again", unpause, _ID),
]
