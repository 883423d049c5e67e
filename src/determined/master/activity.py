"""Times at which the services of tasks were last used, in memory. Idle timeouts compare them with the clock."""

from collections.abc import Collection
from datetime import datetime


class Activity:
    """Last use of each task by somebody who was let in. background/idle.py writes it to the tasks' rows."""

    def __init__(self) -> None:
        self._last: dict[str, datetime] = {}

    def note(self, task_id: str, now: datetime) -> None:
        self._last[task_id] = now

    def last(self, task_id: str) -> datetime | None:
        return self._last.get(task_id)

    def keep(self, task_ids: Collection[str]) -> None:
        """Forget all others: they have ended, or have no idle timeout."""
        self._last = {task_id: moment for task_id, moment in self._last.items() if task_id in task_ids}
