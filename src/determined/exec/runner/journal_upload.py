"""The thread that carries every journal to the master: in order, exactly once, for as long as it takes."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from determined.errors import Conflict, DeterminedError, FailedPrecondition, Unavailable
from determined.exec.master_link import STALE
from determined.exec.runner.log_sink import LOGS
from determined.exec.runner.master_retry import MASTER_AWAY
from determined.rundir.control import Control
from determined.rundir.journal import JournalReader, journal_names
from determined.rundir.layout import RunDir
from determined.wire.codec import from_json
from determined.wire.report import LogLine, Missing, ReportAnswer

logger = logging.getLogger(__name__)

_MAX_RECORDS = 1000
_MAX_BYTES = 1 << 20
_POLL_SECONDS = 0.025  # how long a record of another process may lie before it is noticed
# Until another process writes a journal: the longest look-out for one, and how it grows. Hundreds of idle notebooks and
# shells on a node would otherwise look 40 times a second, for nothing.
_ALONE_SECONDS = 0.5
_ALONE_SHARE = 0.01
_PACE_SECONDS = 0.05  # between two batches that are not full
_FIRST_SECONDS = 0.2  # the phases before a task's first line follow one another at once: one request carries them
_SYNC_SECONDS = 1.0
_DEFECTS = 3  # internal errors on one batch before a record of it is suspected
_FILL_RECORDS = 20_000  # placeholders in one batch

_MISSING = msgspec.msgpack.encode(Missing())
_EXIT = msgspec.msgpack.encode("exit")  # the tag of wire.report.Exit, behind the length of its array

_Batch = dict[str, tuple[int, list[bytes]]]  # journal -> number of its first record, records


class ReportLink(Protocol):
    """Connection that takes batches of records and answers a ReportAnswer; it raises as MasterLink does."""

    def report(self, batch: bytes) -> bytes: ...


class JournalUploader:
    """Uploader of all journals.

    `on_over` is called (once) when the master says that the allocation is over; `complain` is for the task's log.
    """

    def __init__(
        self,
        link: ReportLink,
        run_dir: RunDir,
        control: Control,
        on_over: Callable[[str], None],
        complain: Callable[[str], None] = logger.warning,
    ) -> None:
        self._link = link
        self._directory = run_dir.journals
        self._refused = run_dir.refused
        self._control = control
        self._on_over = on_over
        self._complain = complain
        self._readers: dict[str, JournalReader] = {}
        self._spoilt: set[str] = set()
        self._ends: dict[str, int] = {}  # journal -> its record that cannot be read: neither can those behind it
        self._turn = 0
        self._limit = _MAX_RECORDS
        self._began = time.monotonic()
        self._over = False
        self._stale = False
        self._wanted = threading.Event()
        self._asked = 0  # drains asked for
        self._emptied = 0  # drains answered: everything committed before that question is acknowledged
        self._changed = threading.Condition()
        self._synced = 0.0
        self._defects = 0  # internal errors of the master in a row at `_defect_at`, journal -> first record
        self._defect_at: dict[str, int] = {}

    def start(self) -> None:
        threading.Thread(target=self._run, name="uploader", daemon=True).start()

    def hurry(self) -> None:
        """Wake the upload: something was appended in this process."""
        self._wanted.set()

    def drain(self) -> bool:
        """Block until everything appended before this call is acknowledged; False when the master wants no more."""
        with self._changed:
            self._asked += 1
            question = self._asked
            self._wanted.set()
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._stale or self._emptied >= question)
            return not self._stale

    def position(self, journal: str) -> int:
        """Return how many records of one journal the master has; 0 when it wants nothing of ours."""
        try:
            answer = from_json(self._link.report(_encode({})), ReportAnswer)
        except STALE as e:
            logger.warning("cannot learn the master's position: %s", e)
            return 0
        return answer.positions.get(journal, 0)

    def _run(self) -> None:
        delays = MASTER_AWAY.delays()
        self._wanted.wait(_FIRST_SECONDS)
        while not self._stale:
            try:
                shipped = self._pass()
                delays = MASTER_AWAY.delays()
            except Unavailable as e:
                logger.warning("master away: %s", e)
                self._control.master_away = True
                self._check_directory()
                self._sync()
                time.sleep(next(delays))
                continue
            except Exception:
                # An unforeseen fault must not end the upload: the task would run on and never report again.
                logger.exception("uploading the journals failed; trying again")
                time.sleep(next(delays))
                self._check_directory()
                continue
            if not shipped:
                is_alone = set(self._readers) <= {LOGS} and not self._control.attached
                self._wanted.wait(seconds_to_next_look(time.monotonic() - self._began, is_alone=is_alone))
                self._wanted.clear()

    def _pass(self) -> bool:
        """Ship one batch; False when there was nothing to ship."""
        question = self._asked
        batch = self._collect()
        if not batch:
            self._answer(question)
            return False
        started = time.monotonic()
        self._ship(batch)
        if sum(len(records) for _, records in batch.values()) >= self._limit:
            self._turn += 1
            return True
        self._turn = 0
        self._pace(_PACE_SECONDS - (time.monotonic() - started))
        return True

    def _collect(self) -> _Batch:
        """Collect as many records as fit; after a full batch another journal comes first, so that each gets a turn."""
        names = self._discover()
        start = self._turn % len(names) if names else 0
        batch = self._take(names[start:] + names[:start])
        if self._leaves_reports(batch) and _withhold_exit(batch) and not batch:
            # The exit alone may have taken the room: a batch that is refused is halved until it holds one record.
            return self._take([name for name in names if name != LOGS]) or self._give_up()
        return batch

    def _take(self, names: list[str]) -> _Batch:
        """Read as many records of these journals as fit into a batch."""
        batch: _Batch = {}
        room, size = self._limit, _MAX_BYTES
        for name in names:
            if room <= 0 or size <= 0:
                break
            records: list[bytes] = []
            with self._sparing(name):
                first, records = self._readers[name].read(room, size)
            if records:
                batch[name] = (first, records)
                room -= len(records)
                size -= sum(map(len, records))
        return batch

    def _leaves_reports(self, batch: _Batch) -> bool:
        """Check whether another journal than ours has records that are not in this batch. Spoilt ones never end."""
        return any(self._readers[name].pending > len(batch.get(name, (0, []))[1]) for name in self._others())

    def _others(self) -> list[str]:
        """Return the journals that the exit waits for."""
        names = [name for name in self._readers if name != LOGS and name not in self._spoilt]
        return [name for name in names if name not in self._ends or self._readers[name].acknowledged < self._ends[name]]

    def _give_up(self) -> _Batch:
        """Let the exit go without the rest of a journal that cannot be read, and say so in place of its next record.

        In place of it, because nothing follows the exit in our own journal.
        """
        for name in self._others():
            if self._readers[name].pending:
                number = self._ends[name] = self._readers[name].acknowledged + 1
                text = f"reports in journal {name} cannot be read from number {number} on and are left out"
                logger.warning("%s", text)
                said = LogLine(text, time.time(), "stdout", "ERROR", None, "agent")
                return {name: (number, [msgspec.msgpack.encode(said)])}
        return {}

    def _discover(self) -> list[str]:
        for name in journal_names(self._directory):
            if name not in self._readers:
                with self._sparing(name):
                    self._readers[name] = JournalReader(self._directory, name)
        # The runner's own journal leads: "running" is said before the first metric.
        return sorted(self._readers, key=lambda name: (name != LOGS, name))

    @contextlib.contextmanager
    def _sparing(self, name: str) -> Iterator[None]:
        """Skip a journal that cannot be read (its head was lost or overwritten): the others must not wait for it."""
        try:
            yield
        except (OSError, ValueError, FailedPrecondition) as e:
            if name not in self._spoilt:
                self._spoilt.add(name)
                self._complain(f"reports in journal {name} cannot be read and are left out: {e}")

    def _ship(self, batch: _Batch) -> None:
        try:
            self._post(batch)
            self._limit = min(_MAX_RECORDS, self._limit * 2)
        except STALE as e:
            self._leave(str(e))
        except Unavailable as e:
            if not self._fails_on_record(batch, e):
                raise
            self._isolate(batch, e)
        except DeterminedError as e:
            if isinstance(e, Conflict) and self._resynchronise(batch, e.details.get("positions")):
                return
            self._isolate(batch, e)

    def _fails_on_record(self, batch: _Batch, answer: Unavailable) -> bool:
        """Check whether one record makes the master fail: the same batch then meets the same defect each time."""
        if not answer.details.get("defect"):
            self._defects = 0
            return False
        places = {name: first for name, (first, _) in batch.items()}
        self._defects = self._defects + 1 if places == self._defect_at else 1
        self._defect_at = places
        return self._defects >= _DEFECTS

    def _post(self, batch: _Batch) -> None:
        answer = from_json(self._link.report(_encode(batch)), ReportAnswer)
        self._control.master_away = False
        self._note_refusals(answer.refused)  # first: a writer looks for refusals as soon as it is acknowledged
        for name, position in answer.positions.items():
            if name in self._readers:
                self._readers[name].acknowledge(position)
        if answer.ended and not self._over:
            self._over = True
            self._on_over("the master says that the allocation is over")

    def _note_refusals(self, refused: dict[str, str]) -> None:
        for checkpoint_id, reason in refused.items():
            self._refused.mkdir(mode=0o700, exist_ok=True)
            fresh = self._refused / f".{Path(checkpoint_id).name}"
            fresh.write_text(reason)
            fresh.rename(self._refused / Path(checkpoint_id).name)

    def _resynchronise(self, batch: _Batch, positions: object) -> bool:
        """Go where the master is. False when its positions are not what the refusal is about."""
        if not isinstance(positions, dict):
            return False
        moved = False
        for name in batch:
            position, reader = int(positions.get(name, 0)), self._readers[name]
            if position > reader.acknowledged:
                reader.acknowledge(position)
                moved = True
            elif position < reader.acknowledged:
                moved = True
                self._go_back(reader, position)
        return moved

    def _go_back(self, reader: JournalReader, position: int) -> None:
        """Send again what is still here: the master has less than we thought (a restored backup, a power failure)."""
        if reader.rewind(position):
            return
        gap = reader.first_kept - 1
        text = (
            f"records {position + 1} to {gap} of journal {reader.name} are lost: the master forgot them (an older"
            " database was restored, or its power failed) and they are no longer here"
        )
        logger.warning("%s", text)
        said = LogLine(text, time.time(), "stdout", "WARNING", None, "agent")
        records = [msgspec.msgpack.encode(said)]
        while position < gap:
            records += [_MISSING] * min(gap - position - len(records), _FILL_RECORDS)
            self._post({reader.name: (position + 1, records)})
            position += len(records)
            records = []
        reader.rewind(gap)

    def _isolate(self, batch: _Batch, refusal: DeterminedError) -> None:
        """Halve batches until the refused record stands alone, then put a log line with the reason in its place."""
        count = sum(len(records) for _, records in batch.values())
        logger.warning("master refused a batch of %s records: %s", count, refusal)
        if count > 1:
            self._limit = max(1, count // 2)
            return
        [(name, (first, _))] = batch.items()
        text = f"a report was dropped because the master refused it: {refusal}"
        line = LogLine(text, time.time(), "stdout", "WARNING", None, "agent")
        try:
            self._post({name: (first, [msgspec.msgpack.encode(line)])})
        except STALE as e:
            self._leave(str(e))
        except Unavailable:
            raise
        except DeterminedError as e:
            raise Unavailable(f"the master refuses even a plain log line: {e}") from e

    def _pace(self, seconds: float) -> None:
        """Let a batch gather, unless somebody waits for the drain."""
        with self._changed:
            self._changed.wait_for(lambda: self._asked > self._emptied, max(0.0, seconds))

    def _answer(self, question: int) -> None:
        with self._changed:
            self._emptied = question
            self._changed.notify_all()

    def _leave(self, reason: str) -> None:
        logger.warning("nobody wants our reports: %s", reason)
        with self._changed:
            self._stale = True
            self._changed.notify_all()
        self._on_over(reason)

    def _check_directory(self) -> None:
        """Stop when the run directory was removed: no master will ever look for this runner again."""
        if not self._directory.exists():
            self._leave(f"{self._directory} is gone")

    def _sync(self) -> None:
        """Write the journals to disk: while the master is away they are the only copy."""
        if self._stale or time.monotonic() - self._synced < _SYNC_SECONDS:
            return
        for name, reader in self._readers.items():
            with self._sparing(name):
                reader.sync()
        self._synced = time.monotonic()


def seconds_to_next_look(age: float, *, is_alone: bool) -> float:
    """Return how long to wait for records of other processes; what this process appends hurries the upload.

    A process that begins to report after minutes waits for its first record one per cent longer than it did already.
    """
    return min(max(_POLL_SECONDS, age * _ALONE_SHARE), _ALONE_SECONDS) if is_alone else _POLL_SECONDS


def _withhold_exit(batch: _Batch) -> bool:
    """Leave the exit of the task for a later batch: it is said when every other journal has been. False: not in it."""
    _, records = batch.get(LOGS, (0, []))
    if not records or not _is_exit(records[-1]):
        return False
    del records[-1]
    if not records:
        del batch[LOGS]
    return True


def _is_exit(record: bytes) -> bool:
    return record[1 : 1 + len(_EXIT)] == _EXIT


def _encode(batch: _Batch) -> bytes:
    """Encode a wire.report.ReportBatch; its records are encoded already and travel as they are.

    The exit comes behind the records of every other journal: the master applies them in this order.
    """
    segments = [(name, first, records) for name, (first, records) in batch.items()]
    first, records = batch.get(LOGS, (0, []))
    if len(batch) > 1 and records and _is_exit(records[-1]):
        others = [segment for segment in segments if segment[0] != LOGS]
        before = [(LOGS, first, records[:-1])] if len(records) > 1 else []
        segments = [*before, *others, (LOGS, first + len(records) - 1, records[-1:])]
    raw = [[name, number, [msgspec.Raw(record) for record in some]] for name, number, some in segments]
    return msgspec.msgpack.encode([raw, time.time()])
