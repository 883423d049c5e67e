"""Times at which the services of tasks were last used, in memory. Idle timeouts compare them with the clock."""

from datetime import datetime


class Activity:
    """Last use of each task by somebody who was let in. A restart of the master forgets it."""

    def __init__(self) -> None:
        self._last: dict[str, datetime] = {}

    def note(self, task_id: str, now: datetime) -> None:
        self._last[task_id] = now

    def last(self, task_id: str) -> datetime | None:
        return self._last.get(task_id)

    def forget(self, task_id: str) -> None:
        """Forget a task that has ended."""
        self._last.pop(task_id, None)
