"""`type: shared_fs`: a directory every node has mounted, `<host_path>[/<storage_path>]`."""

import posixpath
from collections.abc import Iterator

from determined._json import JsonObject
from determined.schema.node import Node, Text
from determined.schema.objects import Field
from determined.schema.paths import path_problem
from determined.schema.section import field
from determined.storage.section import LocalStorage


def _inside_host_path(value: JsonObject) -> Iterator[tuple[str, str]]:
    host, storage = value.get("host_path"), value.get("storage_path")
    if host is None or storage is None:
        return
    base = posixpath.normpath(host)
    target = posixpath.normpath(posixpath.join(base, storage))
    if target != base and not target.startswith(base.rstrip("/") + "/"):
        yield "storage_path", f"must be a subdirectory of host_path `{host}`, not `{storage}`"


class SharedFS(
    LocalStorage,
    rules=(_inside_host_path,),
    added=dict.fromkeys(("container_path", "checkpoint_path", "tensorboard_path"), Field(Node(), legacy=True)),
):
    """A directory that every node sees under the same path."""

    kind = "shared_fs"
    order = 1
    path_key = "host_path"
    is_mounted = True

    host_path: str = field(
        Text(problem=path_problem), "Absolute path of a directory every node sees; `~` is not expanded."
    )
    storage_path: str | None = field(
        Text(), "A directory below `host_path`: relative to it, or absolute and inside it.", default=None
    )
    propagation: str = field(Text(), "For containers.", default="rprivate")

    @property
    def base_path(self) -> str:
        """The directory of the checkpoints on the host."""
        return posixpath.normpath(posixpath.join(self.host_path, self.storage_path or ""))

    @classmethod
    def url(cls, section: JsonObject) -> str | None:
        host, below = section.get("host_path"), str(section.get("storage_path") or "")
        return f"file://{posixpath.join(str(host), below).rstrip('/')}" if host else None

    @property
    def container_mount(self) -> tuple[str, str] | None:
        return self.host_path, self.propagation


def section_at(host_path: str) -> JsonObject:
    """Write the section of a directory."""
    return {"type": SharedFS.kind, SharedFS.path_key: host_path}
