"""A searcher that wants one length after the other, on the master of task_around."""

from typing import Any

OPERATION = ("GET", "/api/v1/trials/7/searcher/operation")
COMPLETED = ("POST", "/api/v1/trials/7/searcher/completed_operation")


def drive(master: Any, lengths: list[int], *, done: int = 0) -> list[Any]:
    """Serve `lengths`, of which the first `done` were completed before; returns the metrics that come."""
    metrics: list[Any] = []

    def operation(_body: Any) -> tuple[int, Any]:
        count = done + len(metrics)
        length = lengths[min(count, len(lengths) - 1)]
        return 200, {"op": {"validateAfter": {"length": str(length)}}, "completed": count == len(lengths)}

    def completed(body: Any) -> tuple[int, Any]:
        assert body["op"]["length"] == lengths[done + len(metrics)]
        metrics.append(body["searcherMetric"])
        return 200, {}

    master.routes[OPERATION] = operation
    master.routes[COMPLETED] = completed
    return metrics
