"""`type: directory`: a directory the task already has, `<container_path>`."""

from typing import Any

from determined.storage.fields import absolute, known
from determined.storage.local import LocalStorageManager


class DirectoryStorageManager(LocalStorageManager):
    """Checkpoints under `base_path`; the owner of the task provides it on every node."""

    @classmethod
    def from_config(cls, config: dict[str, Any], container_path: str | None) -> "DirectoryStorageManager":
        known("directory", config, {"container_path"}, required={"container_path"})
        return cls(absolute("container_path", str(config["container_path"])))
