"""Pipes and terminals on the event loop: read what comes, write what fits, keep the rest for later."""

import asyncio
import contextlib
import os
from collections.abc import Callable

_CHUNK = 64 * 1024
_FULL = 256 * 1024  # bytes that wait to be written, from which on the sender is to pause


class Reader:
    """Reads a descriptor that it owns. A terminal whose programs are gone ends with an error, a pipe with nothing."""

    def __init__(self, fd: int, receive: Callable[[bytes], None], end: Callable[[], None]) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._receive = receive
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._is_open = True
        self.resume()

    def pause(self) -> None:
        self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        if self._is_open:
            self._loop.add_reader(self._fd, self._read)

    def drain(self) -> None:
        """Read what is there, also while paused."""
        while self._is_open and self._read():
            pass

    def close(self) -> None:
        if self._is_open:
            self.pause()
            self._is_open = False
            os.close(self._fd)

    def _read(self) -> bool:
        """Read once and return whether there may be more."""
        try:
            chunk = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if chunk:
            self._receive(chunk)
            return True
        self.close()
        self._end()
        return False


class Writer:
    """Writes to a descriptor that it owns; `tell_full` hears when too much waits, and when that is over."""

    def __init__(self, fd: int, tell_full: Callable[[bool], None]) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._tell_full = tell_full
        self._waiting = bytearray()
        self._is_full = False
        self._is_ending = False
        self._is_open = True
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes) -> None:
        if not self._is_open or self._is_ending:
            return
        self._waiting += data
        self._write()

    def end(self) -> None:
        """Close the descriptor after what waits is written."""
        self._is_ending = True
        if not self._waiting:
            self.close()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self._waiting.clear()
            self._tell()

    def _write(self) -> None:
        try:
            with contextlib.suppress(BlockingIOError):
                del self._waiting[: os.write(self._fd, self._waiting)]
        except OSError:  # nobody reads it any more
            return self.close()
        if not self._waiting and self._is_ending:
            return self.close()
        if self._waiting:
            self._loop.add_writer(self._fd, self._write)
        else:
            self._loop.remove_writer(self._fd)
        self._tell()

    def _tell(self) -> None:
        is_full = len(self._waiting) > _FULL
        if is_full != self._is_full:
            self._is_full = is_full
            self._tell_full(is_full)
