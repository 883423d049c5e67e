"""A thread that copies event files while training goes on."""

import logging
import queue
import threading
from collections.abc import Callable

logger = logging.getLogger("determined.tensorboard")

_WAITING = 50


class UploadThread:
    """Thread that does what it is asked for, one after another. `start` it once; what is asked for before `close` is
    done."""

    def __init__(self) -> None:
        self._asked: queue.Queue[Callable[[], object] | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None

    @property
    def is_alive(self) -> bool:
        return self._thread is not None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="determined-tensorboard-upload", daemon=True)
            self._thread.start()

    def ask(self, job: Callable[[], object]) -> None:
        """Request a copy without waiting: a store that is too slow gets these files with the next request."""
        try:
            self._asked.put_nowait(job)
        except queue.Full:
            logger.warning("the store is slow: %s copies of TensorBoard events are waiting; left one out", _WAITING)

    def close(self) -> None:
        if self._thread is None:
            return
        self._asked.put(None)  # the end
        self._thread.join()
        self._thread = None

    def _run(self) -> None:
        while True:
            job = self._asked.get()
            if job is None:
                return
            job()
