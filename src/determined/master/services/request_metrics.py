"""Numbers about ourselves for Prometheus: requests as they are answered, and the state of the cluster when asked."""

from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector, generate_latest
from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import cluster_counts


class RequestMetrics:
    """Metrics of requests, one registry per master, so that two masters in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "det_master_requests_total", "Requests answered", ["method", "route", "status"], registry=self.registry
        )
        self._states = Gauge(
            "det_state", "Experiments, trials and allocations by state", ["noun", "state"], registry=self.registry
        )

    def observe(self, message: Mapping[str, Any], scope: Mapping[str, Any]) -> None:
        """Observe each message of an answer before it goes out."""
        if message["type"] != "http.response.start":
            return
        # the template, never the path: a label per id would grow without bound
        route = scope.get("path_template") or "unknown"
        self._requests.labels(scope["method"], route, str(message["status"])).inc()

    async def scrape(self, ctx: MasterContext) -> bytes:
        counts = await ctx.db.read(_count)
        self._states.clear()
        for (noun, state), number in counts.items():
            self._states.labels(noun, state).set(number)
        return generate_latest(self.registry)


def _count(conn: Connection) -> dict[tuple[str, str], int]:
    return cluster_counts.by_state(conn)
