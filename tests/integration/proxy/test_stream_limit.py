"""Proxied streams count among the requests of the user who opened them."""

from contextlib import ExitStack
from typing import Any

import pytest
from small_app import echo_websocket
from tracked import until
from websockets.sync.client import connect

from determined.master.auth import request_limits


@pytest.mark.parametrize("is_tcp", [False, True])
def test_a_user_with_too_many_streams_is_refused_another_until_one_has_ended(
    ground: Any, make_app: Any, monkeypatch: pytest.MonkeyPatch, is_tcp: bool
) -> None:
    ada, bob = ground.person("ada"), ground.person("bob")
    app, page = make_app(behave=echo_websocket), make_app()
    ports = {"proxy_port": app.port, "proxy_tcp": is_tcp}, {"proxy_port": page.port}
    served, others = ground.serve(ada, *ports), ground.serve(bob, {"proxy_port": page.port})
    monkeypatch.setattr(request_limits, "PER_USER", 3)
    url = f"ws://{ground.address}{served.path(app)}"
    with ExitStack() as open_streams:
        first, *_ = [open_streams.enter_context(_stream(url, ada)) for _ in range(3)]
        refused = ground.raw("GET", served.path(page), ada.headers)
        assert refused.status == 429, refused.text
        assert "3 requests of user 'ada' are under way already" in refused.text
        assert ground.raw("GET", others.path(page), bob.headers).status == 200
        assert page.received[-1].line.startswith(f"GET {others.path(page)}"), "the refused one never reached the app"
        first.close()
        until(lambda: ground.raw("GET", served.path(page), ada.headers).status == 200)


def _stream(url: str, client: Any) -> Any:
    headers = {"Authorization": client.headers["Authorization"]}
    return connect(url, additional_headers=headers, open_timeout=60, close_timeout=0.1)  # the app answers no close
