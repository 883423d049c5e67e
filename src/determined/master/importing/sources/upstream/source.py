"""Connection to upstream's database: one read-only snapshot, checked for its schema before anything is read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from determined._imports import load_optional
from determined.errors import FailedPrecondition, InvalidArgument, Unavailable
from determined.master.importing.sources.upstream.required_columns import LATER, OPTIONAL, REQUIRED

if TYPE_CHECKING:
    import psycopg

S = TypeVar("S")

OLDEST = 20240530112249  # the first schema that we read; mid 2024
NEWEST = 20241024164947  # of 0.38.1
EXTRA = "upstream"
# work_mem: a unit of metric rows is sorted in memory instead of on the source's disk.
# extra_float_digits: a time comes as text without a loss, whatever the server's own setting is.
_SESSION = (
    "-c default_transaction_read_only=on -c timezone=UTC -c statement_timeout=0 -c jit=off -c work_mem=32MB"
    " -c extra_float_digits=1"
)


class Source:
    """Snapshot of the database. Everything that is read belongs to one moment; nothing can be written."""

    def __init__(self, url: str) -> None:
        _require_url(url)
        self._psycopg: Any = _driver()
        self.address = without_password(url)
        try:
            self._connection: psycopg.Connection[Any] = self._psycopg.connect(url, options=_SESSION, connect_timeout=15)
        except self._psycopg.Error as e:
            raise Unavailable(f"cannot connect to the source {self.address}: {str(e).strip()}; check --source") from e
        self._connection.isolation_level = self._psycopg.IsolationLevel.REPEATABLE_READ
        self._connection.read_only = True
        self._require_read_only()
        self.version = self._schema_version()
        self._present = self._columns()
        later = {table: " ".join(columns) for table, columns in LATER.items()}
        self.later = _missing(later, self._present)  # columns that the schema does not have yet
        self._require_columns(later if self.version >= NEWEST else {})
        self.missing = {kind: _missing(tables, self._present) for kind, tables in OPTIONAL.items()}
        self.cluster_id = str(self.value("SELECT cluster_id FROM cluster_id"))

    def close(self) -> None:
        self._connection.close()

    def rows(self, query: str, struct: Callable[..., S], parameters: Mapping[str, object] | None = None) -> list[S]:
        """Run a query and build a struct from each row, by the order of its columns."""
        return [struct(*row) for row in self.tuples(query, parameters)]

    def tuples(self, query: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, parameters, binary=True).fetchall()

    def stream(
        self, query: str, parameters: Mapping[str, object] | None = None, size: int = 1000
    ) -> Iterator[tuple[Any, ...]]:
        """Run a query whose rows do not fit into memory at once."""
        with self._connection.cursor(name="import_upstream") as cursor:
            cursor.itersize = size
            cursor.execute(query, parameters)
            yield from cursor

    def value(self, query: str, parameters: Mapping[str, object] | None = None) -> Any:
        """Return the first column of the only row; None without a row."""
        row = self._connection.execute(query, parameters).fetchone()
        return None if row is None else row[0]

    def copy(self, query: str, parameters: Mapping[str, object], types: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Stream the rows of a query by COPY, the fastest way out of PostgreSQL."""
        with self._connection.cursor() as cursor:
            composed = self._psycopg.ClientCursor(self._connection).mogrify(query, parameters)
            with cursor.copy(f"COPY ({composed}) TO STDOUT (FORMAT BINARY)") as copy:
                copy.set_types(types)
                yield from copy.rows()

    def has_table(self, name: str) -> bool:
        return self.value("SELECT to_regclass(%(name)s) IS NOT NULL", {"name": f"public.{name}"}) is True

    def _require_read_only(self) -> None:
        if self.value("SHOW transaction_read_only") != "on":
            raise FailedPrecondition(
                f"the source {self.address} does not grant a read-only transaction; nothing was read"
            )

    def _schema_version(self) -> int:
        if not self.has_table("gopg_migrations"):
            raise InvalidArgument(
                f"{self.address} is no database of an upstream master: it has no table gopg_migrations; check --source"
            )
        version = int(self.value("SELECT max(version) FROM gopg_migrations") or 0)
        if version < OLDEST:
            raise FailedPrecondition(
                f"the source has schema {version}; {OLDEST} (mid 2024) to {NEWEST} (0.38.1) can be read. "
                "Start a 0.38.1 master once on a copy of the database: its migrations bring it up to date"
            )
        return version

    def has(self, kind: str) -> bool:
        """Check whether the source has the columns of an optional kind."""
        return not self.missing[kind]

    def column(self, table: str, name: str, expression: str) -> str:
        """Return the expression that reads a column; its replacement where the schema does not have it yet."""
        return expression if (table, name) in self._present else LATER[table][name]

    def sees(self, table: str, column: str | None = None) -> bool:
        """Check for a table, or a column of it, that the role may see. `<schema>.<table>` outside of `public`."""
        return any(table == other and column in (None, name) for other, name in self._present)

    def _columns(self) -> set[tuple[str, str]]:
        query = """
        SELECT CASE table_schema WHEN 'public' THEN table_name::text ELSE table_schema || '.' || table_name END,
               column_name::text
        FROM information_schema.columns
        WHERE table_schema IN ('public', 'oauth', 'scim') AND has_schema_privilege(table_schema, 'USAGE')
        """
        return {(table, column) for table, column in self.tuples(query)}

    def _require_columns(self, later: Mapping[str, str]) -> None:
        missing = [*_missing(REQUIRED, self._present), *_missing(later, self._present)]
        if missing:
            shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
            raise FailedPrecondition(
                f"the source lacks columns that schema {self.version} has, or its role may not see them: {shown}. "
                "Grant SELECT on all tables; a database that was changed by hand cannot be read"
            )


def _missing(tables: Mapping[str, str], present: set[tuple[str, str]]) -> list[str]:
    return [
        f"{table}.{column}"
        for table, columns in tables.items()
        for column in columns.split()
        if (table, column) not in present
    ]


def without_password(url: str) -> str:
    """Return an address that may be shown: PostgreSQL takes passwords in two places of a URL."""
    parts = urlsplit(url)
    name, _, host = parts.netloc.rpartition("@")
    user = name.partition(":")[0]
    return urlunsplit((parts.scheme, f"{user}@{host}" if user else host, parts.path, "", ""))


def _require_url(source: str) -> None:
    """Raise InvalidArgument for `host=db password=...`: its password would be shown. The value is not repeated."""
    if not source.startswith(("postgresql://", "postgres://")):
        raise InvalidArgument("--source must be a URL such as postgresql://user:password@host:5432/determined")


def _driver() -> Any:
    try:
        load_optional("bcrypt", extra=EXTRA)  # the master needs it for logins after the import
        return load_optional("psycopg", extra=EXTRA)
    except ImportError as e:
        raise FailedPrecondition(str(e)) from e
