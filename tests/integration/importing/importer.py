"""Imports as a process, as `det master import upstream` starts it, and a look at what they stored."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection

from determined.master.db import dialects

T = TypeVar("T")


class Importer:
    """Cluster to import into. `db_url` None: SQLite in the data directory."""

    def __init__(self, data: Path, db_url: str | None, kind: str = "upstream") -> None:
        self.data, self.db_url, self.kind = data, db_url, kind

    @property
    def url(self) -> str:
        return self.db_url or f"sqlite:///{self.data / 'master.db'}"

    def command(self, *arguments: str) -> list[str]:
        place = ["--data-dir", str(self.data), *(["--db-url", self.db_url] if self.db_url else [])]
        return [sys.executable, "-m", "determined.master", "import", *place, self.kind, *arguments]

    def run(self, *arguments: str, status: int = 0) -> list[dict[str, Any]]:
        """Run to the end and return the events."""
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == status, f"{done.returncode}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return [json.loads(line) for line in done.stdout.splitlines()]

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def read(self, look: Callable[[Connection], T]) -> T:
        engine = dialects.create_engine(self.url)
        try:
            with engine.connect() as conn:
                return look(conn)
        finally:
            engine.dispose()
