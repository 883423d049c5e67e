"""Sub-commands that commands, notebooks, shells and TensorBoards have in common, and how they are started."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from determined._json import JsonObject
from determined.api import submitted_task as api
from determined.api import user, workspace
from determined.api.session import Session
from determined.api.submitted_task import Launched, Noun
from determined.cli import environment, log_follow, queue_notice, render
from determined.cli.config_file import config_text
from determined.cli.connection import connect
from determined.cli.context_files import JSON_GROWTH, read_files
from determined.cli.grammar import OWN_TASKS, Arg, Command, Group, UsageError, arg, command, group
from determined.errors import DeterminedError, FailedPrecondition
from determined.wire.allocation import AllocationState
from determined.wire.submitted_task import LaunchRequest, ListSubmittedTasks, SubmittedTask
from determined.wire.workspace import ListWorkspaces

_READY_SECONDS = 30 * 60
_LOOK_SECONDS = 0.3
_NO_ERROR = "allocation exited successfully"

# Options of every command that starts one.
LAUNCH_ARGS: tuple[Arg, ...] = (
    arg("--config-file", metavar="FILE", help="config file (YAML)"),
    arg("-v", "--volume", action="append", default=[], metavar="HOST:PATH", help="mount a directory of the node"),
    arg("-c", "--context", metavar="DIR", help="directory whose files the task gets"),
    arg("-i", "--include", action="append", default=[], metavar="PATH", help="further file or directory to send"),
    arg("-w", "--workspace-name", help="workspace"),
    arg("--config", action="append", default=[], metavar="KEY=VALUE", help="set a field of the config"),
    arg("--template", completes="template", help="template under the config"),
    arg("-d", "--detach", action="store_true", help="only start it and print its id"),
    render.JSON,
)
_ID = arg("task_id", metavar="ID", completes=OWN_TASKS)


def common(noun: Noun, more: Sequence[str] = ()) -> list[Command | Group]:
    """Return list, config, logs, kill and set of a noun. `more`: further fields of the list."""
    plural = f"{noun.name}s"
    return [
        command(
            "list ls",
            f"list {plural}",
            lambda args: _list(noun, more, args),
            arg("-q", "--quiet", action="store_true", help="print ids only"),
            arg("-a", "--all", action="store_true", help="also those of other users"),
            arg("-w", "--workspace-name", help="only of this workspace"),
            render.FORMATS,
            default=True,
        ),
        command("config", f"show the config of a {noun.name}", lambda args: _config(noun, args), _ID, _JSON),
        command(
            "logs",
            f"fetch the logs of a {noun.name}",
            lambda args: log_follow.print_task(connect(args), args.task_id, args),
            _ID,
            *log_follow.LOG_ARGS,
            arg("--allocation-id", dest="allocation_ids", action="append", help="only lines of this allocation"),
        ),
        command(
            "kill",
            f"kill {plural}",
            lambda args: _kill(noun, args),
            arg("task_id", metavar="ID", completes=OWN_TASKS, nargs="+"),
            arg("-f", "--force", action="store_true", help="go on after an error"),
        ),
        group(
            "set",
            f"change a {noun.name}",
            command(
                "priority",
                f"set the priority of a {noun.name}",
                lambda args: _set_priority(noun, args),
                _ID,
                arg("priority", type=int),
            ),
        ),
    ]


def launch(
    session: Session,
    noun: Noun,
    args: argparse.Namespace,
    make: Callable[[JsonObject], LaunchRequest],
    extra: JsonObject | None = None,
) -> Launched:
    """Read config and files, submit them, and say what came of it. `make` builds the request of the noun's own type."""
    _require_context(args.context)
    request = make(read_config(args, extra or {}))
    request.template_name = args.template
    request.files, size = read_files(args.context, args.include)
    request.workspace_id = workspace.by_name(session, args.workspace_name).id if args.workspace_name else None
    request.submitter_python = environment.submitters_python() or sys.executable
    with render.Progress("Sending files", int(size * JSON_GROWTH)) as bar:
        launched = api.launch(session, noun, request, sending=bar.advance if bar.shown else None)
    for text in launched.messages:
        render.warn(f"Warning: {text}")
    _say_launched(session, noun, launched.task, args)
    return launched


def require_detached(args: argparse.Namespace, what: str) -> None:
    """Raise UsageError for --json of a command whose standard output shows something else (`what`)."""
    if args.json and not args.detach:
        raise UsageError(f"--json prints the task, and standard output is for the {what}; add --detach")


def print_json(session: Session, task: SubmittedTask, **more: str) -> None:
    """Print a task as the lists do with --json, without its private key."""
    [record] = records_of(session, [task])
    record.pop("privateKey", None)
    render.structured({**record, **more})


def _say_launched(session: Session, noun: Noun, task: SubmittedTask, args: argparse.Namespace) -> None:
    launched = f"Launched {noun.name} (id: {task.id}, name: {task.description})."
    if args.detach and args.json:
        print_json(session, task)
    elif args.detach:
        render.line(task.id)
    else:
        render.line(launched, style="green", file=sys.stderr if args.json else None)


def _require_context(directory: str | None) -> None:
    """Require that the context directory is there. Scripts written for upstream look for these words."""
    if directory is not None and not Path(directory).exists():
        raise UsageError(f"context directory '{directory}' doesn't exist; name a directory on this machine")


