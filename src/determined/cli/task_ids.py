"""Ids of tasks on the command line: the newest ones, and those that are typed only in part."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from determined.api import cluster
from determined.api import submitted_task as api
from determined.api.session import Session
from determined.cli.connection import connect
from determined.cli.grammar import Command, Group, UsageError
from determined.wire.base import OrderBy
from determined.wire.submitted_task import ListSubmittedTasks, SortTasksBy

_FULL = 36  # characters of an id
_SHORTEST = 8  # fewer may fit by accident
_LOOKED_AT = 5000


def accepting_short(tree: Group) -> Group:
    """Return the commands of a noun such that their `task_id` may be the beginning of an id."""
    return replace(tree, entries=tuple(_accepting(child, tree.names[0]) for child in tree.children))


def newest(session: Session, noun: str, number: int) -> list[tuple[str, str]]:
    """Return ids and names of the newest tasks of a noun; for `task` some of each kind."""
    kinds = [noun] if noun in api.NOUNS else list(api.NOUNS)
    each = number // len(kinds)
    return [one for kind in kinds for one in islice(_listed(session, kind, each), each)]


def expand(session: Session, noun: str, text: str) -> str:
    """Return the only id that begins with `text`; the text itself where none does. Raises UsageError for several."""
    matching = sorted({one for one, _ in islice(_listed(session, noun, 200), _LOOKED_AT) if one.startswith(text)})
    if len(matching) > 1:
        raise UsageError(f"'{text}' may be each of {', '.join(matching[:5])}; type more of the id")
    return matching[0] if matching else text


def _accepting(child: Command | Group, noun: str) -> Command | Group:
    if isinstance(child, Group):
        return replace(child, entries=tuple(_accepting(one, noun) for one in child.children))
    return replace(child, run=_expanding(child.run, noun))


def _expanding(run: Callable[[argparse.Namespace], int | None], noun: str) -> Callable[..., int | None]:
    def expanded(args: argparse.Namespace) -> int | None:
        ids = getattr(args, "task_id", None)
        if isinstance(ids, str):
            [args.task_id] = _expand_all(args, noun, [ids])
        elif ids:
            args.task_id = _expand_all(args, noun, ids)
        return run(args)

    return expanded


def _expand_all(args: argparse.Namespace, noun: str, ids: Sequence[str]) -> list[str]:
    if not any(map(_is_short, ids)):
        return list(ids)
    session = connect(args)
    return [expand(session, noun, one) if _is_short(one) else one for one in ids]


def _is_short(text: str) -> bool:
    return _SHORTEST <= len(text) < _FULL and set(text) <= set("0123456789abcdef-")


def _listed(session: Session, noun: str, page: int) -> Iterator[tuple[str, str]]:
    if noun == "task":
        for found in cluster.tasks(session).values():
            yield str(found.get("task_id")), str(found.get("name") or "")
    for one in [api.NOUNS[noun]] if noun in api.NOUNS else api.NOUNS.values():
        params = ListSubmittedTasks(limit=page, sort_by=SortTasksBy.START_TIME, order_by=OrderBy.DESC)
        for task in api.iterate(session, one, params):
            yield task.id, task.description
