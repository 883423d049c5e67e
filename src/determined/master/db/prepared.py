"""Statements of the busiest paths, compiled once and then given to the driver as text.

SQLAlchemy looks a statement up in its cache, binds its values and wraps its rows at each call: several times what
SQLite takes to run it. A prepared statement keeps what the compiler found out, for each dialect and each set of
parameters; `fetch` runs it. It runs in the transaction of the connection, and raises what SQLAlchemy would raise.
"""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError, PendingRollbackError
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import CompilerElement

E = TypeVar("E", bound=Executable)

Parameters = Mapping[str, object]
_Convert = Callable[[Any], Any]


class Plan:
    """Text of a statement for one driver, how our values become the driver's, and how its rows become ours."""

    __slots__ = ("_binds", "_is_positional", "_results", "_types", "columns", "text")

    def __init__(self, statement: CompilerElement, dialect: Dialect, keys: Sequence[str]) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=list(keys))
        if not isinstance(compiled, SQLCompiler) or compiled.post_compile_params or compiled.literal_execute_params:
            raise TypeError(f"a statement whose text depends on its values cannot be prepared: {statement}")
        if compiled.insert_prefetch or compiled.update_prefetch:
            raise TypeError(f"a statement with values that SQLAlchemy makes cannot be prepared: {statement}")
        self.text = compiled.string
        self._is_positional = compiled.positional
        names = compiled.positiontup if compiled.positional else list(compiled.params)
        self._binds = [_bind(compiled, name, dialect) for name in names or ()]
        selected = list(getattr(statement, "selected_columns", ()))
        self.columns = tuple(str(getattr(column, "name", "")) for column in selected)  # an expression may have none
        self._types = [column.type.dialect_impl(dialect) for column in selected]
        self._results: list[tuple[int, _Convert]] | None = None if selected else []

    def values(self, parameters: Parameters) -> Any:
        """Return the values as the driver takes them. Raises KeyError for one that is missing."""
        binds = self._binds
        if self._is_positional:
            return [constant if name is None else _given(parameters[name], to) for name, _, constant, to in binds]
        return {key: constant if name is None else _given(parameters[name], to) for name, key, constant, to in binds}

    def rows(self, dialect: Dialect, cursor: Any) -> list[Any]:
        """Return what the rows of the driver hold. What it calls a column's type is known from its first answer on."""
        if self._results is None:
            types = zip(self._types, cursor.description, strict=True)
            converters = (kind.result_processor(dialect, column[1]) for kind, column in types)
            self._results = [(n, convert) for n, convert in enumerate(converters) if convert is not None]
        if not self._results:
            return list(cursor)
        return [_converted(row, self._results) for row in cursor]


def prepare(statement: E) -> E:
    """Mark a statement as one that `fetch` compiles once. For those that live as long as the process."""
    _plans[statement] = {}
    return statement


def plan_of(conn: Connection, statement: Executable, parameters: Parameters) -> Plan | None:
    """Return the plan of a prepared statement; None for any other."""
    plans = _plans.get(statement)
    if plans is None:
        return None
    key = (conn.dialect.name, *parameters)
    plan = plans.get(key)
    if plan is None:
        assert isinstance(statement, CompilerElement)
        plan = plans[key] = Plan(statement, conn.dialect, list(parameters))
    return plan


def read(conn: Connection, plan: Plan, parameters: Parameters) -> list[Any]:
    """Run it and return its rows, as sequences of values."""
    values = plan.values(parameters)
    cursor = _run(conn, "execute", plan.text, values)
    try:
        return plan.rows(conn.dialect, cursor)
    except conn.dialect.loaded_dbapi.Error as e:  # behind the first row
        raise _as_raised_by_sqlalchemy(conn, plan.text, values, e) from e


def run(conn: Connection, plan: Plan, parameters: Parameters) -> int:
    """Run it and return how many rows it changed."""
    return int(_run(conn, "execute", plan.text, plan.values(parameters)).rowcount)


def run_many(conn: Connection, plan: Plan, rows: Sequence[Parameters]) -> None:
    """Run it once for each of the rows."""
    _run(conn, "executemany", plan.text, [plan.values(row) for row in rows])


def run_text(conn: Connection, text: str) -> None:
    """Run a command of transactions."""
    _run(conn, "execute", text, ())


class Savepoint:
    """Part of a transaction: its `with` block is done whole, or undone with the error that ends the block.

    `is_lost`: the whole transaction is gone with that error (the disk is full, the server away).
    """

    __slots__ = ("_conn", "is_lost")

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self.is_lost = False

    def __enter__(self) -> "Savepoint":
        self._command("SAVEPOINT part")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if kind is None:
            self._command("RELEASE SAVEPOINT part")
        elif self._conn.invalidated:
            self.is_lost = True
        else:
            self._undo()
        return False

    def _command(self, text: str) -> None:
        try:
            run_text(self._conn, text)
        except (DBAPIError, PendingRollbackError):
            self.is_lost = True  # or what follows would run in a part that its caller was told has failed
            raise

    def _undo(self) -> None:
        try:
            run_text(self._conn, "ROLLBACK TO SAVEPOINT part")
            run_text(self._conn, "RELEASE SAVEPOINT part")
        except DBAPIError:
            self.is_lost = True  # and the error that ends the block says why


def _run(conn: Connection, how: str, text: str, values: Any) -> Any:
    driver: Any = conn.connection.driver_connection
    target = driver if how == "execute" else driver.cursor()
    try:
        return getattr(target, how)(text, values)
    except conn.dialect.loaded_dbapi.Error as e:
        raise _as_raised_by_sqlalchemy(conn, text, values, e) from e


def _as_raised_by_sqlalchemy(conn: Connection, text: str, values: Any, error: Exception) -> BaseException:
    driver: Any = conn.connection.driver_connection
    is_lost = conn.dialect.is_disconnect(error, driver, None)  # type: ignore[arg-type]  # any error of the driver
    if is_lost:
        conn.invalidate(error)
    base = conn.dialect.loaded_dbapi.Error
    wrapped = DBAPIError.instance(text, values, error, base, connection_invalidated=is_lost, dialect=conn.dialect)
    return wrapped if isinstance(wrapped, BaseException) else error


def _bind(compiled: SQLCompiler, name: str, dialect: Dialect) -> tuple[str | None, str, object, _Convert | None]:
    """Return the parameter to look up (None for a constant), the driver's name of it, its constant and converter."""
    bind = compiled.binds[name]
    convert = bind.type.dialect_impl(dialect).bind_processor(dialect)
    if bind.required:
        return bind.key, name, None, convert
    return None, name, _given(bind.effective_value, convert), None


def _converted(row: Sequence[Any], results: Sequence[tuple[int, _Convert]]) -> list[Any]:
    values = list(row)
    for n, convert in results:
        if values[n] is not None:
            values[n] = convert(values[n])
    return values


def _given(value: object, convert: _Convert | None) -> object:
    return value if convert is None else convert(value)


_plans: dict[Executable, dict[tuple[str, ...], Plan]] = {}
