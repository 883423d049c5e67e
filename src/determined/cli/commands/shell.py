"""det shell: a shell on the cluster, by ssh."""

import argparse
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from determined.api import submitted_task as api
from determined.api.session import Session
from determined.cli import environment, render, shell_connection, ssh_process, submitted_tasks, task_ids
from determined.cli.connection import connect
from determined.cli.grammar import OWN_TASKS, arg, command, group
from determined.cli.shell_connection import Connection, Master
from determined.errors import DeterminedError, NotFound
from determined.wire.shell import LaunchShellRequest, Shell

_NOUN = api.SHELL
_ID = arg("task_id", metavar="ID", completes=OWN_TASKS)
_SSH = arg("ssh_words", nargs=argparse.REMAINDER, metavar="SSH", help="options of ssh, or a command; may follow --")
_NEW = "--new"
_WANT_NEW = "-oSetEnv=DET_SHELL_NEW=1"  # read by the server of the shell


def start(args: argparse.Namespace) -> int | None:
    submitted_tasks.require_detached(args, "session")
    session = connect(args, start=True)
    launched = submitted_tasks.launch(session, _NOUN, args, lambda raw: LaunchShellRequest(config=raw))
    if args.detach:
        return None
    submitted_tasks.await_ready(session, _NOUN, launched.task.id)
    shell = _shell(session, launched.task.id)
    if not args.show_ssh_command:
        return _open(session, shell, _words(args))
    _show(session, shell, _words(args))
    return None


def open_shell(args: argparse.Namespace) -> int | None:
    session, words = connect(args), _words(args)
    if words[:1] == [_NEW]:  # typed after the id, where everything belongs to ssh
        args.new, words = True, words[1:]
    shell = _ready(session, args.task_id)
    return _open(session, shell, [_WANT_NEW, *words] if args.new else words, has_words=bool(words))


def show_ssh_command(args: argparse.Namespace) -> None:
    session = connect(args)
    _show(session, _ready(session, args.task_id), _words(args))


def show_by_old_name(args: argparse.Namespace) -> None:
    render.warn("det shell show_ssh_command is now: det shell show-ssh-command")
    show_ssh_command(args)


def ssh_config(args: argparse.Namespace) -> None:
    session = connect(args)
    connection = _keep(session, _ready(session, args.task_id))
    render.raw(connection.host_block())


def _open(session: Session, shell: Shell, words: Sequence[str], *, has_words: bool | None = None) -> int:
    """Run ssh. Its key lies in a directory that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="determined-shell-") as directory:
        connection = shell_connection.prepare(shell, Master.of(session), Path(directory))
        status = ssh_process.run(connection.argv(words, terminal=sys.stdin.isatty() or bool(words)))
    if not (words if has_words is None else has_words):  # after a command this line would be taken for its output
        render.line(f"To reconnect, run: det shell open {shell.id}", style="green")
    return status


def _show(session: Session, shell: Shell, words: Sequence[str]) -> None:
    render.line(shlex.join(_keep(session, shell).argv(words)), style="green")


def _keep(session: Session, shell: Shell) -> Connection:
    cache = environment.cache_dir()
    _forget_ended(session, cache)
    return shell_connection.keep(shell, Master.of(session), cache)


def _forget_ended(session: Session, cache: Path) -> None:
    """Remove the keys of shells that are over."""
    shell_connection.forget([kept for kept in shell_connection.kept(cache) if _has_ended(session, kept)], cache)


def _has_ended(session: Session, shell_id: str) -> bool:
    try:
        return api.get(session, _NOUN, shell_id).end_time is not None
    except NotFound:
        return False  # of another master, which may still run it
    except DeterminedError:
        return False


def _ready(session: Session, task_id: str) -> Shell:
    shell = _shell(session, task_id)
    submitted_tasks.require_alive(shell, f"shell {task_id}")
    if not shell.is_ready:
        submitted_tasks.await_ready(session, _NOUN, shell.id)
    return shell


def _shell(session: Session, task_id: str) -> Shell:
    found = api.get(session, _NOUN, task_id)
    assert isinstance(found, Shell)
    return found


def _words(args: argparse.Namespace) -> list[str]:
    words: list[str] = args.ssh_words
    return words[1:] if words[:1] == ["--"] else words


TREE = task_ids.accepting_short(
    group(
        "shell",
        "manage shells",
        *submitted_tasks.common(_NOUN),
        command(
            "start",
            "start a shell and open it",
            start,
            *submitted_tasks.LAUNCH_ARGS,
            arg("--show-ssh-command", action="store_true", help="print the command of ssh instead of running it"),
            _SSH,
        ),
        command(
            "open",
            "open a shell",
            open_shell,
            arg(_NEW, action="store_true", help="a new terminal, even if one waits whose connection was lost"),
            _ID,
            _SSH,
        ),
        command("show-ssh-command", "print the command of ssh that opens a shell", show_ssh_command, _ID, _SSH),
        command("show_ssh_command", "print the command of ssh (old spelling)", show_by_old_name, _ID, _SSH),
        command("ssh-config", "print the block of an ssh_config for editors and other programs", ssh_config, _ID),
    )
)
