"""Way of a browser from the master's origin to that of an app: a ticket, good once, becomes a cookie there.

The session cookie never reaches an app, and the cookie of an app is of no use at the master. Pure: time comes in.
"""

import base64
import hashlib
import hmac
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from determined.master.auth.session_token import digest, new_token

TICKET_LIFETIME = timedelta(seconds=30)
PASS_LIFETIME = timedelta(hours=12)
_PENDING = 10_000  # beyond this the oldest is forgotten, so that asking for tickets cannot fill the memory


class Pass(msgspec.Struct, frozen=True):
    """Right of a browser to one service of one allocation.

    Attributes:
        allocation_id: it ends with this.
        service: as in the path, `<task id>[:<port>]`.
        session_id: it ends with this login as well; None for who has shown the app's own token.
        main_origin: where the master was looked at.
        expires: seconds since the epoch.
        share_link: it ends with this link of the owner's as well; 0 for who came without one.
    """

    allocation_id: str
    service: str
    session_id: int | None
    main_origin: str
    expires: float
    share_link: int = 0


@dataclass(frozen=True, slots=True)
class _Pending:
    right: Pass
    expires_at: datetime


class Tickets:
    def __init__(self) -> None:
        self._pending: OrderedDict[str, _Pending] = OrderedDict()

    def issue(self, right: Pass, now: datetime) -> str:
        ticket = new_token()
        self._pending[digest(ticket)] = _Pending(right, now + TICKET_LIFETIME)
        if len(self._pending) > _PENDING:
            self._pending.popitem(last=False)
        return ticket

    def redeem(self, ticket: str, service: str, now: datetime) -> Pass | None:
        """Spend a ticket; None for one that is unknown, used, too old or for another service."""
        found = self._pending.pop(digest(ticket), None)
        if found is None or now >= found.expires_at or found.right.service != service:
            return None
        return found.right


def seal(secret: bytes, right: Pass) -> str:
    """Return the value of the cookie that gives this right."""
    body = base64.urlsafe_b64encode(msgspec.json.encode(right)).decode().rstrip("=")
    return f"{body}.{_sign(secret, body)}"


def unseal(secret: bytes, cookie: str) -> Pass | None:
    """Return the right that a cookie gives, also one that has expired; None for a cookie that we have not made."""
    body, _, signature = cookie.rpartition(".")
    if not hmac.compare_digest(_sign(secret, body).encode(), signature.encode(errors="replace")):
        return None
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)), type=Pass)
    except (ValueError, msgspec.MsgspecError):
        return None


def _sign(secret: bytes, body: str) -> str:
    digest_ = hmac.digest(secret, b"app-cookie:" + body.encode(errors="replace"), hashlib.sha256)
    return base64.urlsafe_b64encode(digest_).decode().rstrip("=")
