"""Headers on their way through the proxy: what an app must not see of its visitor, and what it must not say to him.

Pure. Names are in lower case, as uvicorn and httptools give them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from determined.master.auth.session_token import SESSION_COOKIE

APP_COOKIE = "det-app"
TICKET = "det_ticket"  # in the query of the first request to the origin of an app

Header = tuple[bytes, bytes]

_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer trailers"
    b" transfer-encoding upgrade http2-settings".split()
)
# Said by us, or only to us. `expect` is answered by the server in front of us.
_OURS = frozenset((b"forwarded", b"x-real-ip", b"expect", b"grpc-metadata-x-allocation-token"))
_FORWARDED = b"x-forwarded-"
# An app may not speak for the whole host, nor to a reverse proxy in front of the master.
_NOT_FOR_APPS = frozenset(
    b"service-worker-allowed clear-site-data strict-transport-security public-key-pins alt-svc x-sendfile date"
    b" server".split()
)
_OF_REVERSE_PROXIES = b"x-accel-"
_CORS, _CORS_CREDENTIALS = b"access-control-allow-origin", b"access-control-allow-credentials"
_SANDBOX: list[Header] = [(b"content-security-policy", b"sandbox"), (b"x-content-type-options", b"nosniff")]


@dataclass(frozen=True, slots=True)
class Visit:
    """Facts about a visitor that the headers to the app carry, and those that are kept from the app.

    Attributes:
        peer: address that the request came from.
        scheme: http or https, as the visitor's browser sees it.
        hides_authorization: the header `Authorization` held a token of ours.
        app_token: credential of the app's own that is sent along.
        hidden_tokens: values of `token=` in the query that are ours.
    """

    peer: str
    scheme: str
    hides_authorization: bool = False
    app_token: str = field(default="", repr=False)
    hidden_tokens: frozenset[str] = field(default=frozenset(), repr=False)


def request_head(
    method: str, path: bytes, query: bytes, headers: Sequence[Header], visit: Visit, *, upgrades: bool = False
) -> bytes:
    """Return the head of a request as the app gets it."""
    query = hide_tokens(query, visit.hidden_tokens)
    target = path + b"?" + query if query else path
    lines = [method.encode() + b" " + target + b" HTTP/1.1"]
    lines += [name + b": " + value for name, value in _to_app(headers, visit)]
    if upgrades:
        lines += [b"connection: Upgrade", b"upgrade: websocket"]
    else:
        lines.append(b"connection: close")
        if is_chunked(headers):
            lines.append(b"transfer-encoding: chunked")
    return b"\r\n".join([*lines, b"", b""])


def is_chunked(headers: Iterable[Header]) -> bool:
    return any(name == b"transfer-encoding" for name, _ in headers)


def hide_tokens(query: bytes, tokens: Iterable[str] = ()) -> bytes:
    """Remove tickets, and tokens of ours, from a query; the rest stays as it was written."""
    hidden = {b"token=" + token.encode() for token in tokens}
    ticket = TICKET.encode() + b"="
    kept = [part for part in query.split(b"&") if part not in hidden and not part.startswith(ticket)]
    return b"&".join(kept)


def _to_app(headers: Sequence[Header], visit: Visit) -> list[Header]:
    dropped = _HOP_BY_HOP | _OURS | _named_in_connection(headers)
    passed: list[Header] = []
    for name, value in headers:
        # An underscore reads like a dash in many frameworks: `X_Forwarded_For` would pass for one of ours.
        if name in dropped or name.startswith(_FORWARDED) or b"_" in name:
            continue
        if name == b"authorization" and (visit.hides_authorization or visit.app_token):
            continue
        kept = _without_own_cookies(value) if name == b"cookie" else value
        if kept or name != b"cookie":
            passed.append((name, kept))
    host = next((value for name, value in headers if name == b"host"), b"")
    peer = visit.peer.encode()
    passed += [(b"x-real-ip", peer), (b"x-forwarded-for", peer)]
    passed += [(b"x-forwarded-proto", visit.scheme.encode()), (b"x-forwarded-host", host)]
    if visit.app_token:
        passed.append((b"authorization", b"token " + visit.app_token.encode()))
    return passed


def from_app(headers: Sequence[Header], *, cookie_path: bytes | None) -> list[Header]:
    """Return the headers of an answer as the visitor gets them.

    Args:
        headers: as the app sent them.
        cookie_path: path that its cookies are bound to, where the host serves others as well.
    """
    dropped = _HOP_BY_HOP | _NOT_FOR_APPS | _named_in_connection(headers)
    if any(name == _CORS_CREDENTIALS for name, _ in headers):
        dropped |= {_CORS, _CORS_CREDENTIALS}
    passed: list[Header] = []
    for name, value in headers:
        if name in dropped or name.startswith(_OF_REVERSE_PROXIES):
            continue
        kept = _cookie_of_app(value, cookie_path) if name == b"set-cookie" else value
        if kept is not None:
            passed.append((name, kept))
    return passed


def sandboxed(headers: list[Header]) -> list[Header]:
    """Add what keeps a page from acting in the origin of the master."""
    return [*headers, *_SANDBOX]


def framed_by(headers: list[Header], origin: str) -> list[Header]:
    """Add what keeps other pages than those of this origin from showing the app in a frame; "" is no page at all."""
    ancestors = origin or "'none'"
    return [*headers, (b"content-security-policy", f"frame-ancestors {ancestors}".encode())]


def cookie_of(headers: Iterable[Header], wanted: str) -> str | None:
    """Return the value of a cookie; the first, where a browser has several of that name."""
    for name, value in headers:
        for part in value.decode("latin-1").split(";") if name == b"cookie" else ():
            key, _, content = part.strip().partition("=")
            if key == wanted:
                return content
    return None


def _named_in_connection(headers: Iterable[Header]) -> frozenset[bytes]:
    named = (value.lower().split(b",") for name, value in headers if name == b"connection")
    return frozenset(one.strip() for names in named for one in names) - {b"host", b"content-length"}


def _is_own_cookie(name: str) -> bool:
    return name.removeprefix("__Host-").removeprefix("__Secure-") in (SESSION_COOKIE, APP_COOKIE)


def _without_own_cookies(value: bytes) -> bytes:
    parts = [part.strip() for part in value.decode("latin-1").split(";")]
    return "; ".join(part for part in parts if part and not _is_own_cookie(part.partition("=")[0])).encode("latin-1")


def _cookie_of_app(value: bytes, path: bytes | None) -> bytes | None:
    """Return a cookie bound to this host, and to the path of the app where it shares the host; None for one of ours."""
    pair, *attributes = [part.strip() for part in value.split(b";")]
    if _is_own_cookie(pair.partition(b"=")[0].strip().decode("latin-1")):
        return None
    kept = [one for one in attributes if _attribute(one) != b"domain" and (path is None or _attribute(one) != b"path")]
    return b"; ".join([pair, *kept, *([] if path is None else [b"Path=" + path])])


def _attribute(text: bytes) -> bytes:
    return text.partition(b"=")[0].strip().lower()
