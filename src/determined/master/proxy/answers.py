"""Answers of the proxy itself: errors as JSON or as a small page, and redirections."""

from html import escape
from typing import Any

from determined.errors import DeterminedError
from determined.master.proxy.http_headers import Header
from determined.master.proxy.visit_request import VisitRequest
from determined.wire.codec import to_json
from determined.wire.error import error_body

RETRY_SECONDS = 2
_COMMON: list[Header] = [
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox allow-top-navigation"),
]
_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8>{refresh}<title>{title}</title>"
    "<h1>{title}</h1><p>{text}</p>{link}"
)


async def send_error(request: VisitRequest, error: DeterminedError, *, link: tuple[str, str] | None = None) -> None:
    """Answer with an error; a browser that navigates gets a page, which tries again while the app is not up.

    `link`: address and text of what to do next.
    """
    headers = [(b"retry-after", str(RETRY_SECONDS).encode())] if error.status == 503 else []
    if not request.is_navigation:
        await _send(request, error.status, to_json(error_body(error)), b"application/json", headers)
        return
    refresh = f'<meta http-equiv=refresh content="{RETRY_SECONDS}">' if error.status == 503 else ""
    anchor = f'<p><a href="{escape(link[0])}">{escape(link[1])}</a></p>' if link is not None else ""
    title = "Waiting for the app" if error.status == 503 else "This app cannot be shown"
    page = _PAGE.format(refresh=refresh, title=title, text=escape(error.message), link=anchor)
    await _send(request, error.status, page.encode(), b"text/html; charset=utf-8", headers)


async def redirect(request: VisitRequest, location: str, *more: Header, status: int = 303) -> None:
    await _send(request, status, b"", b"text/plain", [(b"location", location.encode("latin-1")), *more])


async def _send(request: VisitRequest, status: int, body: bytes, kind: bytes, headers: list[Header]) -> None:
    length = str(len(body)).encode()
    all_headers = [*headers, (b"content-type", kind), (b"content-length", length), *_COMMON]
    start: Any = {"type": "http.response.start", "status": status, "headers": all_headers}
    await request.send(start)
    await request.send({"type": "http.response.body", "body": body, "more_body": False})
