"""The address that a master's proof is good at."""

import socket

import pytest

from determined import _bound_address
from determined._bound_address import of_peer, of_url


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://Host.Example:8080/path", "host.example:8080"),
        ("https://host.example", "host.example:443"),
        ("http://10.0.0.1", "10.0.0.1:80"),
        ("http://[2001:db8::1]:8080", "2001:db8::1:8080"),
    ],
)
def test_address_outside_of_the_loopback_is_that_of_the_url(url: str, address: str) -> None:
    assert of_url(url) == address


def test_loopback_of_another_machine_is_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A home directory that two machines share has one state file: the same port on both must not count as one."""
    here = of_url("http://127.0.0.1:8080")
    assert here == of_url("http://localhost:8080") != of_url("http://127.0.0.1:8081")
    assert here.endswith(" 127.0.0.1:8080")
    monkeypatch.setattr(_bound_address, "_this_loopback", lambda: "another boot of another machine")
    assert of_url("http://127.0.0.1:8080") != here
    assert of_url("http://host:8080") == "host:8080"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_name_of_the_loopback_means_the_number_that_was_dialled(host: str) -> None:
    try:
        listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError:
        pytest.skip(f"this machine has no {host}")
    port = listener.getsockname()[1]
    with listener, socket.create_connection((host, port)) as dialled:
        assert of_peer(f"http://localhost:{port}", dialled).endswith(f" {host}:{port}")
        assert of_peer(f"http://name.example:{port}", dialled) == f"name.example:{port}"
