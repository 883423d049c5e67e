"""Terminals whose client was lost. The next login without a command returns to the one that was lost last.

One in which a program runs is kept until the program ends; one that only waits for a command is closed after a while.
"""

import time

from determined.exec.shell_server.terminal import Terminal

KEPT_SECONDS = 600.0
MOST = 32  # a client that connects and vanishes again and again must not fill the memory


class DetachedTerminals:
    """The terminals without a client, the one that was lost last at the end."""

    def __init__(self) -> None:
        self._terminals: list[Terminal] = []

    def add(self, terminal: Terminal) -> None:
        """Keep a terminal. Beyond the limit the oldest is closed."""
        terminal.detach()
        self._terminals.append(terminal)
        if len(self._terminals) > MOST:
            self._terminals.pop(0).hang_up()

    def take(self) -> Terminal | None:
        """Return the terminal that was lost last, which is no longer kept here."""
        return self._terminals.pop() if self._terminals else None

    def remove(self, terminal: Terminal) -> None:
        """Forget a terminal whose program has ended."""
        if terminal in self._terminals:
            self._terminals.remove(terminal)

    def expire(self, now: float) -> None:
        """Close those that have waited long enough for their client and run nothing."""
        for terminal in list(self._terminals):
            lost_at = terminal.lost_at if terminal.lost_at is not None else now
            if now - lost_at > KEPT_SECONDS and not terminal.is_busy:
                self._terminals.remove(terminal)
                terminal.hang_up()

    def waited(self, terminal: Terminal) -> float:
        """Return how long ago the client of a terminal was lost, in seconds."""
        return time.monotonic() - terminal.lost_at if terminal.lost_at is not None else 0.0
