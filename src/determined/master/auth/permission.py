"""The permission table: who may call an operation. Every route names its row: `@serve(GET_TRIAL, ANY_USER)`.

The guard enforces what needs no look at the data, and compares the ids of a path with those of a task. Services enforce
who owns what. A task may do only what names tasks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

KEY = "permission"


class Who(StrEnum):
    """A kind of caller. The text is shown in the OpenAPI and in docs/rest-api.md."""

    PUBLIC = "public"
    USER = "any user"
    OWNER = "owner or administrator"
    OWNER_OF_EACH = "owner or administrator, item by item"
    ADMIN = "administrator"
    ALLOCATION = "task of that allocation"
    TRIAL = "task of that trial"
    EXPERIMENT = "task of that experiment"
    ITSELF = "the task itself"
    TASK = "any task"


TASKS = frozenset({Who.ALLOCATION, Who.TRIAL, Who.EXPERIMENT, Who.ITSELF, Who.TASK})
USERS = frozenset({Who.USER, Who.OWNER, Who.OWNER_OF_EACH, Who.ADMIN})


@dataclass(frozen=True, slots=True)
class Permission:
    """`note`: what parts of the operation ask for more. `reporting`: also open to a task that has ended.

    `by_handler`: the handler itself finds out who calls, by credentials that the guard does not know.
    """

    who: tuple[Who, ...]
    note: str = ""
    reporting: bool = False
    by_handler: bool = False

    @property
    def text(self) -> str:
        return ", ".join(self.who) + (f" ({self.note})" if self.note else "")

    @property
    def public(self) -> bool:
        return Who.PUBLIC in self.who


Row = dict[str, Any]  # as Litestar takes it


def allow(*who: Who) -> Row:
    return {KEY: Permission(who)}


def noted(row: Row, note: str) -> Row:
    return {KEY: replace(row[KEY], note=note)}


PUBLIC = allow(Who.PUBLIC)
ANY_USER = allow(Who.USER)
OWNER = allow(Who.OWNER)
OWNER_OF_EACH = allow(Who.OWNER_OF_EACH)
ADMIN = allow(Who.ADMIN)
# What a task asks of and says to its master.
OWN_ALLOCATION = allow(Who.ALLOCATION)
# Journals are delivered after the end of the allocation, too.
OWN_REPORTS = {KEY: Permission((Who.ALLOCATION,), reporting=True)}
USER_OR_ALLOCATION = allow(Who.USER, Who.ALLOCATION)
USER_OR_EXPERIMENT = allow(Who.USER, Who.EXPERIMENT)
OWNER_OR_EXPERIMENT = allow(Who.OWNER, Who.EXPERIMENT)
OWNER_OR_TRIAL = allow(Who.OWNER, Who.TRIAL)
# What a task of one's own says of itself.
OWNER_OR_TASK_ITSELF = allow(Who.OWNER, Who.ITSELF)
# A training registers its own checkpoints.
USER_OR_TRIAL = allow(Who.USER, Who.TRIAL)
# Checkpoints and model versions are read by warm starts, inference and fine-tuning of other experiments, known by their
# uuid or name alone.
USER_OR_TASK = allow(Who.USER, Who.TASK)
# What tasks serve: by a token, or by the app's own; master/proxy/access.py.
PROXIED = {KEY: Permission((Who.OWNER,), by_handler=True)}


def permission_of(options: Mapping[str, Any]) -> Permission | None:
    """Return the row in the `opt` of a handler."""
    permission = options.get(KEY)
    return permission if isinstance(permission, Permission) else None
