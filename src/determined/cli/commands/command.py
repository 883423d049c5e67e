"""det command: run a program on the cluster, look at such commands, end them."""

import argparse

from determined._json import JsonObject
from determined.api import submitted_task as api
from determined.api import task
from determined.cli import log_follow, render, submitted_tasks, task_ids
from determined.cli.connection import connect
from determined.cli.grammar import OWN_TASKS, UsageError, arg, command, group
from determined.wire.command import LaunchCommandRequest

_NOUN = api.COMMAND


def run(args: argparse.Namespace) -> int | None:
    extra: JsonObject = {"entrypoint": args.entrypoint} if args.entrypoint else {}
    if not args.entrypoint and not args.config_file:
        raise UsageError("name what to run: det command run PROGRAM [ARGUMENT ...]")
    submitted_tasks.require_detached(args, "log of the command")
    session = connect(args, start=True)
    launched = submitted_tasks.launch(session, _NOUN, args, lambda raw: LaunchCommandRequest(config=raw), extra)
    if args.detach:
        return None
    log_follow.follow_task(session, launched.task.id)
    return task.exit_code(session, launched.task.id) if args.propagate_status else None


def describe(args: argparse.Namespace) -> None:
    session = connect(args)
    found = api.get(session, _NOUN, args.task_id)
    if args.json:
        render.structured(submitted_tasks.records_of(session, [found])[0])
    else:
        submitted_tasks.show(session, [found], (), args)


TREE = task_ids.accepting_short(
    group(
        "command cmd",
        "manage commands",
        *submitted_tasks.common(_NOUN),
        command(
            "describe",
            "describe a command",
            describe,
            arg("task_id", metavar="ID", completes=OWN_TASKS),
            render.FORMATS,
        ),
        command(
            "run",
            "run a command",
            run,
            *submitted_tasks.LAUNCH_ARGS,
            arg("--propagate-status", action="store_true", help="exit with the status of the command"),
            arg("entrypoint", nargs=argparse.REMAINDER, metavar="PROGRAM", help="program and its arguments"),
        ),
    )
)
