"""Locks: what the requirements of an experiment were resolved to."""

from typing import Annotated

from msgspec import Meta

from determined.wire.codec import Wire


class EnvironmentLock(Wire):
    """`platform`: for which machines and which Python it holds (environments/cache_directory.py)."""

    platform: str
    content: str
    created_at: str


class GetEnvironmentLocksResponse(Wire):
    locks: list[EnvironmentLock]


class PostEnvironmentLockRequest(Wire):
    platform: str
    content: Annotated[str, Meta(max_length=8 * 1024 * 1024)]


class PostEnvironmentLockResponse(Wire):
    """The lock that counts: the first that was stored for this platform."""

    content: str
