"""The web page under /det/: hashed assets for a year, any other path the page itself, under a strict policy.

Where nothing has been built, a plain page says how to build it and which command shows the same thing.
"""

import asyncio
import secrets
from pathlib import Path

from litestar import Response, get
from litestar.response import Redirect

from determined.errors import NotFound
from determined.master.auth.permission import PUBLIC
from determined.master.routes.request import AnyRequest
from determined.master.routes.static_response import ASKED_FOR_EACH_TIME, KEPT_A_YEAR, file_response, html_response
from determined.master.routes.webui_absent import absent_page
from determined.master.routes.webui_files import WebFile, page_directory, web_file


@get("/", include_in_schema=False, opt=PUBLIC, sync_to_thread=False)
def front_door() -> Redirect:
    return Redirect("/det/", headers={"Cache-Control": ASKED_FOR_EACH_TIME})


@get("/det/assets/{path:path}", include_in_schema=False, opt=PUBLIC)
async def asset(request: AnyRequest, path: str) -> Response[bytes]:
    """Serve an asset. Raises NotFound, so that a page of an older version learns that its parts are gone."""
    name = f"assets/{path.lstrip('/')}"
    root = await asyncio.to_thread(page_directory)
    file = await asyncio.to_thread(_look_up, root, name, request)
    if file is None:
        raise NotFound(f"there is no {name} in this version of the page; reload it")
    return file_response(file, KEPT_A_YEAR)


@get(["/det", "/det/{path:path}"], include_in_schema=False, opt=PUBLIC)
async def page(request: AnyRequest, path: str = "/") -> Response[bytes]:
    root = await asyncio.to_thread(page_directory)
    nonce = secrets.token_urlsafe(16)
    if root is None:
        return html_response(absent_page(path, nonce), nonce)
    file = await asyncio.to_thread(_look_up, root, path.lstrip("/"), request)
    if file is not None:
        return file_response(file, ASKED_FOR_EACH_TIME)
    text = await asyncio.to_thread((root / "index.html").read_text, encoding="utf-8")
    return html_response(_with_nonce(text, nonce), nonce)


def _look_up(root: Path | None, name: str, request: AnyRequest) -> WebFile | None:
    return web_file(root, name, request.headers.get("accept-encoding", "")) if root else None


def _with_nonce(text: str, nonce: str) -> str:
    """Widget libraries put small style sheets into the page; they read the nonce that allows it from here."""
    return text.replace("<head>", f'<head><meta name="csp-nonce" nonce="{nonce}">', 1)
