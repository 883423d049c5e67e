"""`type: directory`: a directory the task already has, `<container_path>`."""

from determined._json import JsonObject
from determined.storage.fields import absolute
from determined.storage.local import LocalStorageManager


class DirectoryStorageManager(LocalStorageManager):
    """Checkpoints under `base_path`; the owner of the task provides it on every node."""

    @classmethod
    def from_config(cls, config: JsonObject, container_path: str | None) -> "DirectoryStorageManager":
        return cls(absolute("container_path", str(config["container_path"])), config.get("deduplicate"))
