"""Run `ssh` in the foreground. It reads the terminal itself; its status becomes ours."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator, Sequence
from types import FrameType

from determined.errors import FailedPrecondition

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)


def run(argv: Sequence[str]) -> int:
    """Run the command to its end and return its status; 128 + n when signal n ended it.

    Raises:
        FailedPrecondition: there is no such program here.
    """
    with _signals() as children:
        try:
            process = subprocess.Popen(argv)
        except FileNotFoundError as e:
            raise FailedPrecondition(
                f"{argv[0]} is not installed here; install the OpenSSH client (Debian: apt-get install openssh-client)"
            ) from e
        children.append(process)
        status = process.wait()
    return 128 - status if status < 0 else status


@contextlib.contextmanager
def _signals() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Survive what a terminal sends to every program in it, so that the key is removed after ssh has ended."""
    children: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        for child in children:
            child.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    # ssh gets an interrupt of the terminal by itself. A handler, for the child would inherit that it is ignored.
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield children
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
