"""TensorBoard events of reported metrics, on a thread of its own: the training loop only hands over bytes."""

import logging
import threading
import time
from collections import deque

from determined._json import JsonObject
from determined.tensorboard.event_file import EventFile
from determined.tensorboard.manager import TensorboardManager
from determined.tensorboard.tags import tag_of
from determined.wire.codec import from_msgpack
from determined.wire.report import MetricReport

logger = logging.getLogger("determined.tensorboard")

_SYSTEM_GROUPS = frozenset({"gpu", "cpu", "memory", "disk", "network"})
# A pass takes the interpreter from the training for a millisecond or two; TensorBoard looks for news every few seconds.
_INTERVAL = 5.0
_SOON = 1.0
# Seconds between two events of a group. Writing one costs the trainer's interpreter some 30 us; a loop that reports
# a thousand times a second would feel that, and no chart shows so many points. The master keeps every one.
_SPACING = 0.1


class MetricEvents:
    """Takes encoded `MetricReport`s; writes and copies event files every few seconds and at the end.

    Files of users and frameworks in the same directory are copied with them, also while nothing is reported.
    Whoever reports often may look into `due` (group -> when its next event is due) and, before that moment, put the
    report into `newest` in place of a call of `add`.
    """

    def __init__(self, manager: TensorboardManager) -> None:
        self.due: dict[str, float] = {}
        self.newest: dict[str, bytes] = {}  # group -> its last report, if that came too soon for an event
        self._manager = manager
        self._queue: deque[bytes] = deque()
        self._hurry = threading.Event()
        self._stop = threading.Event()
        self._writing = threading.Lock()
        self._file: EventFile | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="determined-tensorboard", daemon=True)
        self._thread.start()

    def add(self, group: str, moment: float, payload: bytes) -> None:
        """Hand over one encoded report. Cheap and never blocks: most reports of a flood are only remembered."""
        if moment < self.due.get(group, 0.0):
            self.newest[group] = payload
            return
        if group != "validation":
            self.due[group] = moment + _SPACING
            self.newest.pop(group, None)
        self._queue.append(payload)

    def sync_soon(self) -> None:
        """Write what was reported by now, before this returns; copy it soon.

        What is written outlives this process, however that ends: the runner copies what is left.
        """
        if self._thread is None:
            return
        self._write_out()
        self._hurry.set()

    def close(self) -> None:
        """Write and copy what is left."""
        self._stop.set()
        self._hurry.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._file is not None:
            self._file.close()

    def _run(self) -> None:
        pause = _INTERVAL
        while not self._stop.is_set():
            if self._hurry.wait(pause):
                self._stop.wait(_SOON)
                self._hurry.clear()
            started = time.monotonic()
            self._pass()
            # A slow store must not be kept busy: at most a tenth of the time goes into copying.
            pause = max(_INTERVAL, 10 * (time.monotonic() - started))
        self._pass()

    def _pass(self) -> None:
        self._write_out()
        self._manager.sync()

    def _write_out(self) -> None:
        try:
            with self._writing:
                self._drain()
        except Exception as err:  # noqa: BLE001  edge to a convenience: a thread, or a training, would end of it
            logger.warning("TensorBoard events could not be written: %s", err)

    def _drain(self) -> None:
        while self._queue:
            self._write(from_msgpack(self._queue.popleft(), MetricReport))
        for group in list(self.newest):
            newest = self.newest.pop(group, None)  # the training thread may have taken it back
            if newest is not None:
                self._write(from_msgpack(newest, MetricReport))
        if self._file is not None:
            self._file.flush()

    def _write(self, report: MetricReport) -> None:
        if report.steps is None or report.group in _SYSTEM_GROUPS:
            return
        if self._file is None:
            self._file = EventFile(self._manager.base_path, report.time)
        batches = report.batch_metrics or []
        for index, batch in enumerate(batches):
            self._add(report.group, report.steps - len(batches) + index, report.time, batch)
        self._add(report.group, report.steps, report.time, report.metrics)

    def _add(self, group: str, step: int, moment: float, metrics: JsonObject) -> None:
        scalars = {tag_of(group, name): float(v) for name, v in metrics.items() if type(v) in (int, float)}
        if scalars and self._file is not None:
            self._file.add_scalars(step, moment, scalars)
