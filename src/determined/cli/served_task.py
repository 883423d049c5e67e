"""Pages of notebooks and TensorBoards: where they are, and a browser on them."""

import argparse
from collections.abc import Callable

from determined.api import submitted_task as api
from determined.api import user
from determined.api.session import Session
from determined.api.submitted_task import Noun
from determined.cli import environment, own_masters, render, submitted_tasks
from determined.cli.connection import connect
from determined.cli.grammar import OWN_TASKS, Command, arg, command
from determined.wire.submitted_task import SubmittedTask
from determined.wire.task_share import SHARE_TASK, UNSHARE_TASK

NO_BROWSER = arg("--no-browser", action="store_true", help="start no browser")
_PAGE = "/det/tasks/{id}"
_ID = arg("task_id", metavar="ID", completes=OWN_TASKS)


def address(session: Session, task_id: str) -> str:
    """Return the address of a task's page, for people who are signed in."""
    return session.master_url + _PAGE.format(id=task_id)


def say_address(session: Session, noun: Noun, task_id: str, words: str) -> None:
    """Print where the page is; on the embedded master also the command that opens it signed in."""
    render.line(f"{words} {address(session, task_id)}", style="green")
    own_masters.say_sign_in(session.master_url, f"det {noun.name} open {task_id}")


def show_launched(
    session: Session,
    noun: Noun,
    task_id: str,
    args: argparse.Namespace,
    words: str,
    say_more: Callable[[Session, SubmittedTask], None] | None = None,
) -> None:
    """Wait until a task that was launched answers, say where its page is and open it; with --json print the task.

    `say_more` prints what else people need to know of it.
    """
    if args.detach:
        return
    task = submitted_tasks.await_ready(session, noun, task_id)
    if args.json:
        return print_json(session, task)
    say_address(session, noun, task.id, words)
    if say_more is not None:
        say_more(session, task)
    if not args.no_browser:
        open_browser(session, task.id)


def open_task(args: argparse.Namespace, noun: Noun, title: str) -> None:
    """Wait until a task answers and open it. Raises FailedPrecondition if it has ended."""
    session = connect(args)
    task = api.get(session, noun, args.task_id)
    submitted_tasks.require_alive(task, title)
    if not task.is_ready:
        submitted_tasks.await_ready(session, noun, task.id)
    if args.json:
        return print_json(session, task)
    render.line(address(session, task.id))
    return open_browser(session, task.id)


def print_json(session: Session, task: SubmittedTask) -> None:
    """Print a task with the address of its page."""
    submitted_tasks.print_json(session, task, address=address(session, task.id))


def share_commands(noun: Noun) -> list[Command]:
    """Return the commands that make and withdraw a link to a task's page."""
    return [
        command("share", f"make a link to a {noun.name} for others", lambda args: _share(noun, args), _ID, render.JSON),
        command("unshare", f"withdraw the link to a {noun.name}", lambda args: _unshare(noun, args), _ID),
    ]


def _share(noun: Noun, args: argparse.Namespace) -> None:
    session = connect(args)
    link = session.master_url + session.call(SHARE_TASK, task_id=args.task_id).address
    if args.json:
        render.structured({"id": args.task_id, "address": link})
    else:
        render.line(link)
    render.warn(
        f"Whoever has this link uses the {noun.name} as you do, without a login. It ends with the {noun.name}, or with:"
    )
    render.warn(f"  det {noun.name} unshare {args.task_id}")


def _unshare(noun: Noun, args: argparse.Namespace) -> None:
    connect(args).call(UNSHARE_TASK, task_id=args.task_id)
    render.line(f"Withdrew the link to {noun.name} {args.task_id}")


def open_browser(session: Session, task_id: str) -> None:
    """Start a browser that is signed in, where one would be seen."""
    if not environment.has_screen():
        return
    from determined.cli import private_link

    private_link.open_browser(user.page_link(session, _PAGE.format(id=task_id)))
