"""Socket to wait for signals.

Python's handlers run in the main thread, but the kernel may give a signal to another one, which ends no call that the
main thread blocks in.
"""

import contextlib
import signal
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def signal_socket(*caught: int) -> Iterator[socket.socket]:
    """Yield a socket on which the numbers of arriving signals can be read. Call it in the main thread.

    These are the signals in `caught`, and all that have a handler.
    """
    reading, writing = socket.socketpair()
    for end in (reading, writing):
        end.setblocking(False)
    wakeup = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    earlier = {number: signal.signal(number, lambda *_: None) for number in caught}
    try:
        yield reading
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        reading.close()
        writing.close()
