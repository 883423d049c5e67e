"""Proxies as people write them into their environment."""

import base64
from collections.abc import Iterator

import pytest
import urllib3
from small_master import SmallMaster, serving

from determined.api.session import Session
from determined.errors import MasterNotFound

MASTER = "http://master.invalid:8080"


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallMaster]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving({("GET", f"{MASTER}/info"): (200, {"version": "1"})}) as running:
        yield running


def _get(url: str = MASTER) -> object:
    with Session(url, token="t", retries=0) as session:
        return session.get("/info")


@pytest.mark.parametrize("scheme", ["http://", ""], ids=["with a scheme", "without one"])
def test_a_master_elsewhere_is_asked_through_the_proxy(
    proxy: SmallMaster, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setenv("http_proxy", scheme + proxy.url.removeprefix("http://"))
    assert _get() == {"version": "1"}
    assert proxy.paths() == [f"GET {MASTER}/info"]


def test_user_and_password_of_a_proxy_are_sent_to_it_unquoted(
    proxy: SmallMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy.url.replace("http://", "http://ann:p%40ss%3A1@"))
    assert _get() == {"version": "1"}
    [(_, _, headers, _)] = proxy.asked
    kind, _, word = {name.lower(): value for name, value in headers.items()}["proxy-authorization"].partition(" ")
    assert (kind, base64.b64decode(word)) == ("Basic", b"ann:p@ss:1")
    assert headers["Authorization"] == "Bearer t"


def test_a_proxy_of_another_kind_is_refused_with_what_to_do(
    proxy: SmallMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "socks5://ann:secret@127.0.0.1:1080")
    with pytest.raises(
        ValueError, match=r"http_proxy names a socks5 proxy; name an http or https proxy.*no_proxy"
    ) as e:
        _get()
    assert "secret" not in str(e.value)


@pytest.mark.parametrize(
    ("exempt", "is_proxied"),
    [("master.invalid", False), ("*", False), (".invalid", False), ("other.invalid", True), ("aster.invalid", True)],
)
def test_a_master_in_no_proxy_is_asked_directly(
    proxy: SmallMaster, monkeypatch: pytest.MonkeyPatch, exempt: str, is_proxied: bool
) -> None:
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("no_proxy", exempt)
    with Session(MASTER, retries=0) as session:  # nobody has that name, and looking for it may take long
        assert isinstance(session._pool, urllib3.ProxyManager) is is_proxied


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_never_asked_through_a_proxy(
    proxy: SmallMaster, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    proxy.answers["GET", "/info"] = (200, {"version": "here"})
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert _get(proxy.url.replace("127.0.0.1", host)) == {"version": "here"}


def test_a_proxy_that_does_not_answer_is_told_with_the_master_behind_it(
    proxy: SmallMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with pytest.raises(MasterNotFound, match=f"no master answers at {MASTER}.*proxy"):
        _get()
