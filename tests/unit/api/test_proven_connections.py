"""A task's token goes only over connections whose peer proved itself: plain, encrypted, through a proxy."""

import gc
import ssl
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from proving_peer import PEER_TOKEN, Peer

from determined.api.session import CertSpec, Session
from determined.errors import MasterNotFound

ALLOCATION = "1.abc.1"


def session(url: str, cert: CertSpec | None = None) -> Session:
    return Session(url, token=PEER_TOKEN, allocation_token=True, allocation_id=ALLOCATION, retries=0, cert=cert)


def test_proof_is_asked_for_once_a_connection(start: Callable[..., Peer]) -> None:
    peer = start()
    with session(peer.url) as task:
        for _ in range(3):
            task.get("/api/v1/x")
    assert peer.targets() == ["/info", "/api/v1/x", "/api/v1/x", "/api/v1/x"]
    assert len({port for port, _, _ in peer.asked}) == 1
    assert peer.tokens() == [f"Bearer {PEER_TOKEN}"] * 3


def test_master_below_a_path_is_asked_there(start: Callable[..., Peer]) -> None:
    peer = start()
    with session(peer.url + "/cluster/") as task:
        task.get("/api/v1/x")
    assert peer.targets() == ["/cluster/info", "/cluster/api/v1/x"]


def test_peer_that_hangs_up_after_its_proof_gets_no_token_and_is_hung_up_on(start: Callable[..., Peer]) -> None:
    """A master that stops does so; whoever answers the next connection may be somebody else."""
    peer = start(protocol="HTTP/1.0")
    with warnings.catch_warnings(record=True) as seen, session(peer.url) as task:
        warnings.simplefilter("always", ResourceWarning)
        with pytest.raises(MasterNotFound, match="closes the connection after its proof"):
            task.get("/api/v1/x")
        gc.collect()
    assert [str(each.message) for each in seen] == []
    assert (peer.targets(), peer.tokens()) == (["/info"], [])


def test_proof_of_a_master_at_another_address_is_not_believed(start: Callable[..., Peer]) -> None:
    genuine, taken = start(), start()
    taken.master = genuine.url  # it passes the questions on
    with session(taken.url) as task, pytest.raises(MasterNotFound, match="not the master of this task"):
        task.get("/api/v1/x")
    assert taken.tokens() == []


def test_master_that_is_called_localhost_proves_the_address_that_the_name_led_to(start: Callable[..., Peer]) -> None:
    peer = start()
    with session(peer.url.replace("127.0.0.1", "localhost")) as task:
        task.get("/api/v1/x")
    assert peer.tokens() == [f"Bearer {PEER_TOKEN}"]


@pytest.mark.parametrize(
    "answer",
    [
        b'{"proofs": ["00"]}',
        b'{"proofs": [5, "\\ud800"]}',
        b'{"proofs": 5}',
        b"{}",
        b"[]",
        b"hello",
        b"",
        b'"' + b"x" * 100_000 + b'"',
        b"[" * 100_000,
    ],
    ids=["wrong", "no text", "no list", "no proof", "a list", "no JSON", "nothing", "endless", "nested"],
)
def test_peer_without_a_proof_gets_no_token(start: Callable[..., Peer], answer: bytes) -> None:
    peer = start()
    peer.answer = lambda _proof: answer
    with session(peer.url) as task, pytest.raises(MasterNotFound, match="who answers"):
        task.get("/api/v1/x")
    assert (peer.targets(), peer.tokens()) == (["/info"], [])


def test_encrypted_connection_asks_for_the_proof_too(start: Callable[..., Peer], tmp_path: Path) -> None:
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=cluster -addext subjectAltName=DNS:cluster"
    key, pem = tmp_path / "key", tmp_path / "pem"
    subprocess.run(["openssl", *words.split(), "-keyout", key, "-out", pem], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    peer = start(context=context)
    with session(peer.url, CertSpec(str(pem), "cluster")) as task:
        task.get("/api/v1/x")
        task.get("/api/v1/x")
    assert peer.targets() == ["/info", "/api/v1/x", "/api/v1/x"]


def test_master_behind_a_forwarding_proxy_is_asked_by_its_own_name(
    start: Callable[..., Peer], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = start()
    proxy.master = "http://master.invalid:8080"
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("no_proxy", "")
    with session("http://master.invalid:8080") as task:
        task.get("/api/v1/x")
    assert proxy.targets() == ["http://master.invalid:8080/info", "http://master.invalid:8080/api/v1/x"]
