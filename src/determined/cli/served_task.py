"""Pages of notebooks and TensorBoards: where they are, and a browser on them."""

import argparse

from determined.api import submitted_task as api
from determined.api import user
from determined.api.session import Session
from determined.api.submitted_task import Noun
from determined.cli import environment, render, submitted_tasks
from determined.cli.connection import connect
from determined.cli.grammar import arg

NO_BROWSER = arg("--no-browser", action="store_true", help="start no browser")
_PAGE = "/det/tasks/{id}"


def address(session: Session, task_id: str) -> str:
    """Return the address of a task's page, for people who are signed in."""
    return session.master_url + _PAGE.format(id=task_id)


def open_task(args: argparse.Namespace, noun: Noun, title: str) -> None:
    """Wait until a task answers and open it. Raises FailedPrecondition if it has ended."""
    session = connect(args)
    found = api.get(session, noun, args.task_id)
    submitted_tasks.require_alive(found, title)
    if not found.is_ready:
        submitted_tasks.await_ready(session, noun, found.id)
    render.line(address(session, found.id))
    open_browser(session, found.id)


def open_browser(session: Session, task_id: str) -> None:
    """Start a browser that is signed in, where one would be seen."""
    if not environment.has_screen():
        return
    from determined.cli import private_link

    private_link.open_browser(user.page_link(session, _PAGE.format(id=task_id)))
