"""The web page in a real Chromium, against a real master that holds 10,000 trials of 40 columns.

    python benchmarks/webui.py [--quick]

Sizes, first paint, scrolling, charts, answers to clicks and keys, memory and requests over an hour's worth of live
updates, truth of charts. The trials are written into the database before the master starts (rows.py); the live trial is
a real one, whose reports go over HTTP. CPU is the processor time of the page's main thread.
"""

import argparse
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser
from sqlalchemy import Engine

import machine
import rows as stored
import webui_charts
import webui_live
import webui_table
import webui_vitals
from ingest import Master, running_master
from webui_browser import chromium
from webui_charts import CURVES, SPIKE_TRIAL, TOGETHER, WITH_ALL
from webui_row import Row, verdict

WEBUI = Path(__file__).parents[1] / "webui"


@dataclass(frozen=True)
class Sizes:
    experiments: int
    steps: int  # of the curves that are laid over one another
    points: int  # of the series with the spike
    turns: int
    live_updates: int


FULL = Sizes(experiments=100, steps=3000, points=1_000_000, turns=5, live_updates=3600)
QUICK = Sizes(experiments=4, steps=400, points=20_000, turns=1, live_updates=200)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="see that it works, with 400 trials")
    options = parser.parse_args()
    sizes = QUICK if options.quick else FULL
    subprocess.run([sys.executable, WEBUI / "build.py", "--if-needed"], check=True)
    with tempfile.TemporaryDirectory(prefix="det-webui-") as folder:
        engine = stored.fill(Path(folder) / "data", sizes.experiments)
        draw(engine, sizes)
        engine.dispose()
        rows = look(Path(folder), sizes)
    print(f"The page over {sizes.experiments * stored.PER_EXPERIMENT:,} trials of 40 columns.\n")
    print(machine.table(["what", "budget", "measured", "CPU ms", ""], [verdict(row) for row in rows]))
    return 0 if options.quick or all(row.is_held for row in rows) else 1


def look(folder: Path, sizes: Sizes) -> list[Row]:
    with running_master(folder) as master, chromium() as browser:
        return list(_rows(browser, master, sizes))


def draw(engine: Engine, sizes: Sizes) -> None:
    """Curves: one for each of 50 trials, two dozen for ten of them, and a long one with a spike of one step."""
    rng = random.Random(2)
    for trial in range(1, TOGETHER + 1):
        names = CURVES if trial <= WITH_ALL else CURVES[:1]
        stored.report(engine, trial, _curves(names, sizes.steps, rng))
    stored.report(engine, SPIKE_TRIAL, _spiked(sizes.points, rng))


def _curves(names: list[str], steps: int, rng: random.Random) -> Iterator[dict[str, float]]:
    level = rng.uniform(0.5, 2)
    for step in range(steps):
        yield {name: level * math.exp(-step / steps) + rng.gauss(0, 0.05) for name in names}


def _spiked(points: int, rng: random.Random) -> Iterator[dict[str, float]]:
    spike = webui_charts.spike_step(points)
    for step in range(1, points + 1):
        yield {"spiked": webui_charts.SPIKE if step == spike else 1 + rng.gauss(0, 0.1)}


def _rows(browser: Browser, master: Master, sizes: Sizes) -> Iterator[Row]:
    yield from webui_vitals.scripts(browser, master.url)
    yield from webui_vitals.vitals(browser, master.url, sizes.turns)
    yield from webui_table.scrolling(browser, master.url, sizes.turns)
    yield from webui_table.answers(browser, master.url, sizes.turns)
    yield from webui_charts.painting(browser, master.url, sizes.turns)
    yield from webui_charts.truth(browser, master.url, sizes.points)
    yield from webui_live.hour(browser, master, sizes.live_updates)


if __name__ == "__main__":
    sys.exit(main())
