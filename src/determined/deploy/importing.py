"""Imports into a cluster of this machine: a process of the server half that tells its events as JSON lines."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from determined._json import JsonObject
from determined.deploy import environment
from determined.errors import DeterminedError

FAILED = 1  # not verified; also the status of a Python program that an unforeseen error ends
_LAST = frozenset({"done", "aborted"})


class ImportFailed(DeterminedError):
    code = "import_failed"


@dataclass(frozen=True, slots=True)
class Place:
    """Cluster to import into, by the options of its master."""

    config_file: str | None = None
    data_dir: str | None = None
    db_url: str | None = None

    def arguments(self) -> list[str]:
        given = (("--config-file", self.config_file), ("--data-dir", self.data_dir), ("--db-url", self.db_url))
        return [part for flag, value in given if value is not None for part in (flag, value)]


def place_of(directory: Path) -> Place:
    """Return the place of a cluster that `det` itself started in this directory."""
    config = directory / "master.yaml"
    return Place(str(config) if config.is_file() else None, str(directory))


def run(place: Place, source: str | None, arguments: Sequence[str]) -> Iterator[JsonObject]:
    """Run an import and yield its events. `source` travels by standard input: it may hold a password.

    Raises:
        ImportFailed: it could not start, or stopped; what it had stored stays, and the next run goes on there.
    """
    command = [sys.executable, "-m", "determined.master", "import", *place.arguments(), *arguments]
    with subprocess.Popen(
        [*command, *(["--source", "-"] if source is not None else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment.for_master(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(os.fsencode(f"{source or ''}\n"))
        process.stdin.close()
        is_over = False
        for line in process.stdout:
            event = msgspec.json.decode(line)
            if event["event"] == "error":
                raise ImportFailed(event["message"])
            is_over = is_over or event["event"] in _LAST
            yield event
    if process.returncode not in (0, FAILED) or not is_over:
        raise ImportFailed(f"the import ended with status {process.returncode}; run it again, it goes on where it was")
