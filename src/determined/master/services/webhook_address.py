"""Addresses that webhooks may call: a URL is looked up once, and only checked addresses are connected to.

Everything that is not public is refused unless `webhooks.allowed_networks` names it: a user who creates a webhook must
not reach services that trust the master's host, nor the metadata service of a cloud.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

from determined.errors import DeterminedError, InvalidArgument
from determined.master.config.file import Webhooks

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Threads of their own: slow name servers of users' hosts must not take those that the rest of the master waits for.
_LOOKUPS = ThreadPoolExecutor(32, thread_name_prefix="webhook-dns")
_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_COMPATIBLE = ipaddress.ip_network("::/96")  # an IPv4 address after 96 zeros
_UNICAST = IPv6Network("2000::/3")  # what IANA gives out as global; every other range of IPv6 has a special purpose
_DOCUMENTATION = IPv6Network("3fff::/20")  # inside of it, and not known to every Python
# Public by their numbers, services of the platform in fact: Azure's, and Oracle's metadata.
_PLATFORM = (ipaddress.ip_network("168.63.129.16/32"), ipaddress.ip_network("192.0.0.0/24"))


class AddressRefused(DeterminedError):
    """The receiver is where webhooks may not call; another attempt would not help."""

    code, status, grpc = "address_refused", 400, 9


class Unreachable(DeterminedError):
    """Nobody answers at the receiver's address; a later attempt may succeed."""

    code, status, grpc = "unreachable", 400, 14


@dataclass(frozen=True, slots=True)
class Receiver:
    """A checked URL in parts. `target`: path and query, as a request line has them."""

    is_tls: bool
    host: str
    port: int
    target: str
    host_header: str


@dataclass(frozen=True, slots=True)
class AddressRule:
    """Rule of the master's config."""

    networks: tuple[Network, ...] = ()
    allow_public: bool = True

    @classmethod
    def of(cls, config: Webhooks) -> "AddressRule":
        return cls(tuple(map(ipaddress.ip_network, config.allowed_networks)), config.allow_public)

    def allows(self, address: Address) -> bool:
        inner = innermost(address)
        if any(form in network for network in self.networks for form in (address, inner)):
            return True
        return self.allow_public and is_public(inner)


def is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and (address not in _UNICAST or address in _DOCUMENTATION):
        return False
    is_platform = any(address in network for network in _PLATFORM)
    return address.is_global and not address.is_multicast and not is_platform


def innermost(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for (mapped, NAT64, 6to4, Teredo), or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def parse_url(url: str) -> Receiver:
    """Take a URL apart. Raises InvalidArgument for what is none, or could be read in two ways."""
    if not url.isascii() or any(char <= " " or char in '\x7f\\"<>' for char in url):
        raise InvalidArgument(f"valid url required: {url[:200]!r} has characters that must be escaped as %XX")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise InvalidArgument(f"valid url required: {url[:200]!r}: {error}") from None
    if parts.scheme not in _PORTS or not host:
        raise InvalidArgument(f"valid url required: {url[:200]!r} does not begin with http://HOST or https://HOST")
    if "@" in parts.netloc:
        raise InvalidArgument("valid url required: it must not have a user name or password; put a token in its path")
    if port == 0:
        raise InvalidArgument(f"valid url required: {url[:200]!r} has port 0")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Receiver(parts.scheme == "https", host, port or _PORTS[parts.scheme], target, parts.netloc)


async def resolve(receiver: Receiver, rule: AddressRule) -> list[str]:
    """Look the host up and return the addresses that may be called.

    Raises:
        AddressRefused: there are addresses, and none of them may be called.
        Unreachable: there is none.
    """
    allowed = checked([receiver.host] if _is_address(receiver.host) else await _look_up(receiver), rule)
    if not allowed:
        raise AddressRefused(
            f"host '{receiver.host}' is at a private, loopback or link-local address, or at one that is not allowed"
            " here; the master's config permits networks by `webhooks.allowed_networks`"
        )
    return allowed


def refused_literal(url: str, rule: AddressRule) -> str | None:
    """Return the host of a URL if it may not be called: an address, or `localhost`. Other names are not looked up."""
    host = parse_url(url).host
    addresses = ["127.0.0.1", "::1"] if host == "localhost" else [host] if _is_address(host) else []
    return host if addresses and not checked(addresses, rule) else None


async def _look_up(receiver: Receiver) -> list[str]:
    look_up = partial(socket.getaddrinfo, receiver.host, receiver.port, type=socket.SOCK_STREAM)
    try:
        found = await asyncio.get_running_loop().run_in_executor(_LOOKUPS, look_up)
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"host '{receiver.host}' is not found: {error}") from None
    return [str(entry[4][0]) for entry in found]


def _is_address(host: str) -> bool:
    """Say whether a host is an address in its one usual form; others, such as 127.1, are looked up."""
    try:
        return str(ipaddress.ip_address(host)) == host
    except ValueError:
        return False


def checked(addresses: Sequence[str], rule: AddressRule) -> list[str]:
    """Keep the addresses that may be called, each once."""
    return [text for text in dict.fromkeys(addresses) if rule.allows(ipaddress.ip_address(text))]
