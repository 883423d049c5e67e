"""Records of the engine's jobs, one small file each: which runners a job holds. Slurm remembers the rest.

A file is removed when the end of the last runner is on record, so a job without a file is never reported again.
Blocking.
"""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from determined.errors import Unavailable

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Record:
    """Record of a job.

    `tag` is the job's comment; `resources` are the runners whose end is not on record; `verdict`, how they ended.
    """

    allocation_id: str
    tag: str
    resources: list[str]
    job_id: int | None = None
    verdict: str | None = None
    detail: str = ""


class Records:
    def __init__(self, place: Path) -> None:
        self._place = place

    def open(self) -> None:
        try:
            self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as e:
            raise Unavailable(f"the jobs cannot be remembered in {self._place}: {e}; choose another data_dir") from e

    def all(self) -> Iterator[Record]:
        for path in sorted(self._place.glob("job-*.json")):
            try:
                yield Record(**json.loads(path.read_text()))
            except (OSError, ValueError, TypeError) as e:
                logger.warning("%s cannot be read and is left alone: %s", path, e)

    def write(self, record: Record) -> None:
        self._write(self._path(record), asdict(record))

    def remove(self, record: Record) -> None:
        self._path(record).unlink(missing_ok=True)

    def remember_hosts(self, lines: list[str]) -> None:
        self._write(self._place / "sinfo.json", lines)

    def hosts(self) -> list[str]:
        """Return the last answer of sinfo."""
        try:
            hosts: list[str] = json.loads((self._place / "sinfo.json").read_text())
        except (OSError, ValueError):
            return []
        return hosts

    def _path(self, record: Record) -> Path:
        return self._place / f"job-{record.allocation_id}.json"

    def _write(self, path: Path, content: Any) -> None:
        fresh = path.with_suffix(".new")
        try:
            with fresh.open("w") as file:
                json.dump(content, file)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except OSError as e:
            raise Unavailable(f"{path} cannot be written: {e}; free space or correct its owner") from e
