"""Page that made a browser send a request: a cookie that comes with it does not tell."""

from determined.errors import Forbidden
from determined.master.auth.browser import authority
from determined.master.proxy.visit_request import VisitRequest

_SAME = ("same-origin", "none")


def check_sender(request: VisitRequest) -> None:
    """Refuse what another page makes a browser send along with the cookie; a link is fine. Raises Forbidden."""
    check_origin(request)
    if request.wants_websocket and not request.header("origin"):
        raise Forbidden("a WebSocket that comes with a cookie must say its origin")
    site = request.header("sec-fetch-site")
    if not site or site in _SAME:
        return
    if not request.is_navigation or request.header("sec-fetch-dest") not in ("document", ""):
        raise Forbidden(f"a {site} page may not use this app")


def check_origin(request: VisitRequest) -> None:
    """Refuse a page of another origin, which browsers name for all but plain navigations. Raises Forbidden."""
    origin = request.header("origin")
    if origin and origin != "null" and authority(origin) == request.host:
        return
    if origin and not (request.is_navigation and request.method in ("GET", "HEAD")):
        raise Forbidden(f"a page of {origin} may not use this app")
