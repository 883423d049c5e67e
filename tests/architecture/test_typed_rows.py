"""Mistakes in the name or the type of a column are errors of mypy: in statements, in rows and in values to write."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_BEGINNING = """
from sqlalchemy import Connection, select
import msgspec
from determined.master.db import fetch
from determined.master.db.queries import job
from determined.master.db.rows.experiments import Job, JobValues
from determined.master.db.schema import jobs
class Place(msgspec.Struct, frozen=True):
    pool: str
    position: float
class Wrong(msgspec.Struct, frozen=True):
    pool: int
    position: float
def check(conn: Connection) -> None:
"""
_RIGHT = (
    "fetch.rows(conn, select(jobs.c.pool, jobs.c.position), Place)[0].pool.upper()",
    "fetch.rows(conn, select(jobs), Job)[0].pool.upper()",
    "job.update_row(conn, 'id', {'pool': 'default', 'max_slots': None})",
)
_WRONG = {
    "select(jobs.c.pol)": 'has no attribute "pol"',
    "job.get(conn, 'id').pol": 'has no attribute "pol"',
    "job.get(conn, 'id').priority.upper()": '"int" has no attribute "upper"',
    "fetch.rows(conn, select(jobs.c.pool, jobs.c.position), Wrong)": 'incompatible type "type[Wrong]"',
    "job.update_row(conn, 'id', {'pol': 'default'})": 'Extra key "pol"',
    "job.update_row(conn, 'id', {'pool': None})": 'item "pool" has type "str"',
}


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """The errors of mypy by the number of the statement, the right ones first."""
    program = tmp_path_factory.mktemp("typed_rows") / "program.py"
    program.write_text(_BEGINNING + "".join(f"    {line}\n" for line in (*_RIGHT, *_WRONG)))
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", str(program)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    first = _BEGINNING.count("\n") + 1
    found = re.findall(r"program\.py:(\d+): error: (.*)", done.stdout)
    assert found, done.stdout + done.stderr
    return {int(line) - first: message for line, message in found}


def test_statements_without_a_mistake_pass(errors: dict[int, str]) -> None:
    assert not [errors[n] for n in range(len(_RIGHT)) if n in errors]


@pytest.mark.parametrize("number", range(len(_WRONG)), ids=list(_WRONG))
def test_a_mistyped_column_is_a_type_error(errors: dict[int, str], number: int) -> None:
    assert list(_WRONG.values())[number] in errors.get(len(_RIGHT) + number, "")
