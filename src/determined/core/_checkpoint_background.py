"""Checkpoints that are stored on a thread of their own while the script goes on."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec

P = ParamSpec("P")

logger = logging.getLogger("determined.core")


class BackgroundSave:
    """Checkpoint that is stored while the script goes on. `CheckpointContext.store_path_async` makes it.

    It unpacks as what `store_path` yields: `path, storage_id = save`.

    Attributes:
        path: the directory to write into, until the block is left or, in functions of `write_later`, they return.
        storage_id: the checkpoint's id.
    """

    def __init__(self, path: Path, storage_id: str) -> None:
        self.path = path
        self.storage_id = storage_id
        self._writes: list[Callable[[], object]] = []
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._is_over = False

    def __iter__(self) -> Iterator[Path | str]:
        return iter((self.path, self.storage_id))

    def write_later(self, write: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Call `write(*args, **kwargs)` in the background, once the block is left and before its files are stored.

        What it reads must not change any more: give it copies. Functions run one after another, on another thread.

        Raises:
            RuntimeError: the block is left already.

        Example:
            >>> with core_context.checkpoint.store_path_async({"steps_completed": 1}) as save:
            ...     copy = {name: tensor.clone() for name, tensor in model.state_dict().items()}
            ...     save.write_later(torch.save, copy, save.path / "model.pt")
        """
        if self._thread is not None or self._is_over:
            raise RuntimeError("write_later must be called inside the block of store_path_async")
        self._writes.append(lambda: write(*args, **kwargs))

    def done(self) -> bool:
        """Return whether it is over: the checkpoint is stored and reported, or could not be."""
        return self._is_over

    def wait(self) -> None:
        """Wait until the checkpoint is stored and reported. Raises what went wrong, as `store_path` does."""
        if self._thread is not None:
            self._thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _start(self, store: Callable[[], object]) -> None:
        thread = threading.Thread(target=self._run, args=(store,), name="checkpoint-save")
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is ending: stored here and now
            self._run(store)
        else:
            self._thread = thread

    def _write(self) -> None:
        for write in self._writes:
            write()
        self._writes.clear()  # and the copies with them: they may be large

    def _run(self, store: Callable[[], object]) -> None:
        try:
            store()
        except BaseException as err:  # noqa: BLE001  raised by `wait`: a thread has nobody to raise it to
            logger.error("checkpoint %s could not be stored and is not reported: %s", self.storage_id, err)
            self._error = err
        finally:
            self._writes.clear()
            self._is_over = True


class BackgroundSaves:
    """The save of this process that is under way: there is never more than one."""

    def __init__(self) -> None:
        self._last: BackgroundSave | None = None
        self._is_awaited_at_exit = False

    def start(self, save: BackgroundSave, store: Callable[[], object]) -> None:
        """Call `store` in the background, after `wait`."""
        if not self._is_awaited_at_exit:
            self._is_awaited_at_exit = True
            _call_at_exit(self.let_finish)
        self._last = save
        save._start(store)

    def wait(self) -> None:
        """Wait for the last save. Raises what it failed with, once."""
        save, self._last = self._last, None
        if save is not None:
            save.wait()

    def let_finish(self) -> None:
        """Wait for the last save; one that fails has said so in the log."""
        with contextlib.suppress(BaseException):
            self.wait()


def _call_at_exit(call: Callable[[], None]) -> None:
    """Call it when a script that has not closed its context ends: before the pools that hash files are shut down, as
    the thread itself would be awaited only after that."""
    register = getattr(threading, "_register_atexit", None)
    if register is not None:
        with contextlib.suppress(RuntimeError):  # it is ending already, and the save runs in the foreground
            register(call)
