"""TensorBoard on a Unix socket: `python serve.py SOCKET ADDRESS [arguments of TensorBoard]`.

Run by its path, in the Python that has TensorBoard and perhaps nothing of ours. TensorBoard itself serves TCP ports
alone, to everybody who can connect; werkzeug, which it brings along, serves its application on the socket.
"""

import os
import signal
import sys
from typing import Any

from tensorboard import program, version
from werkzeug.serving import WSGIRequestHandler, make_server


class _QuietHandler(WSGIRequestHandler):  # type: ignore[misc, unused-ignore]
    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Write nothing: an open page asks every few seconds."""


class _SocketServer(program.TensorBoardServer):  # type: ignore[misc, unused-ignore]
    """Server of TensorBoard's application at the address of `main`."""

    path = ""
    address = ""

    def __init__(self, wsgi_app: Any, flags: Any) -> None:
        before = os.umask(0o177)  # from its first moment the socket is for this user alone
        try:
            self._server = make_server(f"unix://{self.path}", 0, wsgi_app, threaded=True, request_handler=_QuietHandler)
        finally:
            os.umask(before)

    def serve_forever(self) -> None:
        self._server.serve_forever()

    def get_url(self) -> str:
        return self.address


def main(arguments: list[str]) -> None:
    """Serve until SIGTERM."""
    _SocketServer.path, _SocketServer.address, *rest = arguments
    board = program.TensorBoard(server_class=_SocketServer)
    board.configure(argv=["tensorboard", *rest])
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    address = board.launch()
    sys.stdout.write(f"TensorBoard {version.VERSION} at {address}\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    main(sys.argv[1:])
