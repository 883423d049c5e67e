"""An hour on a page of a live trial, compressed: reports of an hour in minutes, and a page whose timers run as fast."""

import math
import time
from collections.abc import Iterator

from playwright.sync_api import Browser, Page

from determined.wire.report import LogLine, MetricReport
from ingest import Master, Sender, Target
from webui_browser import Counters, settle, visitor
from webui_row import Row

_A_SECOND = 8  # reports that are sent in a second stand for as many seconds: the master tells of ten changes a second
_GROWTH_MB = 20
_WARM_UP = 0.1
_HIDDEN_SECONDS = 80  # a hidden tab is served for a minute more
_HIDE = """() => {
    for (const [name, value] of [["hidden", true], ["visibilityState", "hidden"]])
        Object.defineProperty(document, name, {configurable: true, get: () => value});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def hour(browser: Browser, master: Master, updates: int) -> Iterator[Row]:
    """A report a second, for an hour; two tabs, one of them hidden."""
    target = master.start_trial()
    with visitor(browser, master.url, faster=_A_SECOND) as context:
        watched, hidden = context.new_page(), context.new_page()
        for page in (hidden, watched):
            page.goto(f"/det/trials/{target.trial_id}/overview")
            settle(page, "h1")
        hidden.evaluate(_HIDE)
        reports = _Reports(target)
        warm_up = max(int(updates * _WARM_UP), _HIDDEN_SECONDS)
        reports.send(warm_up, watched)
        asked: list[str] = []
        hidden.on("request", lambda request: asked.append(request.url))
        counters = Counters(watched)
        before, cpu = counters.heap_mb(), counters.cpu_ms()
        reports.send(updates - warm_up, watched)
        growth, cpu = counters.heap_mb() - before, counters.cpu_ms() - cpu
    what = f"heap after {updates:,} updates of a live trial (from {before:.0f} MB)"
    yield Row(what, f"≤ {_GROWTH_MB} MB more", f"{growth:.1f} MB", cpu, growth <= _GROWTH_MB)
    yield Row("requests of the hidden tab after its first minute", "0", str(len(asked)), None, not asked)


class _Reports:
    """Sends what a training process would: every step a metric, every tenth a validation, a line of log each."""

    def __init__(self, target: Target) -> None:
        self._sender, self._logs, self._step = Sender(target, "user-1"), Sender(target, "logs-live"), 0

    def send(self, updates: int, page: Page) -> None:
        begin = time.perf_counter()
        for n in range(updates):
            self._one()
            ahead = begin + (n + 1) / _A_SECOND - time.perf_counter()
            page.wait_for_timeout(max(0.0, ahead * 1000))  # not sleep: what the browser says is heard meanwhile

    def _one(self) -> None:
        self._step += 1
        step, now = self._step, time.time()
        values = {"loss": math.exp(-self._step / 1000), "accuracy": 1 - math.exp(-step / 800), "grad": math.sin(step)}
        made = [MetricReport("training", step, values, now)]
        if step % 10 == 0:
            made.append(MetricReport("validation", step, {"loss": values["loss"] * 1.1}, now))
        self._sender.post(list(made))
        self._logs.post([LogLine(f"step {step} loss {values['loss']:.4f}", now)])
