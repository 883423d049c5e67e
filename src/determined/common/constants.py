"""Upstream's `determined.common.constants`: what users' code reads of it."""

from determined.constants import MAX_CONTEXT_BYTES as MAX_CONTEXT_SIZE

__all__ = [
    "DEFAULT_CHECKPOINT_PATH",
    "DEFAULT_DETERMINED_PASSWORD",
    "DEFAULT_DETERMINED_USER",
    "MAX_CONTEXT_SIZE",
    "SHARED_FS_CONTAINER_PATH",
]

DEFAULT_DETERMINED_USER = "determined"
DEFAULT_DETERMINED_PASSWORD = ""
DEFAULT_CHECKPOINT_PATH = "checkpoints"
SHARED_FS_CONTAINER_PATH = "/determined_shared_fs"
