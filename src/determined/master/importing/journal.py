"""Journal of an import: units are stored together with a row that says so, and a killed import goes on after the last.

A unit is a few hundred things or a hundred thousand metric rows. `on_unit` hears of each one that is stored.
"""

import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
from sqlalchemy import Connection

from determined.master.db.dialects import Values
from determined.master.db.queries import import_unit, imported
from determined.master.db.rows.imports import ImportUnit
from determined.master.importing.notes import Tally
from determined.master.importing.target import Target

_KEYED = {"users": ("id",), "workspaces": ("id",), "projects": ("id",)}  # rows that every cluster has from its start

OnUnit = Callable[[str, int], None]
"""Called with a step and the rows of the source that the unit covers."""


@dataclass(slots=True)
class Batch:
    """Rows of one unit by table, in the order in which they are written."""

    tables: dict[str, list[Values]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    def add(self, rows: Iterable[tuple[str, Values]]) -> None:
        for table, values in rows:
            self.tables.setdefault(table, []).append(values)

    def write(self, conn: Connection) -> None:
        for table, rows in self.tables.items():
            if table in _KEYED:
                imported.put_rows(conn, table, rows, _KEYED[table])
            else:
                imported.insert_rows(conn, table, rows)

    def checksum(self) -> str:
        """Return a checksum of the content, equal for equal rows of the source."""
        total = 0
        for table, rows in self.tables.items():
            total = zlib.crc32(msgspec.msgpack.encode([table, rows], enc_hook=str), total)
        return f"{total:08x}"


@dataclass(frozen=True, slots=True)
class Unit:
    """Unit to store. `upto`: where the next one begins, exclusive; `ids` are kept where others must know them."""

    step: str
    rows: int
    checksum: str = ""
    upto: list[int] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    ids: list[int] | None = None


class Journal:
    def __init__(self, target: Target, import_id: int, on_unit: OnUnit) -> None:
        self._target = target
        self.import_id = import_id
        self._on_unit = on_unit
        self.units: dict[str, list[ImportUnit]] = {}
        for unit in target.read(lambda conn: import_unit.units(conn, import_id)):
            self.units.setdefault(unit.step, []).append(unit)
        self._numbers = {step: len(units) for step, units in self.units.items()}

    def upto(self, step: str) -> list[int] | None:
        """Return where the step goes on; None where it has not begun."""
        units = self.units.get(step)
        return units[-1].upto if units else None

    def rows(self, step: str) -> int:
        """Return how many rows of the source earlier runs have covered."""
        return sum(unit.rows for unit in self.units.get(step, ()))

    def store(self, unit: Unit, write: Callable[[Connection], list[int] | None]) -> list[int]:
        """Store the rows of a unit and the unit in one transaction; return the ids that `write` gave to new rows."""
        number = self._numbers.get(unit.step, 0)

        def run(conn: Connection) -> list[int]:
            made = write(conn)
            import_unit.add_unit(
                conn,
                {
                    "import_id": self.import_id,
                    "step": unit.step,
                    "number": number,
                    "rows": unit.rows,
                    "checksum": unit.checksum,
                    "upto": unit.upto,
                    "ids": unit.ids if made is None else made,
                    "notes": unit.tally.to_json(),
                },
            )
            return made or []

        ids = self._target.write(run)
        self._numbers[unit.step] = number + 1
        self._on_unit(unit.step, unit.rows)
        return ids

    def store_ids(
        self,
        step: str,
        ids: Sequence[int],
        make: Callable[[Sequence[int]], Batch],
        *,
        size: int,
        keep_ids: bool = False,
    ) -> None:
        """Store things by their ids, `size` at a time, from where an earlier run has ended."""
        after = self.upto(step)
        begin = bisect_right(ids, after[0]) if after else 0
        for part in _parts(ids, begin, size):
            batch = make(part)
            kept = list(part) if keep_ids else None
            unit = Unit(step, len(part), batch.checksum(), [part[-1]], batch.tally, kept)
            self.store(unit, batch.write)


def _parts(ids: Sequence[int], begin: int, size: int) -> Iterator[Sequence[int]]:
    for start in range(begin, len(ids), size):
        yield ids[start : start + size]
