"""`type: directory`: a directory the task already has, `<container_path>`."""

from determined._json import JsonObject
from determined.schema.node import Text
from determined.schema.paths import path_problem
from determined.schema.section import field
from determined.storage.section import LocalStorage


class Directory(LocalStorage):
    """A directory as the task sees it."""

    kind = "directory"
    order = 2
    path_key = "container_path"
    is_in_container = True

    container_path: str = field(Text(problem=path_problem), "Absolute path of a directory as the task sees it.")


def section_at(container_path: str) -> JsonObject:
    """Write the section of a directory."""
    return {"type": Directory.kind, Directory.path_key: container_path}
