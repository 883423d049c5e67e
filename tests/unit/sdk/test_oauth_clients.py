"""OAuth clients of the SDK, against a server that answers as upstream's licensed master does."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from determined.api.session import Session
from determined.sdk.oauth_client import Oauth2ScimClient, OauthMethods

PATH = "/oauth2/clients"


class Clients(OauthMethods):
    """The methods alone; Determined logs in."""

    def __init__(self, session: Session) -> None:
        self._session = session


@pytest.fixture
def stored() -> dict[str, dict[str, str]]:
    return {}


@pytest.fixture
def clients(stored: dict[str, dict[str, str]]) -> Iterator[Clients]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(list(stored.values()) if self.path == PATH else None)

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            stored["a/b"] = {"id": "a/b", **sent}
            self.answer({**stored["a/b"], "secret": "shown once"})

        def do_DELETE(self) -> None:
            self.answer(stored.pop(self.path.removeprefix(f"{PATH}/").replace("%2F", "/"), None))

        def answer(self, body: Any) -> None:
            raw = json.dumps({"error": {"code": 404, "error": "not found"}} if body is None else body).encode()
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, args=(0.02,))
    serving.start()
    with Session(f"http://127.0.0.1:{server.server_address[1]}", retries=0) as session:
        yield Clients(session)
    server.shutdown()
    server.server_close()
    serving.join()


def test_a_client_is_added_listed_without_its_secret_and_removed(
    clients: Clients, stored: dict[str, dict[str, str]]
) -> None:
    made = clients.add_oauth_client("https://idp.example", "people")
    assert vars(made) == {"id": "a/b", "domain": "https://idp.example", "name": "people", "secret": "shown once"}
    [listed] = clients.list_oauth_clients()
    assert vars(listed) == {"id": "a/b", "domain": "https://idp.example", "name": "people", "secret": None}
    clients.remove_oauth_client("a/b")
    assert stored == {}


def test_a_client_can_be_made_by_hand() -> None:
    assert vars(Oauth2ScimClient("1", "d", "n")) == {"id": "1", "domain": "d", "name": "n", "secret": None}
