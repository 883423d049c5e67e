"""The documentation site under /docs/guide, as `make docs` builds it and the wheel carries it.

Links of the site are relative, so it also works behind a proxy that serves the master below a path of its own.
"""

import asyncio
import re
import secrets

from litestar import Response, get
from litestar.response import Redirect

from determined.errors import NotFound
from determined.master.auth.permission import PUBLIC
from determined.master.routes.request import AnyRequest
from determined.master.routes.static_response import ASKED_FOR_EACH_TIME, KEPT_A_YEAR, file_response, html_response
from determined.master.routes.webui_absent import absent_guide
from determined.master.routes.webui_files import KINDS, guide_directory, web_file

_KINDS = {**KINDS, ".html": "text/html"}
_HASHED = re.compile(r"\.[0-9a-f]{8}(\.min)?\.(js|css)$")


@get("/docs/guide", include_in_schema=False, opt=PUBLIC, sync_to_thread=False)
def front_page(request: AnyRequest) -> Redirect:
    """Send the browser to a path from which the relative links of the site are right."""
    raw = bytes(request.scope.get("raw_path") or b"").partition(b"?")[0]
    target = "index.html" if raw.endswith(b"/") else "guide/index.html"
    return Redirect(target, headers={"Cache-Control": ASKED_FOR_EACH_TIME})


@get("/docs/guide/{path:path}", include_in_schema=False, opt=PUBLIC)
async def guide_file(request: AnyRequest, path: str) -> Response[bytes]:
    """Serve a file of the guide. Raises NotFound for a page that this version of the guide does not have."""
    root = await asyncio.to_thread(guide_directory)
    if root is None:
        nonce = secrets.token_urlsafe(16)
        return html_response(absent_guide(nonce), nonce)
    name = path.lstrip("/")
    encodings = request.headers.get("accept-encoding", "")
    file = await asyncio.to_thread(web_file, root, name, encodings, _KINDS)
    if file is None:
        raise NotFound(f"the guide has no {name}; its contents are at /docs/guide/index.html")
    return file_response(file, KEPT_A_YEAR if _HASHED.search(name) else ASKED_FOR_EACH_TIME)
