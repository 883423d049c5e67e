"""A command without a terminal: three pipes, and the end when it has exited and nobody writes to its output."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence

from determined.exec.shell_server.descriptors import Reader, Writer

Receive = Callable[[bytes], None]


class PipedCommand:
    """Command with its pipes.

    Args:
        stdout: gets its standard output.
        stderr: gets its standard error.
        tell_full: hears that too much input waits for it, or that it no longer does.
    """

    def __init__(self, stdout: Receive, stderr: Receive, tell_full: Callable[[bool], None]) -> None:
        self._open_outputs = 2
        self._outputs_ended = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        readable, writable = zip(os.pipe(), os.pipe(), os.pipe(), strict=True)
        self._theirs = (readable[0], writable[1], writable[2])
        self._stdin = Writer(writable[0], tell_full)
        self._outputs = [Reader(readable[1], stdout, self._end_output), Reader(readable[2], stderr, self._end_output)]

    async def run(self, argv: Sequence[str], variables: Mapping[str, str]) -> int:
        """Run the command and return its status, negative for a signal. OSError: it cannot be started."""
        stdin, stdout, stderr = self._theirs
        try:
            self._process = await asyncio.create_subprocess_exec(
                *argv, stdin=stdin, stdout=stdout, stderr=stderr, env=variables, start_new_session=True
            )
        finally:
            for fd in self._theirs:
                os.close(fd)
        status = await self._process.wait()
        # A background process may still write; sshd waits for it as well.
        await self._outputs_ended.wait()
        self.close()
        return status

    def write(self, data: bytes) -> None:
        self._stdin.write(data)

    def end_input(self) -> None:
        self._stdin.end()

    def pause_output(self, is_full: bool) -> None:
        for reader in self._outputs:
            reader.pause() if is_full else reader.resume()

    def send_signal(self, name: str) -> None:
        """Send a signal, by its name without SIG, to the command and what it has started."""
        number = getattr(signal, f"SIG{name}", None)
        if number is not None and self._process is not None and self._process.returncode is None:
            os.killpg(self._process.pid, number)

    def close(self) -> None:
        """Close our ends. A command that goes on finds out when it reads or writes."""
        self._stdin.close()
        for reader in self._outputs:
            reader.close()
        self._outputs_ended.set()

    def _end_output(self) -> None:
        self._open_outputs -= 1
        if not self._open_outputs:
            self._outputs_ended.set()
