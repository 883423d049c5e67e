"""Codes of one-time links that open the web page signed in: one minute, once, kept in memory as digests.

A restart of the master voids them. Pure: time comes in as an argument.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from determined.master.auth.session_token import digest, new_token

LINK_LIFETIME = timedelta(seconds=60)
_PENDING = 1_000  # beyond this the oldest is forgotten, so that asking for links cannot fill the memory


@dataclass(frozen=True, slots=True)
class PendingLink:
    """`session_id`: the login or access token that asked for it; the link is worth no more than that."""

    user_id: int
    session_id: int
    expires_at: datetime


class LoginLinks:
    def __init__(self) -> None:
        self._pending: OrderedDict[str, PendingLink] = OrderedDict()

    def issue(self, user_id: int, session_id: int, now: datetime) -> str:
        code = new_token()
        self._pending[digest(code)] = PendingLink(user_id, session_id, now + LINK_LIFETIME)
        if len(self._pending) > _PENDING:
            self._pending.popitem(last=False)
        return code

    def redeem(self, code: str, now: datetime) -> PendingLink | None:
        """Spend the code and return its link; None for a code that is unknown, used or too old."""
        pending = self._pending.pop(digest(code), None)
        return pending if pending is not None and now < pending.expires_at else None
