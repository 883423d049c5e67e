"""`python -m determined.exec.pid_client ADDR -- CMD...`: runs CMD and tells a pid_server that it lives and how it ends.

For launchers of one's own that were written for it; ours need neither.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading

from determined.exec.pid_server import connect, start

_KEEPALIVE_SECONDS = 60.0


def main(words: list[str]) -> int:
    if len(words) < 3 or words[1] != "--":
        sys.stderr.write("usage: python -m determined.exec.pid_client ADDR -- CMD...\n")
        return 1
    with connect(words[0]) as server:
        server.sendall(f"{os.getpid()}\n".encode())
        ended = threading.Event()
        threading.Thread(target=_keep_alive, args=(server, ended), daemon=True).start()
        status = _status_of(start(words[2:]))
        ended.set()
        if status == 0:
            with contextlib.suppress(OSError):
                server.sendall(b"q")
    return 128 - status if status < 0 else status


def _status_of(child: "subprocess.Popen[bytes]") -> int:
    """Wait until the command ends and return its status.

    The wait has a time limit and is repeated. In a blocking call, a signal that came just before it, or to the other
    thread, would not be passed on before the command ends by itself.
    """
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(_KEEPALIVE_SECONDS)


def _keep_alive(server: socket.socket, ended: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while not ended.wait(_KEEPALIVE_SECONDS):
            server.sendall(b"k")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
