"""Units of system metrics (`--with-profiling`): whole trials, some ten thousand rows each."""

from collections.abc import Iterator, Sequence
from functools import partial

from sqlalchemy import Connection

from determined.master.db.queries import imported_metrics
from determined.master.importing.journal import Journal, Unit
from determined.master.importing.notes import Tally
from determined.master.importing.packed_metrics import Packed
from determined.master.importing.sources.upstream.mapping.system_metric import pack_system
from determined.master.importing.sources.upstream.metric_units import TrialRows, step_name
from determined.master.importing.sources.upstream.reading import system_metrics
from determined.master.importing.sources.upstream.source import Source

STEP = step_name(system_metrics.TABLE)
_ROWS = 20_000


def store(source: Source, journal: Journal, counts: Sequence[TrialRows]) -> None:
    """Store the system metrics of trials from where an earlier run has ended."""
    done = journal.upto(STEP)
    for part in _parts([trial for trial in counts if not done or trial.trial_id > done[0]]):
        tally = Tally()
        packed = pack_system(system_metrics.read(source, part), tally)
        journal.store(Unit(STEP, packed.rows, "", [part[-1]], tally), partial(_write, packed))


def _write(packed: Packed, conn: Connection) -> None:
    imported_metrics.add(conn, packed.chunks, packed.spans, packed.summaries)


def _parts(counts: Sequence[TrialRows]) -> Iterator[list[int]]:
    part: list[int] = []
    rows = 0
    for trial in counts:
        part.append(trial.trial_id)
        rows += trial.rows
        if rows >= _ROWS:
            yield part
            part, rows = [], 0
    if part:
        yield part
