"""Origins of apps: which host an app has, and which requests come to one."""

import pytest

from determined.master.proxy.origins import Origins, label

TASK = "7.5f0c1a1e-93f5-4c7b-8e0e-3f6f7b4f1f11"
LABEL = "7-5f0c1a1e-93f5-4c7b-8e0e-3f6f7b4f1f11"


@pytest.mark.parametrize(
    ("origins", "host", "origin"),
    [
        (Origins(), "localhost:8080", f"http://{LABEL}.localhost:8080"),
        (Origins(), "127.0.0.1:8080", f"http://{LABEL}.localhost:8080"),
        (Origins(), "[::1]:8080", f"http://{LABEL}.localhost:8080"),
        (Origins(), "localhost", f"http://{LABEL}.localhost"),
        (Origins(), "master.example", None),
        (Origins(listen=9000), "master.example:8080", "http://master.example:9000"),
        (Origins(listen=9000), "[2001:db8::1]:8080", "http://[2001:db8::1]:9000"),
        (Origins(listen=9000), "localhost:8080", f"http://{LABEL}.localhost:8080"),
        (Origins(domain="apps.example"), "master.example:8080", f"http://{LABEL}.apps.example:8080"),
        (Origins(domain="apps.example:81"), "master.example:8080", f"http://{LABEL}.apps.example:81"),
        (Origins(domain="apps.example", listen=9000), "localhost:8080", f"http://{LABEL}.apps.example:8080"),
        (Origins(), "[::1", None),
        (Origins(), "", None),
    ],
)
def test_the_origin_of_an_app_follows_from_the_config_and_from_where_the_master_is_seen(
    origins: Origins, host: str, origin: str | None
) -> None:
    assert origins.of_service(TASK, "http", host, behind_proxy=False) == origin


def test_behind_a_reverse_proxy_the_loopback_is_not_the_browsers() -> None:
    assert Origins().of_service(TASK, "https", "127.0.0.1:8080", behind_proxy=True) is None


@pytest.mark.parametrize(
    ("origins", "host", "port", "is_of_app"),
    [
        (Origins(), "x.localhost:8080", 8080, True),
        (Origins(), "localhost:8080", 8080, False),
        (Origins(), "x.localhost.evil.example", 8080, False),
        (Origins(domain="apps.example"), "x.apps.example", 8080, True),
        (Origins(domain="apps.example"), "X.Apps.Example:443", 8080, True),
        (Origins(domain="apps.example"), "apps.example", 8080, False),
        (Origins(domain="apps.example"), "xapps.example", 8080, False),
        (Origins(listen=9000), "master.example", 9000, True),
        (Origins(listen=9000), "master.example:9000", 8080, False),
    ],
)
def test_a_request_to_the_origin_of_an_app_is_told_by_its_host_or_port(
    origins: Origins, host: str, port: int, is_of_app: bool
) -> None:
    assert origins.is_of_app(host, port) == is_of_app


def test_a_host_of_one_app_serves_no_other() -> None:
    origins = Origins(domain="apps.example")
    assert origins.belongs(f"{LABEL}.apps.example", TASK)
    assert not origins.belongs(f"{LABEL}.apps.example", f"{TASK}:8000")
    assert not origins.belongs("other.localhost", TASK)


def test_a_second_port_serves_all() -> None:
    origins = Origins(listen=9000)
    assert origins.is_shared("master.example:9000")
    assert origins.belongs("master.example:9000", TASK)


def test_a_label_fits_into_a_host_name() -> None:
    assert label(f"{TASK}:65535") == f"{LABEL}-65535"
    assert len(label(f"1234567890.{TASK}:65535")) <= 63
