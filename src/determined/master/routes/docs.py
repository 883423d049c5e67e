"""The OpenAPI description and a page that shows it, with nothing fetched from elsewhere."""

from pathlib import Path
from typing import Any

from litestar import Router, get
from litestar.enums import OpenAPIMediaType
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import OpenAPIRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from determined.constants import API_VERSION
from determined.master.auth.permission import PUBLIC
from determined.master.routes.openapi import complete
from determined.wire.codec import to_json

_ASSETS = Path(__file__).parent / "assets"


class LocalPagePlugin(OpenAPIRenderPlugin):
    """Our own small page instead of one that loads scripts from a CDN."""

    def render(self, request: Any, openapi_schema: dict[str, Any]) -> bytes:
        return (_ASSETS / "docs.html").read_bytes()


class DescriptionPlugin(OpenAPIRenderPlugin):
    """openapi.json, made when it is first asked for: the start of a master does not wait for it."""

    def __init__(self) -> None:
        super().__init__(path="/openapi.json", media_type=OpenAPIMediaType.OPENAPI_JSON)
        self._made: bytes | None = None

    def render(self, request: Any, openapi_schema: dict[str, Any]) -> bytes:
        if self._made is None:
            self._made = to_json(complete(request.app, openapi_schema))
        return self._made


def openapi_config() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Determined",
        version=API_VERSION,
        openapi_router=Router(path="/docs", route_handlers=[], opt=PUBLIC),
        render_plugins=[LocalPagePlugin(path="/"), DescriptionPlugin()],
        components=Components(
            security_schemes={"bearer": SecurityScheme(type="http", scheme="bearer", description="User token")}
        ),
        security=[{"bearer": []}],
    )


@get("/docs/assets/docs.css", media_type="text/css", include_in_schema=False, opt=PUBLIC, sync_to_thread=False)
def style() -> str:
    return (_ASSETS / "docs.css").read_text()


@get("/docs/assets/docs.js", media_type="text/javascript", include_in_schema=False, opt=PUBLIC, sync_to_thread=False)
def script() -> str:
    return (_ASSETS / "docs.js").read_text()
