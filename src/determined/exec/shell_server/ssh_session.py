"""A session channel of SSH. The client says what it is for: a shell, a command, or files (SFTP, scp)."""

import os
from collections.abc import Callable, Mapping

import asyncssh
from asyncssh.stream import SSHServerStreamSession

from determined.exec.shell_server.host import Host, Request
from determined.exec.shell_server.ssh_programs import Channel, CommandProgram, TerminalProgram
from determined.exec.shell_server.terminal import Size

_SFTP, _SCP = "sftp", "scp "
_SFTP_VERSION = 3  # of the protocol, as OpenSSH speaks it


class _FileServer(asyncssh.SFTPServer):
    """Server of files in the directories of this machine."""

    def exit(self) -> None:
        """Tell the client that all is well. AsyncSSH does not, and scp of OpenSSH 9 then says that it has failed."""
        self.channel.exit(0)


class ShellSession(asyncssh.SSHServerSession[bytes]):
    """Channel whose program starts when the client has said which.

    AsyncSSH serves files with a session class of its own. It is used for these, and gets what this class gets.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._channel: Channel | None = None
        self._command: str | None = None
        self._files: SSHServerStreamSession[bytes] | None = None
        self._program: TerminalProgram | CommandProgram | None = None

    def connection_made(self, chan: Channel) -> None:
        self._channel = chan

    def pty_requested(self, term_type: str, term_size: Size, term_modes: Mapping[int, int]) -> bool:
        return True

    def shell_requested(self) -> bool:
        return True

    def exec_requested(self, command: str) -> bool:
        self._command = command
        if command.startswith(_SCP):
            self._serve_files()
        return True

    def subsystem_requested(self, subsystem: str) -> bool:
        if subsystem == _SFTP:
            self._serve_files()
        return subsystem == _SFTP

    def session_started(self) -> None:
        if self._files is not None:
            return self._files.session_started()
        assert self._channel is not None
        kind = self._channel.get_terminal_type()
        request = Request(self._command, _variables(self._channel), kind)
        program: Callable[[Channel, Host, Request], TerminalProgram | CommandProgram]
        program = TerminalProgram if kind is not None else CommandProgram
        self._program = program(self._channel, self._host, request)

    def data_received(self, data: bytes, datatype: int | None) -> None:
        if self._files is not None:
            self._host.activity.note()
            self._files.data_received(data, datatype)
        elif self._program is not None:
            self._program.write(data)

    def eof_received(self) -> bool:
        if self._files is not None:
            return self._files.eof_received()
        if self._program is not None:
            self._program.end_input()
        return True

    def pause_writing(self) -> None:
        if self._files is not None:
            self._files.pause_writing()
        elif self._program is not None:
            self._program.pause_output(True)

    def resume_writing(self) -> None:
        if self._files is not None:
            self._files.resume_writing()
        elif self._program is not None:
            self._program.pause_output(False)

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        if self._program is not None:
            self._program.resize((width, height, pixwidth, pixheight))

    def signal_received(self, signal: str) -> None:
        if self._program is not None:
            self._program.send_signal(signal)

    def break_received(self, msec: int) -> bool:
        self.signal_received("INT")
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        if self._files is not None:
            self._files.connection_lost(exc)
        elif self._program is not None:
            self._program.lost(exc)

    def _serve_files(self) -> None:
        channel = self._channel
        assert channel is not None
        self._files = SSHServerStreamSession(None, lambda _: _FileServer(channel), _SFTP_VERSION, allow_scp=True)
        self._files.connection_made(channel)


def _variables(channel: Channel) -> dict[str, str]:
    return {os.fsdecode(name): os.fsdecode(value) for name, value in channel.get_environment_bytes().items()}
