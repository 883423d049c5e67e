"""Use of the shell: input or output in a session, bytes through a forwarded port, a program in the foreground."""

import time


class Activity:
    """Time of the last use, by the monotonic clock."""

    def __init__(self) -> None:
        self._noted_at = time.monotonic()

    def note(self) -> None:
        """Note that the shell is in use."""
        self._noted_at = time.monotonic()

    def seconds_ago(self) -> float:
        return time.monotonic() - self._noted_at
