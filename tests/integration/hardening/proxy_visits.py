"""Visits to apps in the tests of hostile apps and visitors."""

from typing import Any

from small_app import SmallApp

from browser import Browser

WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def token_of(client: Any) -> str:
    return str(client.headers["Authorization"].removeprefix("Bearer "))


def main_origin(ground: Any) -> str:
    return f"http://localhost:{ground.address.partition(':')[2]}"


def signed_in(ground: Any, client: Any) -> Browser:
    browser = Browser(ground.address)
    browser.jar["localhost", "/", "auth"] = token_of(client)
    return browser


def host_of(ground: Any, served: Any, app: SmallApp) -> str:
    label = f"{served.task_id}-{app.port}".replace(".", "-")
    return f"{label}.localhost:{ground.address.partition(':')[2]}"


def opened(ground: Any, make_app: Any, client: Any, **how: Any) -> tuple[Browser, Any, Any, SmallApp]:
    """A browser with a page of an app."""
    app = make_app(**how)
    served = ground.serve(client, {"proxy_port": app.port})
    browser = signed_in(ground, client)
    return browser, browser.open(main_origin(ground) + served.path(app)), served, app


def all_text(app: SmallApp) -> str:
    return "\n".join(
        [request.line + "".join(f"\n{name}: {value}" for name, value in request.headers) for request in app.received]
    )
