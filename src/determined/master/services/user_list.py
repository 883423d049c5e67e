"""Filtering and sorting the list of users. Pure: the list is short, so it is done on all of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from determined.master.services.paging import page
from determined.wire.base import OrderBy
from determined.wire.user import GetUsersRequestSortBy as SortBy
from determined.wire.user import GetUsersResponse, User


@dataclass(frozen=True, slots=True)
class UserQuery:
    name: str | None = None
    active: bool | None = None
    admin: bool | None = None
    order_by: OrderBy | None = None
    sort_by: SortBy | None = None


def answer(rows: list[User], query: UserQuery, limit: int | None, offset: int | None) -> GetUsersResponse:
    kept = [user for user in rows if _fits(user, query)]
    key = _KEYS.get(query.sort_by or SortBy.UNSPECIFIED, _by_id)
    kept.sort(key=key, reverse=query.order_by == OrderBy.DESC)
    shown, pagination = page(kept, limit, offset)
    return GetUsersResponse(users=shown, pagination=pagination)


def _fits(user: User, query: UserQuery) -> bool:
    if query.active is not None and user.active != query.active:
        return False
    if query.admin is not None and user.admin != query.admin:
        return False
    text = (query.name or "").lower()
    return text in user.username.lower() or text in (user.display_name or "").lower()


def _by_id(user: User) -> Any:
    return user.id


_KEYS: dict[SortBy, Callable[[User], Any]] = {
    SortBy.DISPLAY_NAME: lambda user: (user.display_name or "").lower(),
    SortBy.USER_NAME: lambda user: user.username,
    SortBy.NAME: lambda user: (user.display_name or user.username).lower(),
    SortBy.ADMIN: lambda user: user.admin,
    SortBy.ACTIVE: lambda user: user.active,
    SortBy.REMOTE: lambda user: bool(user.remote),
    SortBy.MODIFIED_TIME: lambda user: user.modified_at or "",
    SortBy.LAST_AUTH_TIME: lambda user: user.last_auth_at or "",
}
