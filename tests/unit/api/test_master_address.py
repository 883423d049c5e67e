"""One canonical form per master."""

import pytest

from determined.api.address import canonical, is_loopback


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("localhost", "http://localhost:8080"),
        ("host:9000", "http://host:9000"),
        ("http://host", "http://host:80"),
        ("https://host", "https://host:443"),
        ("https://host:8443/det/", "https://host:8443/det"),
        ("host/", "http://host:8080"),
        ("HTTP://Host", "http://host:80"),
        ("[::1]:8080", "http://[::1]:8080"),
        (" host ", "http://host:8080"),
    ],
)
def test_addresses_are_completed(given: str, url: str) -> None:
    assert canonical(given) == url
    assert canonical(url) == url


@pytest.mark.parametrize(
    "given", ["", "http://", "http://u:p@host", "host?x=1", "host#x", "ftp://host", "host:port", "host:99999"]
)
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="master address"):
        canonical(given)


def test_loopback_is_known_by_name_and_number() -> None:
    assert all(map(is_loopback, ["localhost", "127.0.0.1", "127.1.2.3", "::1", "x.localhost"]))
    assert not any(map(is_loopback, ["host", "10.0.0.1", "localhost.example.com"]))
