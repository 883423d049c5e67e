"""Credentials of a request to the proxy. Pure."""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from determined.master.proxy.http_headers import APP_COOKIE, SESSION_COOKIE, TICKET, Header, cookie_of

_TASK_TOKEN = b"grpc-metadata-x-allocation-token"


@dataclass(frozen=True, slots=True)
class Given:
    """What a request shows. A bearer token wins over the app's own token, both over cookies."""

    bearer: str = field(default="", repr=False)
    app_token: str = field(default="", repr=False)
    session_cookie: str = field(default="", repr=False)
    app_cookie: str = field(default="", repr=False)
    ticket: str = field(default="", repr=False)
    is_task: bool = False

    @property
    def is_explicit(self) -> bool:
        """Whether the client chose to send it: no browser sends such a credential by itself."""
        return bool(self.bearer or self.app_token)


def given_by(headers: list[Header], query: bytes) -> Given:
    scheme, token = _authorization(headers)
    parameters = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)) if query else {}
    return Given(
        bearer=token if scheme == "bearer" else "",
        app_token=token if scheme == "token" else parameters.get("token", ""),
        session_cookie=cookie_of(headers, SESSION_COOKIE) or "",
        app_cookie=cookie_of(headers, APP_COOKIE) or "",
        ticket=parameters.get(TICKET, ""),
        is_task=any(name == _TASK_TOKEN for name, _ in headers),
    )


def _authorization(headers: list[Header]) -> tuple[str, str]:
    value = next((value.decode("latin-1") for name, value in headers if name == b"authorization"), "")
    scheme, _, token = value.strip().partition(" ")
    return scheme.lower(), token.strip()
