"""The SSH server of AsyncSSH: who may log in, and what sessions and forwarded ports there are."""

import logging
import socket
from collections.abc import Awaitable

import asyncssh

from determined.exec.shell_server import forwarding
from determined.exec.shell_server.host import Host
from determined.exec.shell_server.ssh_session import ShellSession
from determined.wire.shell_settings import ShellSettings

_log = logging.getLogger(__name__)


class ShellServer(asyncssh.SSHServer):
    """Connection of an SSH client. Whoever has the key is the task's user, by whatever name."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn

    def auth_completed(self) -> None:
        assert self._connection is not None
        _log.info("Accepted publickey for %s", self._connection.get_extra_info("username"))
        self._host.activity.note()

    def begin_auth(self, username: str) -> bool:
        return True

    def session_requested(self) -> ShellSession:
        return ShellSession(self._host)

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Awaitable[asyncssh.SSHTCPSession[bytes]]:
        return forwarding.connect(dest_host, dest_port, self._host.activity)  # type: ignore[return-value]

    def unix_connection_requested(self, dest_path: str) -> Awaitable[asyncssh.SSHUNIXSession[bytes]]:
        return forwarding.connect_path(dest_path, self._host.activity)  # type: ignore[return-value]

    def server_requested(self, listen_host: str, listen_port: int) -> Awaitable[asyncssh.SSHListener]:
        assert self._connection is not None
        return forwarding.listen(self._connection, listen_host, listen_port, self._host.activity)


def options_of(settings: ShellSettings, host: Host) -> asyncssh.SSHServerConnectionOptions:
    """Return the options of every connection."""
    return asyncssh.SSHServerConnectionOptions(
        server_factory=lambda: ShellServer(host),
        server_host_keys=[asyncssh.import_private_key(settings.host_key)],
        authorized_client_keys=asyncssh.import_authorized_keys("\n".join(settings.authorized_keys)),
        public_key_auth=True,
        password_auth=False,
        kbdint_auth=False,
        host_based_auth=False,
        gss_host=None,
        agent_forwarding=False,
        x11_forwarding=False,
        line_editor=False,
        encoding=None,
    )


async def serve_connection(connected: socket.socket, options: asyncssh.SSHServerConnectionOptions) -> None:
    """Serve one connection to its end."""
    try:
        connection = await asyncssh.run_server(connected, options=options)
    except (OSError, asyncssh.ConnectionLost):
        return  # the runner connects once to see whether we answer
    except asyncssh.Error as e:
        _log.info("Login refused: %s", e)
        return
    await connection.wait_closed()
