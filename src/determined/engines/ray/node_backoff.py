"""Nodes on which runners do not start: such a node is not offered for a while, longer with each failure. No clock."""

from dataclasses import dataclass, field

from determined._backoff import Backoff

_REST = Backoff(first=5.0, limit=300.0)


@dataclass(slots=True)
class NodeBackoff:
    """A trial that is started again at once would be placed on the same node again, and fail again."""

    _failures: dict[str, int] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)

    def fail(self, node: str, now: float) -> float:
        """Record a failure and return for how many seconds the node is avoided.

        A failure during that time began before it: it counts as the same failure.
        """
        if self.is_backing_off(node, now):
            return self._until[node] - now
        failures = self._failures.get(node, 0)
        self._failures[node] = failures + 1
        seconds = _REST.delay(failures)
        self._until[node] = now + seconds
        return seconds

    def succeed(self, node: str) -> None:
        self._failures.pop(node, None)
        self._until.pop(node, None)

    def is_backing_off(self, node: str, now: float) -> bool:
        return self._until.get(node, now) > now
