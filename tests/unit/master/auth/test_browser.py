"""Host and Origin checks."""

import pytest

from determined.errors import Forbidden
from determined.master.auth.browser import check_host, check_origin


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]:80", "LOCALHOST"])
def test_a_loopback_master_answers_to_loopback_names(host: str) -> None:
    check_host({"host": host}, "127.0.0.1")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "localhost.evil:80"])
def test_a_loopback_master_refuses_other_names(host: str) -> None:
    with pytest.raises(Forbidden, match="does not answer to Host"):
        check_host({"host": host}, "127.0.0.1")


def test_a_master_on_a_network_answers_to_any_name() -> None:
    check_host({"host": "det.example.com"}, "0.0.0.0")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost:8080"},
        {"host": "localhost:8080", "origin": "http://localhost:8080"},
        {"host": "localhost:8080", "sec-fetch-site": "same-origin", "origin": "http://localhost:8080"},
        {"host": "localhost:8080", "sec-fetch-site": "none"},
    ],
)
def test_a_change_from_our_own_page_passes(headers: dict[str, str]) -> None:
    check_origin(headers)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost:8080", "origin": "http://evil.example"},
        {"host": "localhost:8080", "origin": "null"},
        {"host": "localhost:8080", "origin": "http://localhost:9999"},
        {"host": "localhost:8080", "sec-fetch-site": "cross-site"},
        {"host": "localhost:8080", "sec-fetch-site": "same-site"},
    ],
)
def test_a_change_from_elsewhere_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(Forbidden, match="may not change anything"):
        check_origin(headers)
