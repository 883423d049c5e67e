"""The two things that a channel of SSH can hold: a terminal, or a command with pipes."""

import signal

import asyncssh

from determined.exec.shell_server.host import Host, Request
from determined.exec.shell_server.piped_command import PipedCommand
from determined.exec.shell_server.terminal import Size
from determined.exec.shell_server.terminal_session import open_terminal

Channel = asyncssh.SSHServerChannel[bytes]
_CANNOT_START = 127


class TerminalProgram:
    """A terminal that this channel watches; a new one, or one whose client was lost."""

    def __init__(self, channel: Channel, host: Host, request: Request) -> None:
        self._channel = channel
        self._host = host
        size, modes = channel.get_terminal_size(), channel.get_terminal_modes()
        self._terminal = open_terminal(host, self, request, size, modes)

    def write(self, data: bytes) -> None:
        self._host.activity.note()
        self._terminal.write(data)

    def end_input(self) -> None:
        """Do nothing: a terminal has no end of input; a person types it (Ctrl-D)."""

    def pause_output(self, is_full: bool) -> None:
        self._terminal.pause_output(is_full)

    def resize(self, size: Size) -> None:
        self._terminal.resize(size)

    def send_signal(self, name: str) -> None:
        self._terminal.send_signal(name)

    def lost(self, error: Exception | None) -> None:
        """Keep the terminal where the whole connection is gone; hang up where the client closed this channel.

        OpenSSH's client says goodbye to the connection when its window is closed, but often too late to be heard.
        """
        is_gone = error is not None or self._channel.get_connection().get_extra_info("socket") is None
        if is_gone and self._terminal in self._host.terminals:
            self._host.detached.add(self._terminal)
        else:
            self._terminal.hang_up()

    def show(self, output: bytes) -> None:
        self._host.activity.note()
        if not self._channel.is_closing():
            self._channel.write(output)

    def pause_input(self, is_full: bool) -> None:
        _pause(self._channel, is_full)

    def ended(self, status: int) -> None:
        _exit(self._channel, status)


class CommandProgram:
    """A command, or a login shell that reads commands from a pipe."""

    def __init__(self, channel: Channel, host: Host, request: Request) -> None:
        self._channel = channel
        self._host = host
        self._command = PipedCommand(self._stdout, self._stderr, lambda is_full: _pause(channel, is_full))
        host.start(self._run(request), "command")

    def write(self, data: bytes) -> None:
        self._host.activity.note()
        self._command.write(data)

    def end_input(self) -> None:
        self._command.end_input()

    def pause_output(self, is_full: bool) -> None:
        self._command.pause_output(is_full)

    def resize(self, size: Size) -> None:
        """Do nothing: there is no window."""

    def send_signal(self, name: str) -> None:
        self._command.send_signal(name)

    def lost(self, error: Exception | None) -> None:
        self._command.close()

    async def _run(self, request: Request) -> None:
        argv = self._host.argv(request)
        if request.command is not None:
            self._host.commands.add(self)
        try:
            _exit(self._channel, await self._command.run(argv, self._host.variables_of(request)))
        except OSError as e:
            self._stderr(f"cannot start {argv[0]}: {e}\n".encode())
            _exit(self._channel, _CANNOT_START)
        finally:
            self._host.commands.discard(self)

    def _stdout(self, output: bytes) -> None:
        self._send(output, None)

    def _stderr(self, output: bytes) -> None:
        self._send(output, asyncssh.EXTENDED_DATA_STDERR)

    def _send(self, output: bytes, kind: int | None) -> None:
        self._host.activity.note()
        if not self._channel.is_closing():
            self._channel.write(output, kind)


def _pause(channel: Channel, is_full: bool) -> None:
    if is_full:
        channel.pause_reading()
    else:
        channel.resume_reading()


def _exit(channel: Channel, status: int) -> None:
    """Tell the client how the program ended and close the channel, after what is still to be sent."""
    if channel.is_closing():
        return
    if status >= 0:
        channel.exit(status)
    else:
        channel.exit_with_signal(_signal_name(-status))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name.removeprefix("SIG")
    except ValueError:
        return f"{number}@determined"
