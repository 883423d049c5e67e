"""Mistakes in the name or the type of a column are errors of mypy: in statements, in rows and in values to write."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MASTER = ROOT / "src" / "determined" / "master"

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


def test_no_query_reads_a_row_by_names_that_mypy_does_not_know() -> None:
    """`.mappings()` and `row.name` of SQLAlchemy's own rows are untyped: unpack the row, or read it with `fetch`."""
    sources = [path for path in MASTER.rglob("*.py") if "migrations" not in path.parts]
    untyped = [f"{path.relative_to(MASTER)}:{line}" for path in sources for line in _untyped_reads(path)]
    assert not untyped, f"read these with master/db/fetch.py: {untyped}"


def _untyped_reads(path: Path) -> Iterator[int]:
    tree = ast.parse(path.read_text())
    yield from (node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "mappings")
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            rows = {name for node in ast.walk(function) for name in _rows_of_result(node)}
            attributes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
            yield from (
                node.lineno for node in attributes if isinstance(node.value, ast.Name) and node.value.id in rows
            )


def _rows_of_result(node: ast.AST) -> Iterator[str]:
    """Names of rows: variables of loops over a result, and those that hold its `first`, `one` or `one_or_none`."""
    if isinstance(node, ast.For | ast.comprehension):
        target, is_row = node.target, _last_call(node.iter) in ("execute", "all")
    elif isinstance(node, ast.Assign):
        target, is_row = node.targets[0], _last_call(node.value) in ("first", "one", "one_or_none")
    else:
        return
    if is_row and isinstance(target, ast.Name):
        yield target.id


def _last_call(node: ast.expr) -> str | None:
    """The last method of a chain that runs a statement: `all` of `conn.execute(...).all()`."""
    names = [n.func.attr for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    return names[0] if "execute" in names else None
