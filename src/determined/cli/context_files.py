"""Files that are sent to the master with a submission."""

from pathlib import Path
from typing import TYPE_CHECKING

from determined.cli import render

if TYPE_CHECKING:
    from determined.wire.experiment import File

JSON_GROWTH = 4 / 3  # file contents travel as base64


def read_files(directory: str | None, includes: list[str]) -> "tuple[list[File], int]":
    """Return the files of a context directory and of what is included, and their size."""
    if directory is None and not includes:
        return [], 0
    from determined.rundir import context

    root = Path(directory) if directory is not None else None
    entries = context.read_directory(root, [Path(i) for i in includes], notice=render.warn)
    total = sum(context.content_size(e) for e in entries)
    files = "1 file" if len(entries) == 1 else f"{len(entries)} files"
    render.line(f"Preparing files to send to master... {render.size_of(total)} and {files}")
    return entries, total
