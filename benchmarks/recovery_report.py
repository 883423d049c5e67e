"""The tables of recovery.py, and whether every number was held."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import machine
from recovery_mlflow import DRAIN
from recovery_outcome import TRAINERS, Outcome
from recovery_ranks import KINDS, LIMIT, Times
from recovery_steps import PAUSE

_SERVING, _RANKS, _STREAM = 5.0, 5.0, 0.25  # seconds to hold
_KILLED = f"""\
{TRAINERS} processes train at once and report every step ({PAUSE:g} s of work); what they report to is killed -9 at
seeded random moments and started again. Ours: the master under a random search whose trials also print, validate and
checkpoint, end and begin meanwhile. MLflow: its tracking server on SQLite, with `log_metric` and its retries as they
come. Ray Tune: the driver of the search, then `Tuner.restore`; the Ray cluster stays up, and since Tune saves a search
every 10 s its driver lives ten times as long between two kills. Serving again: from the new process to its first right
answer; for Tune, until all trials run. A client of MLflow that has not said everything {DRAIN:g} s after the last kill
is ended: it counts as failed, what it had not said as lost. A pause is what a step took beyond the usual, whatever the
reason."""
_ONE_DEAD = f"""\
One of four ranks is killed -9: seconds until the other three are gone; median (longest), {LIMIT:g} s at most. In a
collective: they are in gloo's all_reduce, and see its connection break. Ignoring TERM: they have to be killed."""


def render(kills: dict[str, Outcome], ranks: dict[str, Times], told: Sequence[float]) -> str:
    return "\n".join(["# Recovery", "", _kills(kills), "", _ranks(ranks), "", _stream(told)])


def held(kills: Outcome, ranks: Times, told: Sequence[float]) -> bool:
    survived = all(row.limit is None or row.number(kills) <= row.limit for row in _ROWS)
    return survived and max(map(max, ranks.values())) <= _RANKS and machine.quantile(told, 0.95) <= _STREAM


def _kills(kills: dict[str, Outcome]) -> str:
    rows = [[row.what, *(row.show(row.number(one)) for one in kills.values()), *_verdict(row, kills)] for row in _ROWS]
    return f"{_KILLED}\n\n{machine.table(['', *kills, 'hold (ours)', ''], rows)}"


@dataclass(frozen=True, slots=True)
class _Row:
    what: str
    number: Callable[[Outcome], float]
    show: Callable[[float], str]
    limit: float | None = None


def _verdict(row: _Row, kills: dict[str, Outcome]) -> list[str]:
    if row.limit is None:
        return ["", ""]
    return [f"≤ {row.show(row.limit)}" if row.limit else "0", machine.held(row.number(kills["ours"]), row.limit)]


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def _milliseconds(seconds: float) -> str:
    thousandth = 1000 * seconds
    return f"{thousandth:.3f} ms" if thousandth < 1 else f"{thousandth:,.0f} ms"


def _number(value: float) -> str:
    return f"{value:,.0f}"


_ROWS = [
    _Row("kills", lambda one: len(one.serving), _number),
    _Row("serving again: median", lambda one: statistics.median(one.serving), _seconds),
    _Row("serving again: 95th percentile", lambda one: machine.quantile(one.serving, 0.95), _seconds),
    _Row("serving again: longest", lambda one: max(one.serving), _seconds, _SERVING),
    _Row("restarts of training processes", lambda one: one.restarted, _number, 0),
    _Row("training processes that failed", lambda one: one.crashed, _number, 0),
    _Row("values reported", lambda one: one.values, _number),
    _Row("values lost", lambda one: one.lost, _number, 0),
    _Row("values doubled", lambda one: one.doubled, _number, 0),
    _Row("a step: usual", lambda one: one.usual_step, _milliseconds),
    _Row("longest pause of a step", lambda one: one.longest_pause, _milliseconds),
    _Row("longest pause of a step without a checkpoint", lambda one: one.plain_pause, _milliseconds),
    _Row("longest pause before the first kill", lambda one: one.calm_pause, _milliseconds),
    _Row("the report call: median", lambda one: one.usual_call, _milliseconds),
    _Row("the report call: slowest", lambda one: one.longest_call, _milliseconds),
]


def _ranks(ranks: dict[str, Times]) -> str:
    header = ["the others are", *ranks, "hold (ours)", ""]
    ours = ranks["ours, two nodes"]
    rows = [
        [_NAMES[kind], *(_gone(times.get(kind, [])) for times in ranks.values()), f"longest ≤ {_RANKS:g} s",
         machine.held(max(ours[kind]), _RANKS)]
        for kind in KINDS
    ]  # fmt: skip
    return f"{_ONE_DEAD}\n\n{machine.table(header, rows)}"


_NAMES = {"collective": "in a collective", "asleep": "computing", "deaf": "ignoring TERM"}


def _gone(seconds: list[float]) -> str:
    if not seconds:
        return ""
    if max(seconds) >= LIMIT:
        return f"still there after {LIMIT:g} s"
    return f"{statistics.median(seconds):.2f} s ({max(seconds):.2f})"


def _stream(told: Sequence[float]) -> str:
    middle, share = statistics.median(told), machine.quantile(told, 0.95)
    return (
        f"From `report_training_metrics` in a task to the message about it on the master's stream, {len(told)} reports:"
        f" median\n{_milliseconds(middle)}, 95th percentile {_milliseconds(share)}, longest {_milliseconds(max(told))}"
        f" (hold: 95th percentile ≤ {_milliseconds(_STREAM)}): {machine.held(share, _STREAM)}."
    )