def read_config(args: argparse.Namespace, extra: JsonObject) -> JsonObject:
    """Return the config of the file, with --config over it and volumes added; `extra` is laid under the file's."""
    from determined.config import apply_overrides, parse_yaml

    raw = parse_yaml(config_text(args.config_file, [])) if args.config_file else {}
    raw = apply_overrides({**extra, **raw}, args.config)
    mounts = [_bind_mount(text) for text in getattr(args, "volume", [])]
    return {**raw, "bind_mounts": [*(raw.get("bind_mounts") or []), *mounts]} if mounts else raw


def await_ready(session: Session, noun: Noun, task_id: str) -> SubmittedTask:
    """Wait until the service of a task answers. Raises FailedPrecondition if it ends before that."""
    deadline = time.monotonic() + _READY_SECONDS
    with render.Waiting(f"Waiting for {noun.name} to become ready") as waiting:
        notices = queue_notice.StartNotices(session, task_id, waiting)
        found = api.get(session, noun, task_id)
        while not found.is_ready and found.end_time is None and time.monotonic() < deadline:
            notices.look(is_queued=found.state == AllocationState.QUEUED)
            time.sleep(_LOOK_SECONDS)
            found = api.get(session, noun, task_id)
    logs = f"see: det {noun.name} logs {task_id}"
    if found.end_time is not None:
        render.fail("Waiting stopped: task has been terminated.")
        raise FailedPrecondition(f"{noun.name} {task_id} has ended: {_ending(found)}; {logs}")
    if not found.is_ready:
        raise FailedPrecondition(f"{noun.name} {task_id} is not ready after 30 minutes; {logs}")
    render.line(f"{noun.name} (id: {task_id}) is ready.", file=sys.stderr)
    return found


def _ending(found: SubmittedTask) -> str:
    """Return how a task ended that was never ready. The wire says of one that was killed that it succeeded."""
    return "it was killed or left before it was ready" if found.exit_status == _NO_ERROR else str(found.exit_status)


def require_alive(found: SubmittedTask, what: str) -> None:
    """Raise FailedPrecondition for a task that has ended; `what` begins the sentence."""
    if found.end_time is not None:
        raise FailedPrecondition(f"{what} has ended; start another one")


def show(session: Session, tasks: Sequence[SubmittedTask], more: Sequence[str], args: Any) -> None:
    """Print a table of tasks, or what --json and --csv ask for. Headers are the fields' names on the wire."""
    fields = ["id", "username", "description", "state", *more, "exitStatus", "resourcePool", "workspaceName"]
    records = records_of(session, tasks)
    rows = [["N/A" if one.get(name) in (None, "", []) else one[name] for name in fields] for one in records]
    render.rows(fields, rows, args=args, data=records)


def records_of(session: Session, tasks: Sequence[SubmittedTask]) -> list[JsonObject]:
    """Return tasks as people see them: states without prefix, and the names of their workspaces."""
    names = {one.id: one.name for one in workspace.iterate(session, ListWorkspaces())}
    records: list[JsonObject] = [msgspec.to_builtins(one) for one in tasks]
    for record, one in zip(records, tasks, strict=True):
        record["state"] = render.state_of(one.state)
        record["workspaceName"] = names.get(one.workspace_id, f"missing workspace id {one.workspace_id}")
    return records


_JSON = arg("--json", action="store_true", help="print JSON instead of YAML")


def _list(noun: Noun, more: Sequence[str], args: argparse.Namespace) -> None:
    session = connect(args)
    params = ListSubmittedTasks(users=None if args.all else [user.me(session).username])
    if args.workspace_name:
        params.workspace_id = workspace.by_name(session, args.workspace_name).id
    found = list(api.iterate(session, noun, params))
    if args.quiet:
        for one in found:
            render.line(one.id)
        return
    show(session, found, more, args)


def _config(noun: Noun, args: argparse.Namespace) -> None:
    from determined.config import dump_yaml

    found = api.config(connect(args), noun, args.task_id)
    if args.json:
        render.structured(found)
    else:
        render.raw(dump_yaml(found))


def _kill(noun: Noun, args: argparse.Namespace) -> None:
    session = connect(args)
    for place, task_id in enumerate(args.task_id):
        try:
            api.kill(session, noun, task_id)
        except DeterminedError as e:
            _skip(e, args.task_id[place + 1 :], force=args.force)
            continue
        render.line(f"Killed {noun.name} {task_id}", style="green")


def _skip(error: DeterminedError, left: Sequence[str], *, force: bool) -> None:
    """Go on after an error with --force; else name what is left alone and raise it."""
    if force:
        render.fail(f"Skipping: {error.message} ({type(error).__name__})")
        return
    for task_id in left:
        render.line(f"Cowardly not killing {task_id}", file=sys.stderr)
    raise error


def _set_priority(noun: Noun, args: argparse.Namespace) -> None:
    api.set_priority(connect(args), noun, args.task_id, args.priority)
    render.line(f"Set priority of {noun.name} {args.task_id} to {args.priority}", style="green")


def _bind_mount(text: str) -> JsonObject:
    host, colon, inside = text.partition(":")
    if not colon or not host or not inside:
        raise UsageError(f"could not read volume option {text!r}; write HOST_PATH:PATH_IN_TASK")
    return {"host_path": host, "container_path": inside}
