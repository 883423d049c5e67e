"""Locks: what the requirements of an experiment were resolved to."""

from typing import Annotated

from msgspec import Meta

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


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


LIST_ENVIRONMENT_LOCKS = Operation(
    "GET", "/api/v1/experiments/{experiment_id:int}/environment_locks", Nothing, GetEnvironmentLocksResponse, ours=True
)
STORE_ENVIRONMENT_LOCK = Operation(
    "POST",
    "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/environment_lock",
    PostEnvironmentLockRequest,
    PostEnvironmentLockResponse,
    ours=True,
)
