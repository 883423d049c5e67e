"""Forwarded ports: from the client to wherever the task can connect, and from the task's loopback to the client."""

import asyncio

import asyncssh

from determined.exec.shell_server.activity import Activity

_LOOPBACK = "127.0.0.1"


class Forwarder(asyncssh.SSHForwarder):
    """Connection through a forwarded port, on the side of SSH; its bytes are use of the shell."""

    def __init__(self, peer: asyncssh.SSHForwarder, activity: Activity) -> None:
        super().__init__(peer)
        self._activity = activity

    def data_received(self, data: bytes, datatype: int | None = None) -> None:
        self._activity.note()
        super().data_received(data, datatype)

    def write(self, data: bytes) -> None:
        self._activity.note()
        super().write(data)


async def connect(host: str, port: int, activity: Activity) -> Forwarder:
    """Connect to an address for the client (`ssh -L`, `ssh -D`)."""
    try:
        _, peer = await asyncio.get_running_loop().create_connection(asyncssh.SSHForwarder, host, port)
    except OSError as e:
        raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, str(e)) from None
    return Forwarder(peer, activity)


async def connect_path(path: str, activity: Activity) -> Forwarder:
    """Connect to a Unix socket for the client."""
    try:
        _, peer = await asyncio.get_running_loop().create_unix_connection(asyncssh.SSHForwarder, path)
    except OSError as e:
        raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, str(e)) from None
    return Forwarder(peer, activity)


async def listen(
    connection: asyncssh.SSHServerConnection, host: str, port: int, activity: Activity
) -> asyncssh.SSHListener:
    """Listen on the loopback, whatever address the client names (`ssh -R`), as sshd does: others share the node."""

    def accept(origin: str, origin_port: int) -> bool:
        activity.note()
        return True

    return await connection.forward_local_port(_LOOPBACK, port, host, port, accept)
