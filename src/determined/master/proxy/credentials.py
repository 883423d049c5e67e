"""Credentials of a request to the proxy. Pure."""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from determined.master.auth.session_token import SECURE_SESSION_COOKIE, SESSION_COOKIE
from determined.master.proxy.http_headers import APP_COOKIE, TICKET, Header, cookie_of

_TASK_TOKEN = b"grpc-metadata-x-allocation-token"


@dataclass(frozen=True, slots=True)
class Given:
    """Credentials in a request. `app_token` may be the app's own affair where it stands in the query."""

    bearer: str = field(default="", repr=False)
    app_token: str = field(default="", repr=False)
    session_cookie: str = field(default="", repr=False)
    app_cookie: str = field(default="", repr=False)
    ticket: str = field(default="", repr=False)
    has_token_header: bool = False  # of either kind
    is_task: bool = False


def given_by(headers: list[Header], query: bytes) -> Given:
    scheme, token = _authorization(headers)
    parameters = parse_qsl(query.decode("latin-1"), keep_blank_values=True) if query else []
    return Given(
        bearer=token if scheme == "bearer" else "",
        app_token=token if scheme == "token" else _first(parameters, "token"),
        session_cookie=cookie_of(headers, SECURE_SESSION_COOKIE) or cookie_of(headers, SESSION_COOKIE) or "",
        app_cookie=cookie_of(headers, APP_COOKIE) or "",
        ticket=_first(parameters, TICKET),
        has_token_header=scheme in ("bearer", "token"),
        is_task=any(name == _TASK_TOKEN for name, _ in headers),
    )


def _first(parameters: list[tuple[str, str]], wanted: str) -> str:
    return next((value for name, value in parameters if name == wanted), "")


def _authorization(headers: list[Header]) -> tuple[str, str]:
    value = next((value.decode("latin-1") for name, value in headers if name == b"authorization"), "")
    scheme, _, token = value.strip().partition(" ")
    return scheme.lower(), token.strip()
