"""Log lines on the terminal: the filters every log command takes, and following a trial or task to its end."""

import argparse
import contextlib
import itertools
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from determined.api import experiment, task, trial
from determined.api.session import Session
from determined.cli import queue_notice, render
from determined.cli.grammar import Arg, OneOf, UsageError, arg, count, one_of
from determined.errors import MasterNotFound, Unavailable
from determined.wire.base import OrderBy
from determined.wire.codec import to_json
from determined.wire.experiment import ListTrials
from determined.wire.log import LogLevel, LogQuery

_LEVELS = ("TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_PATIENCE_SECONDS = 600.0
_TICK_SECONDS = 0.5
_REOPEN = "To reopen log stream, run:"

LOG_ARGS: tuple[Arg | OneOf, ...] = (
    arg("-f", "--follow", action="store_true", help="follow the log until the task ends"),
    arg("--json", action="store_true", help="print one JSON object a line"),
    one_of(
        arg("--head", type=count, metavar="N", help="only the first N lines"),
        arg("--tail", type=count, metavar="N", help="only the last N lines"),
    ),
    arg("--agent-id", dest="agent_ids", action="append", help="only lines of this agent"),
    arg("--container-id", dest="container_ids", action="append", help="only lines of this container"),
    arg("--rank-id", dest="rank_ids", action="append", type=int, help="only lines of this rank"),
    arg("--timestamp-before", help="only lines before this RFC 3339 time"),
    arg("--timestamp-after", help="only lines after this RFC 3339 time"),
    arg("--level", dest="level", choices=("UNSPECIFIED", *_LEVELS), help="only lines of this level or above"),
    arg("--source", dest="sources", action="append", help="only lines from this source (task, master, agent)"),
    arg("--stdtype", dest="stdtypes", action="append", choices=["stdout", "stderr"], help="only this stream"),
    arg("--search", dest="search_text", help="only lines with this text"),
    arg("--regex", action="store_true", help="--search is a regular expression (RE2)"),
)


class FollowingEnded(KeyboardInterrupt):
    """Ctrl-C that was answered with a line of its own."""

    is_answered = True  # read by main, which imports no command's module


def print_trial(session: Session, trial_id: int, args: argparse.Namespace) -> None:
    reopen, params = f"det trial logs -f {trial_id}", _params(args)
    entries = _lasting(session, args.follow, lambda: trial.logs(session, trial_id, params))
    _print(entries, args, f"Trial log stream ended. {_REOPEN} {reopen}", reopen)


def print_task(session: Session, task_id: str, args: argparse.Namespace) -> None:
    reopen = f"det task logs -f {task_id}"
    params = _params(args)
    params.allocation_ids = args.allocation_ids
    entries = _lasting(session, args.follow, lambda: task.logs(session, task_id, params))
    _print(entries, args, f"Task log stream ended. {_REOPEN} {reopen}", reopen)


def follow_task(session: Session, task_id: str) -> None:
    """Print the log of a task to its end."""
    reopen = f"det task logs -f {task_id}"
    with _interruptible(reopen), queue_notice.of_queue(session, task_id):
        _each(_lasting(session, True, lambda: task.logs(session, task_id, LogQuery(follow=True))), as_json=False)
    render.line(f"Task log stream ended. {_REOPEN} {reopen}", style="green")


def follow_first_trial(session: Session, experiment_id: int) -> int | None:
    """Wait for the first trial, then print its log to the end. Returns the trial's id, None when none came."""
    render.line("Waiting for first trial to begin...")
    with _interruptible(f"det experiment logs -f {experiment_id}"):
        first_trial = _first_trial(session, experiment_id)
    if first_trial is None:
        return None
    render.line(f"Following first trial with ID {first_trial}")
    reopen = f"det trial logs -f {first_trial}"
    with _interruptible(reopen), queue_notice.of_queue(session, str(experiment_id)):
        _each(_lasting(session, True, lambda: trial.logs(session, first_trial, LogQuery(follow=True))), as_json=False)
    return first_trial


def say_ended(trial_id: int) -> None:
    render.line(f"Trial log stream ended. {_REOPEN} det trial logs -f {trial_id}", style="green")


def _lasting(session: Session, follow: bool, opened: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Yield the lines of a stream; a followed one outlives its master's restarts, each line shown once."""
    shown = 0
    while True:
        try:
            for entry in itertools.islice(opened(), shown, None):
                shown += 1
                yield entry
            if not follow or session.answers():
                return
        except (MasterNotFound, Unavailable):
            if not follow:
                raise
        render.warn("The master went away; waiting for it to come back. What runs goes on; Ctrl-C ends the looking")
        _await_return(session)


def _await_return(session: Session) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not session.answers():
        session.look_for_news()  # a master of one's own may come back at another port
        if time.monotonic() > deadline:
            raise MasterNotFound(f"{session.master_url} did not come back; look again once it has")
        time.sleep(0.5)


@contextlib.contextmanager
def _interruptible(reopen: str) -> Iterator[None]:
    """Ctrl-C ends the looking, not what is looked at; it says how to look again."""
    try:
        with _ticking():
            yield
    except KeyboardInterrupt:
        render.line(f"\nIt goes on without you. {_REOPEN} {reopen}", style="green", file=sys.stderr)
        raise FollowingEnded from None


@contextlib.contextmanager
def _ticking() -> Iterator[None]:
    """Wake from a blocking read now and then: a Ctrl-C of the instant before it would else wait for the next line."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _first_trial(session: Session, experiment_id: int) -> int | None:
    while True:
        ids = [t.id for t in experiment.trials(session, experiment_id, ListTrials(limit=1), all_pages=False)]
        if ids:
            return ids[0]
        state = render.state_of(experiment.get(session, experiment_id).state)
        if state in {"COMPLETED", "CANCELED", "ERROR"}:
            render.fail(f"Experiment {experiment_id} ended ({state}) before a trial began")
            return None
        time.sleep(0.1)


def _params(args: argparse.Namespace) -> LogQuery:
    if args.follow and (args.head is not None or args.tail is not None):
        raise UsageError("--follow cannot be combined with --head or --tail")
    return LogQuery(
        follow=args.follow,
        limit=args.head if args.head is not None else args.tail,
        order_by=OrderBy.DESC if args.tail is not None else None,
        agent_ids=args.agent_ids,
        container_ids=args.container_ids,
        rank_ids=args.rank_ids,
        timestamp_before=args.timestamp_before,
        timestamp_after=args.timestamp_after,
        levels=_at_least(args.level),
        sources=args.sources,
        stdtypes=args.stdtypes,
        search_text=args.search_text,
        enable_regex=args.regex,
    )


def _at_least(level: str | None) -> list[LogLevel] | None:
    if level in {None, "UNSPECIFIED"}:
        return None
    return [LogLevel(f"LOG_LEVEL_{name}") for name in _LEVELS[_LEVELS.index(str(level)) :]]


def _print(entries: Iterator[Any], args: argparse.Namespace, ended: str, reopen: str) -> None:
    if not args.follow:
        _each(reversed(list(entries)) if args.tail is not None else entries, args.json)
        return
    with _interruptible(reopen):
        _each(entries, args.json)
    if not args.json:
        render.line(ended, style="green")


def _each(entries: Iterable[Any], as_json: bool) -> None:
    for entry in entries:
        if as_json:
            render.json_line(to_json(entry).decode())
        else:
            render.log(entry.message)
