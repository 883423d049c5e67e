"""Record of an import: begun with a copy of what it writes over, its journal, the rows of each step."""

from datetime import UTC, datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.master.db.queries import import_removal, import_unit
from determined.master.db.rows.imports import Import
from determined.master.importing.journal import Journal
from determined.master.importing.notes import Tally
from determined.master.importing.progress import Emit, Progress
from determined.master.importing.removal import BEFORE
from determined.master.importing.target import Target


def begin(conn: Connection, kind: str, source_id: str, source: str, options: JsonObject) -> Import:
    """Begin an import. `source_id`: which cluster or store its things are of, `source`: where it reads them."""
    before = import_removal.snapshot(conn)
    import_id = import_unit.start(conn, datetime.now(UTC), kind, source_id, source, options)
    import_unit.add_unit(
        conn, {"import_id": import_id, "step": BEFORE, "number": 0, "rows": 0, "checksum": "", "notes": before}
    )
    begun = import_unit.running(conn)
    assert begun is not None
    return begun


def journal_of(target: Target, begun: Import, totals: dict[str, int], emit: Emit) -> Journal:
    """Open the journal; `emit` hears of the progress. `totals`: rows of the source by step."""
    progress = Progress(emit, totals, {})
    journal = Journal(target, begun.id, progress.stored)
    progress.done = {step: journal.rows(step) for step in journal.units}
    return journal


def taken(target: Target, begun: Import, tally: Tally) -> dict[str, int]:
    """Return the rows that were taken by step; add to `tally` what was noted on the way."""
    rows: dict[str, int] = {}
    for unit in target.read(lambda conn: import_unit.units(conn, begun.id)):
        if unit.step != BEFORE:
            rows[unit.step] = rows.get(unit.step, 0) + unit.rows
            tally.merge(unit.notes)
    return rows
