"""The web page under /det/: hashed assets for a year, any other path the page itself, under a strict policy.

Where nothing has been built, a plain page says how to build it and which command shows the same thing.
"""

import asyncio
import secrets
from pathlib import Path
from typing import Any

from litestar import MediaType, Request, Response, Router, get
from litestar.response import Redirect

from determined.errors import NotFound
from determined.master.auth.permission import PUBLIC
from determined.master.routes.webui_absent import absent_page
from determined.master.routes.webui_files import WebFile, page_directory, web_file

_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'{styles}; img-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'self'; "
    "object-src 'none'"
)
_GUARDED = {
    "X-Frame-Options": "SAMEORIGIN",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_YEAR = "public, max-age=31536000, immutable"
_ALWAYS_ASK = "no-cache"


@get("/", include_in_schema=False, opt=PUBLIC, sync_to_thread=False)
def front_door() -> Redirect:
    return Redirect("/det/", headers={"Cache-Control": _ALWAYS_ASK})


@get("/det/assets/{path:path}", include_in_schema=False, opt=PUBLIC)
async def asset(request: Request[Any, Any, Any], path: str) -> Response[bytes]:
    """Raises: NotFound, so that a page of an older version learns that its parts are gone instead of running HTML."""
    name = f"assets/{path.lstrip('/')}"
    root = await asyncio.to_thread(page_directory)
    found = await asyncio.to_thread(_look_up, root, name, request)
    if found is None:
        raise NotFound(f"there is no {name} in this version of the page; reload it")
    return _file(found, _YEAR)


@get(["/det", "/det/{path:path}"], include_in_schema=False, opt=PUBLIC)
async def page(request: Request[Any, Any, Any], path: str = "/") -> Response[bytes]:
    root = await asyncio.to_thread(page_directory)
    nonce = secrets.token_urlsafe(16)
    if root is None:
        return _html(absent_page(path, nonce), nonce)
    found = await asyncio.to_thread(_look_up, root, path.lstrip("/"), request)
    if found is not None:
        return _file(found, _ALWAYS_ASK)
    text = await asyncio.to_thread((root / "index.html").read_text, encoding="utf-8")
    return _html(_with_nonce(text, nonce), nonce)


def _look_up(root: Path | None, name: str, request: Request[Any, Any, Any]) -> WebFile | None:
    return web_file(root, name, request.headers.get("accept-encoding", "")) if root else None


def _with_nonce(text: str, nonce: str) -> str:
    """Widget libraries put small style sheets into the page; they read the nonce that allows it from here."""
    return text.replace("<head>", f'<head><meta name="csp-nonce" nonce="{nonce}">', 1)


def _html(text: str, nonce: str) -> Response[bytes]:
    headers = {
        **_GUARDED,
        "Content-Security-Policy": _POLICY.format(styles=f" 'nonce-{nonce}'"),
        "Cache-Control": _ALWAYS_ASK,
    }
    return Response(text.encode(), media_type=MediaType.HTML, headers=headers)


def _file(found: WebFile, caching: str) -> Response[bytes]:
    headers = {
        **_GUARDED,
        "Content-Security-Policy": _POLICY.format(styles=""),  # a worker runs under the policy of its own script
        "Cache-Control": caching,
        "Vary": "Accept-Encoding",
    }
    if found.encoding:
        headers["Content-Encoding"] = found.encoding
    return Response(found.content, media_type=found.kind, headers=headers)


router = Router(path="", route_handlers=[front_door, asset, page])
