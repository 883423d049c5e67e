"""Addresses that webhooks may call: nothing but public ones unless the operator names a network."""

import asyncio
import ipaddress
import socket
import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from determined.errors import InvalidArgument
from determined.master.config.file import Webhooks
from determined.master.services.webhook_address import (
    AddressRefused,
    AddressRule,
    Unreachable,
    checked,
    parse_url,
    resolve,
)
from determined.master.services.webhook_send import post, signature, signed_headers

PUBLIC_ONLY = AddressRule()

REFUSED = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "198.18.0.1",
    "224.0.0.1", "255.255.255.255", "240.0.0.1",
    "::", "::1", "fe80::1", "fe80::1%lo", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::127.0.0.1", "::a9fe:a9fe",
    "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a9fe:a9fe::1",
    "fec0::1", "64:ff9b:1::7f00:1", "::ffff:0:127.0.0.1", "::ffff:0:a9fe:a9fe", "3fff::1", "5f00::1",
]  # fmt: skip
ALLOWED = ["8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]


@pytest.mark.parametrize("address", REFUSED)
def test_addresses_of_this_host_and_of_private_networks_are_refused(address: str) -> None:
    assert checked([address], PUBLIC_ONLY) == []


@pytest.mark.parametrize("address", ALLOWED)
def test_public_addresses_are_called(address: str) -> None:
    assert checked([address], PUBLIC_ONLY) == [address]
    assert checked([address], AddressRule(allow_public=False)) == []


def test_the_operator_allows_networks_and_nothing_around_them() -> None:
    config = Webhooks.load({"allowed_networks": ["10.1.0.0/16", "fd00::/64"], "allow_public": False})
    rule = AddressRule.of(config)
    given = ["10.1.2.3", "10.2.0.1", "::ffff:10.1.2.3", "fd00::5", "fd01::5", "8.8.8.8", "169.254.169.254"]
    assert checked(given, rule) == ["10.1.2.3", "::ffff:10.1.2.3", "fd00::5"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://localhost/", "http://2130706433/", "http://0177.0.0.1/", "http://0x7f000001/",
        "http://127.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://0/",
        "http://169.254.169.254/latest/meta-data", "http://[fe80::1]/",
    ],
)  # fmt: skip
def test_every_way_to_write_loopback_and_metadata_addresses_is_refused(url: str) -> None:
    with pytest.raises((AddressRefused, Unreachable)) as refused:
        asyncio.run(resolve(parse_url(url), PUBLIC_ONLY))
    assert "127.0.0.1" not in refused.value.message.replace("'127.0.0.1'", "").replace("::ffff:127.0.0.1", "")


@pytest.mark.parametrize(
    "url",
    [
        "", "example.com", "ftp://example.com/", "file:///etc/passwd", "http://", "http:///path", "http://a b/",
        "http://example.com/\r\nX: y", "http://user:pw@example.com/", "http://exa\\mple.com/", "http://example.com:99999/",
        "http://example.com:0/", "http://[::1/", "http://größe.example/", "javascript:alert(1)", "http://a\x00b/",
    ],
)  # fmt: skip
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match="valid url required"):
        parse_url(url)


def test_a_url_is_taken_apart() -> None:
    receiver = parse_url("https://Hooks.Example:8443/services/T0?x=1#fragment")
    assert (receiver.is_tls, receiver.host, receiver.port) == (True, "hooks.example", 8443)
    assert (receiver.target, receiver.host_header) == ("/services/T0?x=1", "Hooks.Example:8443")
    assert parse_url("http://h").target == "/"


def test_a_name_that_changes_its_address_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: the first look says a public address, the second one loopback. What is dialled is the first."""
    answers = iter(["192.0.2.1", "127.0.0.1"])
    dialled: list[str] = []

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        assert threading.current_thread().name.startswith("webhook-dns"), "slow lookups wait in threads of their own"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    async def dial(host: str, port: int, **_: Any) -> Any:
        dialled.append(host)
        raise ConnectionRefusedError("nobody")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(asyncio, "open_connection", dial)
    rule = AddressRule((ipaddress.ip_network("192.0.2.0/24"),))
    with pytest.raises(Unreachable):
        asyncio.run(post("http://rebind.example/", b"{}", {}, rule))
    assert dialled == ["192.0.2.1"]


def test_of_several_addresses_only_those_that_are_allowed_are_dialled() -> None:
    assert checked(["127.0.0.1", "8.8.8.8", "8.8.8.8", "::1"], PUBLIC_ONLY) == ["8.8.8.8"]


def test_the_signature_is_that_of_a_known_vector() -> None:
    """By `printf '1700000000,{"a":1}' | openssl dgst -sha256 -hmac secret`."""
    expected = "637c48ef386ee9f112d0c98ed0d833f54c5f11d0268203bf2a9dc946892fd7b0"
    assert signature("secret", 1_700_000_000, b'{"a":1}') == expected
    headers = signed_headers("secret", datetime.fromtimestamp(1_700_000_000, UTC), b'{"a":1}')
    assert headers == {
        "Content-Type": "application/json; charset=UTF-8",
        "X-Determined-AI-Signature-Timestamp": "1700000000",
        "X-Determined-AI-Signature": expected,
    }
