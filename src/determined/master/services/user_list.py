"""Filtering and sorting the list of users. Pure: the list is short, so it is done on all of it."""

from collections.abc import Callable

from determined.master.services.paging import page
from determined.wire.base import OrderBy
from determined.wire.user import GetUsersRequestSortBy as SortBy
from determined.wire.user import GetUsersResponse, ListUsers, User


def answer(rows: list[User], params: ListUsers) -> GetUsersResponse:
    kept = [user for user in rows if _fits(user, params)]
    key = _KEYS.get(params.sort_by or SortBy.UNSPECIFIED, _by_id)
    kept.sort(key=key, reverse=params.order_by == OrderBy.DESC)
    shown, pagination = page(kept, params.limit, params.offset)
    return GetUsersResponse(users=shown, pagination=pagination)


def _fits(user: User, params: ListUsers) -> bool:
    if params.active is not None and user.active != params.active:
        return False
    if params.admin is not None and user.admin != params.admin:
        return False
    text = (params.name or "").lower()
    return text in user.username.lower() or text in (user.display_name or "").lower()


def _by_id(user: User) -> int:
    return user.id or 0


_KEYS: dict[SortBy, Callable[[User], int | str]] = {
    SortBy.DISPLAY_NAME: lambda user: (user.display_name or "").lower(),
    SortBy.USER_NAME: lambda user: user.username,
    SortBy.NAME: lambda user: (user.display_name or user.username).lower(),
    SortBy.ADMIN: lambda user: user.admin,
    SortBy.ACTIVE: lambda user: user.active,
    SortBy.REMOTE: lambda user: bool(user.remote),
    SortBy.MODIFIED_TIME: lambda user: user.modified_at or "",
    SortBy.LAST_AUTH_TIME: lambda user: user.last_auth_at or "",
}
