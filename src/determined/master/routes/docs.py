"""The OpenAPI description and a page that shows it, with nothing fetched from elsewhere."""

from typing import Any

from litestar import Router, get
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from determined.constants import API_VERSION
from determined.master.auth.guard import PUBLIC

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Determined API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/docs/assets/docs.css"></head>
<body><main><h1>Determined API</h1>
<p>Machine-readable: <a href="/docs/openapi.json">openapi.json</a></p>
<input id="filter" type="search" placeholder="Filter paths" aria-label="Filter paths">
<div id="paths">Loading</div></main>
<script src="/docs/assets/docs.js"></script></body></html>
"""

_STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}
code,pre{font:13px/1.5 ui-monospace,monospace}
summary{cursor:pointer;padding:.3rem 0;border-bottom:1px solid #ddd}
.method{display:inline-block;width:4.5rem;font-weight:600}
input{width:100%;padding:.5rem;margin:1rem 0;box-sizing:border-box}
pre{background:#f6f6f6;padding:.6rem;overflow:auto}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre{background:#222}summary{border-color:#333}}
"""

_SCRIPT = """const box = document.getElementById("paths");
function entry(method, path, operation) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const verb = document.createElement("span");
  verb.className = "method";
  verb.textContent = method.toUpperCase();
  const name = document.createElement("code");
  name.textContent = path;
  summary.append(verb, name);
  const body = document.createElement("pre");
  body.textContent = JSON.stringify(operation, null, 2);
  details.append(summary, body);
  details.dataset.text = (method + " " + path).toLowerCase();
  return details;
}
fetch("/docs/openapi.json").then((answer) => answer.json()).then((schema) => {
  box.textContent = "";
  for (const [path, operations] of Object.entries(schema.paths).sort()) {
    for (const [method, operation] of Object.entries(operations)) {
      if (operation && operation.responses) box.append(entry(method, path, operation));
    }
  }
});
document.getElementById("filter").addEventListener("input", (event) => {
  const text = event.target.value.toLowerCase();
  for (const child of box.children) child.hidden = !child.dataset.text.includes(text);
});
"""


class LocalPagePlugin(OpenAPIRenderPlugin):
    """Our own small page instead of one that loads scripts from a CDN."""

    def render(self, request: Any, openapi_schema: dict[str, Any]) -> bytes:
        return _PAGE.encode()


def openapi_config() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Determined",
        version=API_VERSION,
        openapi_router=Router(path="/docs", route_handlers=[], opt=PUBLIC),
        render_plugins=[LocalPagePlugin(path="/"), JsonRenderPlugin(path="/openapi.json")],
        components=Components(
            security_schemes={"bearer": SecurityScheme(type="http", scheme="bearer", description="User token")}
        ),
        security=[{"bearer": []}],
    )


@get("/docs/assets/docs.css", media_type="text/css", include_in_schema=False, opt=PUBLIC, sync_to_thread=False)
def style() -> str:
    return _STYLE


@get("/docs/assets/docs.js", media_type="text/javascript", include_in_schema=False, opt=PUBLIC, sync_to_thread=False)
def script() -> str:
    return _SCRIPT


router = Router(path="", route_handlers=[style, script])
