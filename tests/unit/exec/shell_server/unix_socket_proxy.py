"""`unix_socket_proxy.py PATH`: a ProxyCommand that connects standard input and output to a Unix socket."""

import os
import selectors
import socket
import sys


def main(path: str) -> None:
    connected = socket.socket(socket.AF_UNIX)
    connected.connect(path)
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ)
    selector.register(connected, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            data = os.read(0, 65536) if key.fd == 0 else connected.recv(65536)
            if not data:
                return
            if key.fd == 0:
                connected.sendall(data)
            else:
                _write_all(data)


def _write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


main(sys.argv[1])
