"""Imports as a process, as `det master import upstream` starts it, and a look at what they stored."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, select

from determined.master.db import dialects, schema

T = TypeVar("T")
LAST_OF_SOURCE = datetime(2025, 1, 1, tzinfo=UTC)
_CONTENT = ("users", "workspaces", "projects", "experiments", "trials", "tasks", "checkpoints", "metric_summaries",
            "metric_watermarks", "metric_ranges", "model_definitions", "models", "model_versions", "trial_source_infos",
            "templates", "webhooks", "webhook_triggers", "allocations")  # fmt: skip


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

    def kill_after(self, wait: float, *arguments: str) -> bool:
        """Start an import and kill it `wait` seconds after its survey; True where it had not ended."""
        process = self.start(*arguments)
        assert process.stdout is not None
        process.stdout.readline()  # the survey: now it writes
        time.sleep(wait)
        ended = process.poll() is not None
        process.kill()
        process.wait(60)
        return not ended

    def kill_after_units(self, units: int, wait: float, *arguments: str) -> bool:
        """Start an import into SQLite, kill it `wait` seconds after so many more units; True where it had not ended."""
        stored = self._units() + units
        process = self.start(*arguments)
        while process.poll() is None and self._units() < stored:
            time.sleep(0.02)
        time.sleep(wait)
        ended = process.poll() is not None
        process.kill()
        process.communicate()
        return not ended

    def _units(self) -> int:
        if not (self.data / "master.db").exists():
            return 0
        with contextlib.closing(sqlite3.connect(self.data / "master.db", timeout=60)) as database:
            tables = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'import_units'").fetchone()[0]
            return int(database.execute("SELECT count(*) FROM import_units").fetchone()[0]) if tables else 0

    def read(self, look: Callable[[Connection], T]) -> T:
        engine = dialects.create_engine(self.url)
        try:
            with engine.connect() as conn:
                return look(conn)
        finally:
            engine.dispose()


def content(conn: Connection) -> dict[str, Any]:
    """Read all that is stored, without the numbers of rows that may differ."""
    rows = {name: sorted(map(_text, conn.execute(select(*_columns(name))))) for name in _CONTENT}
    c, lines = schema.metric_chunks.c, schema.log_chunks.c
    chunks = select(c.trial_id, c.run_id, c.group, c.first_step, c.last_step, c.n, c.data)
    rows["chunks"] = sorted(map(repr, conn.execute(chunks)))
    rows["logs"] = sorted(map(repr, conn.execute(select(lines.task_id, lines.first_id, lines.n))))
    return rows


def _columns(table: str) -> list[Any]:
    """PostgreSQL gives triggers other ids when a transaction before was rolled back."""
    columns = schema.metadata.tables[table].c
    return [column for column in columns if (table, column.name) != ("webhook_triggers", "id")]


def _text(row: Any) -> str:
    """SQLite reads the JSON number 3.0 as 3. The time of the import stands in rows of what was live."""
    return repr([float(v) if isinstance(v, int) else "now" if _is_now(v) else v for v in row])


def _is_now(value: Any) -> bool:
    return isinstance(value, datetime) and value > LAST_OF_SOURCE
