"""Messages between an engine and its fork server, one JSON text a packet, over a pair of connected sockets.

The engine sends `Setup` once, with a file that holds a `PreloadList` or nothing. The server answers `Ready` or
`Unsuitable`. Each `ForkRequest` comes with the descriptor of the runner's log; `Forked` comes with a pidfd of the
runner, unless that has ended already. A server that leaves says `Retired`. The end of either side is the end of the
connection.
"""

import msgspec

# Argument and variable that a fork server is started with, for memory that its forks may write over
# (exec/runner/forked/shown_process.py): two paths of the greatest length.
ROOM_VARIABLE = "DET_FORK_SERVER_ROOM"
ROOM = "-" * 8192
PACKET_BYTES = 64 * 1024


class Setup(msgspec.Struct, tag="setup"):
    """The first message, with a file."""


class ForkRequest(msgspec.Struct, tag="fork"):
    run_dir: str


class Ready(msgspec.Struct, tag="ready"):
    """The server forks from now on. `code`: directory of the `determined` that it has imported."""

    code: str


class Unsuitable(msgspec.Struct, tag="unsuitable"):
    """The server ends: what it imported must not be shared. `module` is "" where that is not one module's fault."""

    module: str
    why: str


class Forked(msgspec.Struct, tag="forked"):
    pid: int


class Retired(msgspec.Struct, tag="retired"):
    """The server ends. `rest_seconds`: for how long none is to take its place."""

    why: str
    rest_seconds: float = 0.0


Answer = Ready | Unsuitable | Forked | Retired
Request = Setup | ForkRequest
