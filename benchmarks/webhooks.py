"""Webhooks beside ingest: 1,000 events a second into the delivery queue, and what that costs the ingest of metrics.

    python benchmarks/webhooks.py [--quick]

One master on SQLite. In every turn one process reports metric values of a trial, and another 100 alerts a second of a
second trial. In turns with events that trial's config names ten webhooks, so that each alert is ten events; in turns
without them it names none. A receiver in a process of its own counts what is delivered, by event: meanwhile, or after
turns in which it was away, so that they measure the queue alone.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
    """What the master acknowledged in one turn. `alerts_s`: seconds for the alerts, as long as the metrics went on."""

    values: int
    seconds: float
    latencies: list[float]
    alerts: int
    alerts_s: float
    cpu: float  # of the master, as a part of one core

    @property
    def rate(self) -> float:
        return self.values / self.seconds


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
        """Median over the pairs of turns: per cent by which the one beside events took in less."""
        pairs = zip(self.alone, self.beside, strict=True)
        return machine.median([100 * (1 - beside.rate / alone.rate) for alone, beside in pairs])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see that it works: one pair of turns of a second each")
    options = parser.parse_args()
    seconds, pairs = (1.0, 1) if options.quick else (6.0, 4)
    paced = REPORTS * VALUES / OFFERED
    cases = [
        Case("as much as goes in, queue alone", 0.0, receiver_is_there=False, is_held=True),
        Case(f"{OFFERED:,} values/s, with deliveries", paced, receiver_is_there=True, is_held=True),
        Case("as much as goes in, with deliveries", 0.0, receiver_is_there=True, is_held=False),
    ]
    drains = []
    with (
        tempfile.TemporaryDirectory(prefix="det-webhooks-") as folder,
        running_receiver() as receiver,
        running_master(Path(folder), _CONFIG) as master,
    ):
        names = [_create(master, receiver, n) for n in range(WEBHOOKS)]
        named = f"integrations: {{webhooks: {{webhook_name: [{', '.join(names)}]}}}}\n"
        bench = Bench(master, master.start_trial(), master.start_trial(), master.start_trial(named), seconds)
        for number in range(pairs):
            for case in cases:
                receiver.be(case.receiver_is_there)
                bench.pair(case, beside_first=number % 2 == 1)
                receiver.be(there=True)
                drains.append(_drained(receiver, _events(cases)))
        requests, events = receiver.counts()
    if (requests, events) != (_events(cases),) * 2:
        raise SystemExit(f"{_events(cases):,} events were queued; {requests:,} requests of {events:,} events have come")
    print(_text(cases, drains, pairs, seconds))
    return 0 if options.quick or not any(_is_missed(case) for case in cases) else 1


@dataclass
class Bench:
    """`silent`, `told`: trials whose alerts reach nobody, and all webhooks."""

    master: Master
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
        before, begin = self.master.cpu_seconds(), time.perf_counter()
        for _, pipe in both:
            pipe.send("go")
        (reports, took, latencies), (alerts, alerts_s, _) = (pipe.recv() for _, pipe in both)
        cpu = (self.master.cpu_seconds() - before) / (time.perf_counter() - begin)
        for process, _ in both:
            process.join(30)
        self.sent += reports * VALUES
        self.alerts[alerting.task_id] = first + alerts
        return Turn(reports * VALUES, took, latencies, alerts, alerts_s, cpu)


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
    return sum(turn.alerts * WEBHOOKS for case in cases for turn in case.beside)


def _is_missed(case: Case) -> bool:
    too_few = machine.median(_queued(case.beside)) < 0.99 * HOLD_EVENTS
    return case.is_held and (case.slower > HOLD_SLOWER or too_few)


def _queued(turns: Sequence[Turn]) -> list[float]:
    return [turn.alerts * WEBHOOKS / turn.alerts_s for turn in turns]


def _drained(receiver: Receiver, events: int) -> float:
    """Wait until all events were delivered; how many a second after the turn."""
    (_, before), begin = receiver.counts(), time.perf_counter()
    while receiver.counts()[1] < events:
        if time.perf_counter() - begin > _DRAIN_S:
            raise SystemExit(f"{receiver.counts()[1]:,} of {events:,} events were delivered within {_DRAIN_S:.0f} s")
        time.sleep(0.1)
    return (events - before) / (time.perf_counter() - begin)


def _text(cases: Sequence[Case], drains: Sequence[float], pairs: int, seconds: float) -> str:
    header = ["", "values/s alone", "beside events", "slower by, %", "hold", ""]
    more = ["events/s queued", "batch p50 ms", "p99 ms", "master's CPU, %"]
    events = f"{_events(cases):,}"
    return (
        f"Ingest in batches of {REPORTS * VALUES:,} values, alone and beside {HOLD_EVENTS:,} events a second into the\n"
        f"queues of {WEBHOOKS} webhooks: {pairs} pairs of turns of {seconds:.0f} s. All {events} events were\n"
        f"delivered, each once; what had not been when a turn ended at {machine.median(drains):,.0f} a second.\n\n"
        + machine.table([*header, *more], list(_rows(cases)))
    )


def _rows(cases: Sequence[Case]) -> Iterator[list[str]]:
    for case in cases:
        hold = [f"{HOLD_SLOWER:.0f}", "**missed**" if _is_missed(case) else "held"] if case.is_held else ["", ""]
        alone, beside = ([turn.rate for turn in turns] for turns in (case.alone, case.beside))
        events = f"{machine.median(_queued(case.beside)):,.0f}"
        rates = [f"{machine.median(alone):,.0f}", f"{machine.median(beside):,.0f}", f"{case.slower:.1f}"]
        cpu = [f"{100 * machine.median([turn.cpu for turn in turns]):.0f}" for turns in (case.alone, case.beside)]
        yield [case.what, *rates, *hold, events, *_latencies(case), " -> ".join(cpu)]


def _latencies(case: Case) -> list[str]:
    """Quantiles alone -> beside events."""
    both = [[1000 * took for turn in turns for took in turn.latencies] for turns in (case.alone, case.beside)]
    shown = [[f"{machine.quantile(took, share):.0f}" for took in both] for share in (0.5, 0.99)]
    return [" -> ".join(pair) for pair in shown]


if __name__ == "__main__":
    sys.exit(main())
