"""One canonical form per master."""

import pytest

from determined.api.address import canonical, is_loopback, is_same_place


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


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("localhost:8080", "127.0.0.1:8080", True),
        ("http://[::1]:8080", "http://127.0.0.1:8080", True),
        ("http://a.localhost:80", "http://localhost", True),
        ("Host", "http://host:8080/", True),
        ("http://host:80", "http://host", True),
        ("localhost:8080", "localhost:8081", False),
        ("http://host:80", "https://host:80", False),
        ("http://host/a", "http://host/b", False),
        ("http://localhost:80", "http://host:80", False),
    ],
)
def test_two_addresses_of_one_place(one: str, other: str, is_same: bool) -> None:
    assert is_same_place(one, other) is is_same
    assert is_same_place(other, one) is is_same


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("ftp://host", "scheme 'ftp' is not http or https"),
        ("http://u:p@host", "give scheme://host:port only"),
        ("host?x=1", "give scheme://host:port only"),
        ("http://:80", "has no host; give host:port or https://host"),
        ("host:port", "a port is a number from 0 to 65535"),
        ("host:70000", "a port is a number from 0 to 65535"),
    ],
)
def test_a_refused_address_is_shown_with_what_to_write(given: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        canonical(given)
    assert repr(given) in str(refused.value)
