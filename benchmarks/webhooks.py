"""Webhooks beside ingest: 1,000 events a second into the delivery queue, and what that costs the ingest of metrics.

    python benchmarks/webhooks.py [--quick]

One master on SQLite. In every turn one process reports metric values of a trial, and another 100 alerts a second of a
second trial. In turns with events that trial's config names ten webhooks, so that each alert is ten events; in turns
without them it names none. So the same processes send the same requests in both. Turns alternate, and so does which
kind comes first. A receiver in a process of its own counts what is delivered, by event: meanwhile, or after turns in
which it was away, so that they measure the queue alone.

Two things are measured: how much less ingest takes beside events, and processor time of the master per event, which
another program on the machine changes less. With deliveries the receiver works in turns with events only; that is why
the table says how much of the machine was idle. Where nothing was, the receiver took processor time from the master.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

import machine
from determined.wire.report import Alert, MetricReport, Record
from ingest import Master, Sender, Target, running_master
from webhooks_receiver import Receiver, running_receiver

HOLD_EVENTS, HOLD_SLOWER = 1_000, 2.0  # a second; per cent
WEBHOOKS = 10
ALERTS = 10  # in a batch
EVERY_S = ALERTS * WEBHOOKS / HOLD_EVENTS
REPORTS, VALUES = 100, 10  # in a batch; in a report
OFFERED = 50_000  # values a second: what ingest.py holds
_DRAIN_S = 600.0
_CONFIG = "webhooks: {allowed_networks: [127.0.0.0/8]}\n"


@dataclass(frozen=True)
class Turn:
    """Numbers that the master acknowledged in a turn. `alerts_s`: seconds for the alerts while the metrics went on."""

    values: int
    seconds: float
    latencies: list[float]
    alerts: int
    alerts_s: float
    cpu_s: float  # of the master
    events: int  # what the receiver counted in this turn
    idle: float  # part of the machine that nobody used

    @property
    def rate(self) -> float:
        return self.values / self.seconds

    @property
    def cpu(self) -> float:
        """Processor time of the master, as a part of one core."""
        return self.cpu_s / self.seconds


@dataclass(frozen=True)
class Drain:
    """Deliveries while nothing else went on. `rate`: a second; `cpu_s`: of the master, for each."""

    rate: float
    cpu_s: float


@dataclass(frozen=True)
class Case:
    """`every_s`: between two batches of values; 0: each as soon as the one before is acknowledged."""

    what: str
    every_s: float
    receiver_is_there: bool
    is_held: bool
    alone: list[Turn] = field(default_factory=list)
    beside: list[Turn] = field(default_factory=list)

    @property
    def slower(self) -> float:
        """Median over the pairs of turns."""
        return machine.median(self.slower_each)

    @property
    def slower_each(self) -> list[float]:
        """Per cent by which the turn beside events took in less than the other of its pair."""
        pairs = zip(self.alone, self.beside, strict=True)
        return [100 * (1 - beside.rate / alone.rate) for alone, beside in pairs]

    @property
    def cpu_per_event(self) -> float | None:
        """Microseconds of the master to queue an event; None where the turns of a pair differ in other work too."""
        if not self.every_s or self.receiver_is_there:
            return None
        pairs = zip(self.alone, self.beside, strict=True)
        return machine.median([1e6 * (beside.cpu_s - alone.cpu_s) / _queued_in(beside) for alone, beside in pairs])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see that it works: one pair of turns of a second each")
    options = parser.parse_args()
    seconds, pairs = (1.0, 1) if options.quick else (6.0, 4)
    paced = REPORTS * VALUES / OFFERED
    cases = [
        Case("as much as goes in, queue alone", 0.0, receiver_is_there=False, is_held=True),
        Case(f"{OFFERED:,} values/s, queue alone", paced, receiver_is_there=False, is_held=True),
        Case(f"{OFFERED:,} values/s, with deliveries", paced, receiver_is_there=True, is_held=True),
        Case("as much as goes in, with deliveries", 0.0, receiver_is_there=True, is_held=False),
    ]
    drains: list[Drain | None] = []
    with (
        tempfile.TemporaryDirectory(prefix="det-webhooks-") as folder,
        running_receiver() as receiver,
        running_master(Path(folder), _CONFIG) as master,
    ):
        names = [_create(master, receiver, n) for n in range(WEBHOOKS)]
        named = f"integrations: {{webhooks: {{webhook_name: [{', '.join(names)}]}}}}\n"
        trials = master.start_trial(), master.start_trial(), master.start_trial(named)
        bench = Bench(master, receiver, *trials, seconds)
        for number in range(pairs):
            for case in cases:
                receiver.be(case.receiver_is_there)
                bench.pair(case, beside_first=number % 2 == 1)
                receiver.be(there=True)
                drains.append(_drained(master, receiver, _events(cases)))
        requests, events = receiver.counts()
    if (requests, events) != (_events(cases),) * 2:
        raise SystemExit(f"{_events(cases):,} events were queued; {requests:,} requests of {events:,} events have come")
    print(_text(cases, [drain for drain in drains if drain], pairs, seconds))
    return 0 if options.quick or not any(_is_missed(case) for case in cases) else 1


@dataclass
class Bench:
    """`silent`, `told`: trials whose alerts reach nobody, and all webhooks."""

    master: Master
    receiver: Receiver
    metrics: Target
    silent: Target
    told: Target
    seconds: float
    sent: int = 0
    alerts: dict[str, int] = field(default_factory=dict)  # so far, by trial

    def pair(self, case: Case, *, beside_first: bool) -> None:
        turns = [(case.alone, self.silent), (case.beside, self.told)]
        for kept, alerting in reversed(turns) if beside_first else turns:
            kept.append(self._turn(case.every_s, alerting))
        stored = self.master.count(self.metrics, "ten")
        if stored * VALUES != self.sent:
            raise SystemExit(f"{self.sent} values were acknowledged but {stored * VALUES} are stored")

    def _turn(self, every_s: float, alerting: Target) -> Turn:
        first = self.alerts.get(alerting.task_id, 0)
        both = [
            _in_another_process(_report, self.metrics, self.sent // VALUES, every_s, self.seconds),
            _in_another_process(_alert, alerting, first, EVERY_S, self.seconds),
        ]
        for _, pipe in both:
            pipe.recv()  # it is ready
        delivered, cpu_s = self.receiver.counts()[1], self.master.cpu_seconds()
        psutil.cpu_times_percent()  # what it returns next is of the time in between
        for _, pipe in both:
            pipe.send("go")
        (reports, took, latencies), (alerts, alerts_s, _) = (pipe.recv() for _, pipe in both)
        idle, cpu_s = psutil.cpu_times_percent().idle / 100, self.master.cpu_seconds() - cpu_s
        delivered = self.receiver.counts()[1] - delivered
        for process, _ in both:
            process.join(30)
        self.sent += reports * VALUES
        self.alerts[alerting.task_id] = first + alerts
        return Turn(reports * VALUES, took, latencies, alerts, alerts_s, cpu_s, delivered, idle)


def _create(master: Master, receiver: Receiver, number: int) -> str:
    trigger = {"triggerType": "TRIGGER_TYPE_CUSTOM", "condition": {}}
    body = {"url": receiver.url, "name": f"w{number}", "mode": "WEBHOOK_MODE_SPECIFIC", "triggers": [trigger]}
    master.call("POST", "/api/v1/webhooks", {**body, "webhookType": "WEBHOOK_TYPE_DEFAULT"})
    return f"w{number}"


def _in_another_process(send: Any, *arguments: Any) -> tuple[Any, Any]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=send, args=(*arguments, there))
    process.start()
    there.close()
    return process, here


def _report(target: Target, first: int, every_s: float, seconds: float, pipe: Any) -> None:
    names = [f"m{i}" for i in range(VALUES)]

    def batch(done: int) -> list[Record]:
        start = first + done
        return [MetricReport("ten", start + i, dict.fromkeys(names, (start + i) / 7), 1.7e9) for i in range(REPORTS)]

    _send(Sender(target, "ten", first + 1), batch, every_s, seconds, pipe)


def _alert(target: Target, first: int, every_s: float, seconds: float, pipe: Any) -> None:
    def batch(done: int) -> list[Record]:
        return [Alert(f"alert {first + done + i}", "a loss that is no number", "WARNING") for i in range(ALERTS)]

    _send(Sender(target, "alerts", first + 1), batch, every_s, seconds, pipe)


def _send(sender: Sender, batch: Any, every_s: float, seconds: float, pipe: Any) -> None:
    """Post batches at their times, late ones at once; tells how many records were acknowledged, and in what time."""
    done, latencies = 0, []
    pipe.send("ready")
    pipe.recv()
    start = time.perf_counter()
    for number in range(sys.maxsize):
        if (number * every_s if every_s else time.perf_counter() - start) >= seconds:
            break
        records = batch(done)
        time.sleep(max(0.0, start + number * every_s - time.perf_counter()) if every_s else 0.0)
        before = time.perf_counter()
        sender.post(records)
        latencies.append(time.perf_counter() - before)
        done += len(records)
    pipe.send((done, max(time.perf_counter() - start, seconds), latencies))


def _events(cases: Sequence[Case]) -> int:
    return sum(_queued_in(turn) for case in cases for turn in case.beside)


def _queued_in(turn: Turn) -> int:
    return turn.alerts * WEBHOOKS


def _is_missed(case: Case) -> bool:
    too_few = machine.median(_queued(case.beside)) < 0.99 * HOLD_EVENTS
    return case.is_held and (case.slower > HOLD_SLOWER or too_few)


def _queued(turns: Sequence[Turn]) -> list[float]:
    return [_queued_in(turn) / turn.alerts_s for turn in turns]


def _drained(master: Master, receiver: Receiver, events: int) -> Drain | None:
    """Wait until all events were delivered; what it took from the first one on, None where all had been."""
    first = receiver.counts()[1]
    begin, cpu_s, deadline = time.perf_counter(), master.cpu_seconds(), time.perf_counter() + _DRAIN_S
    while (count := receiver.counts()[1]) < events:
        if count == first:  # the webhooks pause after failures
            begin, cpu_s = time.perf_counter(), master.cpu_seconds()
        if time.perf_counter() > deadline:
            raise SystemExit(f"{count:,} of {events:,} events were delivered within {_DRAIN_S:.0f} s")
        time.sleep(0.1)
    if count == first:
        return None
    return Drain((count - first) / (time.perf_counter() - begin), (master.cpu_seconds() - cpu_s) / (count - first))


def _text(cases: Sequence[Case], drains: Sequence[Drain], pairs: int, seconds: float) -> str:
    header = ["", "values/s alone", "beside events", "slower by, %", "least to most", "hold", ""]
    more = ["events/s queued", "delivered", "batch p50 ms", "p99 ms"]
    used = ["master's CPU, %", "per event, µs", "machine idle, %"]
    events = f"{_events(cases):,}"
    rate, each_ms = machine.median([one.rate for one in drains]), 1e3 * machine.median([one.cpu_s for one in drains])
    return (
        f"Ingest in batches of {REPORTS * VALUES:,} values, alone and beside {HOLD_EVENTS:,} events a second into the\n"
        f"queues of {WEBHOOKS} webhooks: {pairs} pairs of turns of {seconds:.0f} s. All {events} events were\n"
        f"delivered, each once; what had not been when a turn ended at {rate:,.0f} a second, for {each_ms:.2f} ms of\n"
        "the master's processor time each. "
        'Numbers are medians over turns, and "slower by" over pairs of turns.\n\n'
        + machine.table([*header, *more, *used], list(_rows(cases)))
    )


def _rows(cases: Sequence[Case]) -> Iterator[list[str]]:
    for case in cases:
        hold = [f"{HOLD_SLOWER:.0f}", "**missed**" if _is_missed(case) else "held"] if case.is_held else ["", ""]
        alone, beside = ([turn.rate for turn in turns] for turns in (case.alone, case.beside))
        events = f"{machine.median(_queued(case.beside)):,.0f}"
        delivered = f"{machine.median([turn.events / turn.seconds for turn in case.beside]):,.0f}"
        spread = f"{min(case.slower_each):.1f} to {max(case.slower_each):.1f}"
        rates = [f"{machine.median(alone):,.0f}", f"{machine.median(beside):,.0f}", f"{case.slower:.1f}", spread]
        each = "" if case.cpu_per_event is None else f"{case.cpu_per_event:,.0f}"
        used = [_both(case, lambda turn: turn.cpu), each, _both(case, lambda turn: turn.idle)]
        yield [case.what, *rates, *hold, events, delivered, *_latencies(case), *used]


def _both(case: Case, part: Callable[[Turn], float]) -> str:
    """Per cent alone -> beside events."""
    return " -> ".join(
        f"{100 * machine.median([part(turn) for turn in turns]):.0f}" for turns in (case.alone, case.beside)
    )


def _latencies(case: Case) -> list[str]:
    """Quantiles alone -> beside events."""
    both = [[1000 * took for turn in turns for took in turn.latencies] for turns in (case.alone, case.beside)]
    shown = [[f"{machine.quantile(took, share):.0f}" for took in both] for share in (0.5, 0.99)]
    return [" -> ".join(pair) for pair in shown]


if __name__ == "__main__":
    sys.exit(main())
