"""Metric reports to send, and their streams read back."""

from collections.abc import Callable
from typing import Any

from tracked import Tracked

from determined.wire.report import Exit, ExitCause, MetricReport

SubmitTrial = Callable[..., Tracked]


def metric(step: int | None, group: str = "training", **values: Any) -> MetricReport:
    return MetricReport(group, step, values, 1_000_000.0 + (step or 0))


def finish(trial: Tracked) -> None:
    trial.send(Exit(ExitCause.EXITED, 0, "exit 0", 2.0), source="logs")


def results(client: Any, path: str, **fields: Any) -> list[Any]:
    return [line["result"] for line in client.lines(path, fields=fields)]
