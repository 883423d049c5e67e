"""Measurement of a reporting call, the same for everybody: back to back, paced, and inside a busy numeric loop.

Runs in our trial and in the peers' processes alike, so it needs nothing but numpy.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

Report = Callable[[int], None]  # logs three floats as step n

RATE = 1000
_WARM_UP = 50
_BLOCK = 10
_LOOP_SECONDS = 20.0  # a slow peer gets as many calls as fit, here and
_BACK_TO_BACK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Effort:
    calls: int  # back to back, at most
    paced_seconds: float
    pairs: int  # of blocks of the numeric loop, with and without the call


FULL = Effort(calls=20_000, paced_seconds=4.0, pairs=800)
# Less for each of four peers: no limit is decided by their last digit, and their loops took most of a whole run.
PEER = Effort(calls=10_000, paced_seconds=2.0, pairs=150)
QUICK = Effort(calls=2_000, paced_seconds=1.0, pairs=100)


@dataclass(frozen=True, slots=True)
class Latencies:
    p50: float
    p99: float
    mean: float
    calls: int


@dataclass(frozen=True, slots=True)
class Measured:
    back_to_back: Latencies
    paced: Latencies
    slowdown: float  # of the numeric loop, as a share
    background: float  # processor seconds per call on other threads of the process
    noise: float  # the slowdown by a call that does nothing: how far the other one can be trusted
    reports: int  # calls in all
    version: str = ""

    @property
    def total_slowdown(self) -> float:
        """Compute the slowdown as if the other threads had no core of their own."""
        return self.slowdown + self.background * RATE

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def from_plain(data: dict[str, Any]) -> Measured:
    return Measured(**{**data, "back_to_back": Latencies(**data["back_to_back"]), "paced": Latencies(**data["paced"])})


def measure(report: Report, effort: Effort, version: str = "") -> Measured:
    steps = iter(range(1, 1 << 40))
    for _ in range(_WARM_UP):
        report(next(steps))
    dense = _latencies(report, steps, effort.calls, 0.0, _BACK_TO_BACK_SECONDS)
    paced_calls = int(effort.paced_seconds * RATE)
    paced = _latencies(report, steps, paced_calls, 1 / RATE, 4 * effort.paced_seconds)
    slowdown, background = _slowdown(report, steps, effort.pairs)
    reports = next(steps) - 1
    noise, _ = _slowdown(_nothing, steps, effort.pairs)
    return Measured(dense, paced, slowdown, background, noise, reports, version)


def _nothing(_step: int) -> None:
    """The control."""


def _latencies(report: Report, steps: Iterator[int], calls: int, interval: float, limit: float) -> Latencies:
    took = []
    clock = time.perf_counter
    begin = due = clock()
    for _ in range(calls):
        if interval:
            due = _wait(due, interval)
        step = next(steps)
        before = clock()
        report(step)
        after = clock()
        took.append(after - before)
        if after - begin > limit:
            break
    took.sort()
    return Latencies(took[len(took) // 2], took[int(len(took) * 0.99)], sum(took) / len(took), len(took))


def _wait(due: float, interval: float) -> float:
    """Sleep to the next beat; whoever is late does not catch up, that would be back to back again."""
    due = max(due + interval, time.perf_counter())
    while (left := due - time.perf_counter()) > 0:
        time.sleep(left)
    return due


def _slowdown(report: Report, steps: Iterator[int], pairs: int) -> tuple[float, float]:
    """(share by which the loop is slower, processor seconds per call on other threads than the loop's).

    Short blocks with and without the call take turns and are compared by their lower quartiles: other programs of a
    busy machine hit the slower ones. What a library does now and then on its own threads escapes that and is counted
    apart. A unit of work takes a millisecond, so one call a unit is RATE calls a second.
    """
    work = _calibrated()
    bare: list[float] = []
    busy: list[float] = []
    others = _other_threads()
    deadline = time.monotonic() + _LOOP_SECONDS
    for pair in range(pairs):
        if time.monotonic() > deadline:
            break
        order = (None, report) if pair % 2 else (report, None)
        for call in order:
            (bare if call is None else busy).append(_block(work, call, steps))
    background = _other_threads() - others
    return _quartile(busy) / _quartile(bare) - 1, background / (len(busy) * _BLOCK)


def _block(work: Callable[[], None], report: Report | None, steps: Iterator[int]) -> float:
    begin = time.perf_counter()
    for _ in range(_BLOCK):
        work()
        if report is not None:
            report(next(steps))
    return time.perf_counter() - begin


def _other_threads() -> float:
    return time.process_time() - time.thread_time()


def _quartile(values: list[float]) -> float:
    return sorted(values)[len(values) // 4]


def _calibrated() -> Callable[[], None]:
    import numpy

    matrix = numpy.full((48, 48), 1 / 48)

    def multiply(times: int) -> None:
        product = matrix
        for _ in range(times):
            product = product @ matrix

    count = 2000
    multiply(count)
    best = min(_timed(lambda: multiply(count)) for _ in range(5))
    per_unit = max(1, round(count / best / RATE))
    return lambda: multiply(per_unit)


def _timed(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
