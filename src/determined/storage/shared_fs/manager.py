"""`type: shared_fs`: a directory every node has mounted, `<host_path>[/<storage_path>]`."""

from pathlib import PurePosixPath
from posixpath import normpath

from determined._json import JsonObject
from determined.storage.fields import absolute
from determined.storage.local import LocalStorageManager


class SharedFSStorageManager(LocalStorageManager):
    """Checkpoints under `base_path`, created for every user when it is missing."""

    @classmethod
    def from_config(cls, config: JsonObject, container_path: str | None) -> "SharedFSStorageManager":
        """Build it. `container_path`: where a container has `host_path` mounted; None where there is no container."""
        base = container_path or absolute("host_path", str(config["host_path"]))
        relative = _relative_storage_path(str(config["host_path"]), config.get("storage_path"))
        return cls(str(PurePosixPath(base) / relative), config.get("deduplicate"))


def _relative_storage_path(host_path: str, storage_path: str | None) -> str:
    if not storage_path:
        return ""
    joined = PurePosixPath(normpath(PurePosixPath(host_path) / storage_path))
    if not joined.is_relative_to(normpath(host_path)):
        raise ValueError(
            f"storage_path={storage_path!r} must be a subdirectory of host_path={host_path!r}; "
            "give a relative path, or an absolute one under host_path"
        )
    return str(joined.relative_to(normpath(host_path)))
