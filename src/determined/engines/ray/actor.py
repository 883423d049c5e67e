"""Detached actor of one runner: it holds the sitter by its standard input and tells how it ended."""

import contextlib
import logging
import signal
import subprocess
import sys
import threading
from collections import deque

logger = logging.getLogger(__name__)

_WORDS = 20  # lines of the sitter's output that are kept for an error message


class RunnerActor:
    """Actor that holds the sitter of one runner. Its methods run in parallel threads.

    The sitter dies with this process: it reads the end of its input. `order` is one line of JSON; `node` and
    `resources` are only kept for a bridge that finds this actor later.
    """

    def __init__(self, order: str, node: str, resources: dict[str, float]) -> None:
        self._facts = (node, resources)
        self._words: deque[str] = deque(maxlen=_WORDS)
        self._sitter = subprocess.Popen(
            [sys.executable, "-P", "-m", "determined.engines.remote.sitter", "--leash"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._sitter.stdin is not None
        self._sitter.stdin.write(order.encode() + b"\n")
        self._sitter.stdin.flush()
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def facts(self) -> tuple[str, dict[str, float]]:
        """Return its node and its resources; an answer means that the actor lives."""
        return self._facts

    def wait(self, seconds: float) -> tuple[int, str] | None:
        """Return the sitter's status and its last words; None when it still runs after so many seconds.

        The wait has a limit because a call of a bridge that died goes on: each would keep one of our few threads.
        """
        self._listening.join(seconds)
        if self._listening.is_alive():
            return None
        return self._sitter.wait(), "\n".join(self._words)

    def end(self, *, force: bool) -> None:
        self._signal(signal.SIGUSR1 if force else signal.SIGINT)

    def leave(self) -> None:
        """Ask the task to leave: this node is about to be taken away."""
        self._signal(signal.SIGTERM)

    def _listen(self) -> None:
        assert self._sitter.stderr is not None
        for line in self._sitter.stderr:
            text = line.decode(errors="replace").rstrip()
            self._words.append(text)
            sys.stderr.write(text + "\n")

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._sitter.send_signal(number)
