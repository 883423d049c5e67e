"""Time our Trainer adds to a step of a plain PyTorch loop, beside Lightning, Fabric, Accelerate, Ignite and the
Trainer of transformers.

    python benchmarks/train_loop.py [--quick] [--device cuda] [--python PYTHON] [--rounds N] [--only NAME ...]
                                    [--steps "20 ms" ...]

A peer that PYTHON does not have is named and left out.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import machine
import peers

SOURCE = Path(__file__).parents[1] / "src"
CASE = Path(__file__).with_name("train_loop_case.py")
OURS = "determined"
_LIMIT = 40e-6
_NOT_ABOVE = ("fabric", "accelerate")
_SECONDS = 900.0
_RESAMPLED = 2000
# name -> what it is called, how it reports the loss every 100 steps
_LOOPS = {
    "plain": ("the plain loop again (what the method adds)", "mean of the 100, to a list"),
    OURS: (
        "determined {version}, `Trainer.fit`",
        "mean of the 100 and each of them, to the callbacks and to the Core API off cluster, which logs it",
    ),
    "fabric": ("Lightning Fabric {version}", "mean of the 100 by hand, `fabric.log` with no logger"),
    "accelerate": ("Accelerate {version}", "mean of the 100 by hand, `accelerator.log` with no tracker"),
    "ignite": ("Ignite {version}, `create_supervised_trainer`", "the last, by a handler with `every=100`, to a list"),
    "lightning": (
        "Lightning {version}, `Trainer.fit`",
        "the last, `self.log` in each step, `log_every_n_steps=100`, a logger that keeps a list",
    ),
    "transformers": (
        "transformers {version}, `Trainer.train`",
        "mean of the 100, `logging_steps=100`, kept in its log history, `report_to` none, no filter of NaN",
    ),
}


@dataclass(frozen=True, slots=True)
class Step:
    """A step that takes about so long, and how it is measured in one round."""

    name: str
    target: float
    batch: dict[str, int]  # by device
    stride: dict[str, int]  # by device
    pairs: int


# Each turn ends when the GPU is done, so each begins with a GPU that waits for the host to queue its first kernel. A
# loop that never stops pays that once; where the GPU is the slower one, the turns are long so as not to count it.
STEPS = (
    Step("200 us", 200e-6, {"cpu": 32, "cuda": 512}, {"cpu": 50, "cuda": 50}, pairs=60),
    Step("2 ms", 2e-3, {"cpu": 128, "cuda": 512}, {"cpu": 10, "cuda": 10}, pairs=20),
    Step("20 ms", 20e-3, {"cpu": 512, "cuda": 512}, {"cpu": 5, "cuda": 100}, pairs=5),
)
_ROUNDS = 4
_QUICK_PAIRS = 2

Pair = tuple[float, float]
Added = list[list[float]]  # by process


@dataclass(slots=True)
class Found:
    """Measurement of a loop: seconds a step of the plain loop and of this one, by step, in the pairs of a process."""

    version: str = ""
    processes: dict[str, list[list[Pair]]] = field(default_factory=dict)

    def pairs(self, step: str) -> list[Pair]:
        return [pair for pairs in self.processes[step] for pair in pairs]

    def added(self, step: str) -> Added:
        return [[other - plain for plain, other in pairs] for pairs in self.processes[step]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median and the interval that it lies in, 95 of 100 times."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{1e6 * self.middle:.1f} ({1e6 * self.low:.1f} to {1e6 * self.high:.1f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="to see that it works, not how fast")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument(
        "--python", help="has torch, our dependencies and peers (default: the peers' own; this, on cuda)"
    )
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="processes of each loop (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=[*_LOOPS], default=[*_LOOPS], metavar="NAME")
    parser.add_argument("--steps", nargs="+", choices=[step.name for step in STEPS], default=None, metavar="STEP")
    options = parser.parse_args()
    steps = [step for step in STEPS if options.steps is None or step.name in options.steps]
    python = options.python or (peers.peers_python() if options.device == "cpu" else sys.executable)
    with tempfile.TemporaryDirectory(prefix="det-train-loop-") as folder:
        runner = Runner(python, options.device, Path(folder), steps)
        sizes = runner.calibrate()
        found = measure(runner, sizes, options.only, 1 if options.quick else options.rounds, quick=options.quick)
    print(render(found, sizes))
    if options.device != "cpu":
        print(f"Taken on {machine.facts()}")
    return 0 if all(row[-1] == "held" for row in _verdicts(found)) else 1


class Runner:
    """Starts the processes that measure."""

    def __init__(self, python: str, device: str, folder: Path, steps: Sequence[Step]) -> None:
        self._python, self.device, self._folder = python, device, folder
        self.steps = steps

    def calibrate(self) -> dict[str, Any]:
        wanted = [
            {"target": step.target, "batch": step.batch[self.device], "device": self.device} for step in self.steps
        ]
        return self.run("calibrate", wanted)

    def run(self, what: str, cases: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return what a process of its own prints as JSON, whatever else it prints."""
        sys.stderr.write(f"{what}\n")
        quiet = {"HF_HUB_OFFLINE": "1", "XDG_DATA_HOME": str(self._folder / "data"), "PYTHONPATH": str(SOURCE)}
        hidden = {"CUDA_VISIBLE_DEVICES": ""} if self.device == "cpu" else {}
        done = subprocess.run(
            [self._python, str(CASE), what, json.dumps(cases)],
            env=peers.environment(**quiet, **hidden),
            cwd=self._folder,  # a checkpoint holds the script's directory, and some leave files where they run
            stdout=subprocess.PIPE,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{what} failed with status {done.returncode}")
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result


def measure(
    runner: Runner, sizes: dict[str, Any], names: Sequence[str], rounds: int, *, quick: bool
) -> dict[str, Found | None]:
    """Everybody once a round, each time in another order; None for who is not installed."""
    cases = [
        {**size, "stride": step.stride[runner.device], "pairs": _QUICK_PAIRS if quick else step.pairs}
        for step, size in zip(runner.steps, sizes["sizes"], strict=True)
    ]
    found: dict[str, Found | None] = {name: Found() for name in names}
    for number in range(rounds):
        begin = number % len(names)
        for name in (*names[begin:], *names[:begin]):
            one = found[name]
            if one is None:
                continue
            told = runner.run(name, cases)
            found[name] = None if told.get("missing") else _joined(one, told, runner.steps)
    return found


def _joined(found: Found, told: dict[str, Any], steps: Sequence[Step]) -> Found:
    found.version = told["version"]
    for step, pairs in zip(steps, told["pairs"], strict=True):
        found.processes.setdefault(step.name, []).append(pairs)
        sys.stderr.write(f"  {step.name}: {', '.join(f'{1e6 * (other - plain):+.1f}' for plain, other in pairs)} us\n")
    return found


def estimate(values: Added, minus: Added | None = None) -> Estimate:
    """The difference of two medians, with the interval that resampling both of them gives.

    Two processes of one loop differ by more than the pairs of either (where its memory lies, what its kernels were
    tuned to), so a resample draws processes first and then pairs of each.
    """
    chance = random.Random(1)
    minus = minus or [[0.0]]
    drawn = sorted(
        machine.median(_resampled(values, chance)) - machine.median(_resampled(minus, chance))
        for _ in range(_RESAMPLED)
    )
    middle = machine.median(_together(values)) - machine.median(_together(minus))
    return Estimate(middle, machine.quantile(drawn, 0.025), machine.quantile(drawn, 0.975))


def _together(values: Added) -> list[float]:
    return [one for pairs in values for one in pairs]


def _resampled(values: Added, chance: random.Random) -> list[float]:
    return _together([chance.choices(pairs, k=len(pairs)) for pairs in chance.choices(values, k=len(values))])


def render(found: dict[str, Found | None], sizes: dict[str, Any]) -> str:
    missing = [_LOOPS[name][0].format(version="").strip() for name, one in found.items() if one is None]
    widths = ", ".join(f"{one['width']} wide on batches of {one['batch']}" for one in sizes["sizes"])
    rows = [[_LOOPS[name][0].format(version=one.version), _LOOPS[name][1]] for name, one in found.items() if one]
    return "\n".join([
        "# What a training loop adds to a step",
        "",
        f"On {sizes['device']}, torch {sizes['torch']}. A step: fetch a batch from a torch `DataLoader` (batches lie",
        "ready in memory), move it, forward, loss, backward, SGD step, zero_grad, and every 100 steps a report of the",
        f"loss. The model is a perceptron of three layers ({widths}), calibrated to the",
        "times named. The plain loop is that, by hand. It runs in the same process and in turns with the other:",
        "whenever the other loop has asked for so many batches, the plain one does as many steps in between. A pair is",
        "100 steps of each; the number is the median over pairs of what the other loop took more, in microseconds a",
        "step, with a bootstrap interval of 95 % (processes are drawn, then pairs of each). Negative: less than the",
        "plain loop. Each round starts every loop in a fresh process; checkpoints, validation and progress bars are",
        "off or outside of what is timed.",
        *(["", f"Not installed, and left out: {', '.join(missing)}."] if missing else []),
        "",
        *_tables(found),
        machine.table(["loop", "what it reports of the losses"], rows),
        "",
        machine.table(["hold", "limit", "measured", ""], _verdicts(found)),
        "",
    ])  # fmt: skip


def _tables(found: dict[str, Found | None]) -> list[str]:
    there = {name: one for name, one in found.items() if one is not None}
    lines = []
    for step in _measured(there):
        plain = machine.median([plain for one in there.values() for plain, _ in one.pairs(step.name)])
        header = [f"a plain step of {_time(plain)}", "us added a step", "of the step", "ours less it, us", "pairs"]
        rows = [_row(name, one, step.name, plain, there.get(OURS)) for name, one in there.items()]
        lines += [f"## Steps of about {step.name}", "", machine.table(header, rows), ""]
    return lines


def _row(name: str, found: Found, step: str, plain: float, ours: Found | None) -> list[str]:
    added = estimate(found.added(step))
    less = "" if ours is None or name == OURS else str(estimate(ours.added(step), found.added(step)))
    what = _LOOPS[name][0].format(version=found.version)
    return [what, str(added), f"{100 * added.middle / plain:+.2f} %", less, _counted(found.processes[step])]


def _counted(processes: list[list[Pair]]) -> str:
    return f"{sum(map(len, processes))} in {len(processes)}"


def _verdicts(found: dict[str, Found | None]) -> list[list[str]]:
    ours = found.get(OURS)
    if ours is None:
        return []
    rows = []
    for step in _measured({OURS: ours}):
        added = estimate(ours.added(step.name))
        rows.append([f"{step.name}: added by ours", "40 us", f"{added} us", machine.held(added.middle, _LIMIT)])
        for name in _NOT_ABOVE:
            other = found.get(name)
            if other is not None:
                less = estimate(ours.added(step.name), other.added(step.name))
                what = f"{step.name}: ours less {_LOOPS[name][0].format(version='').strip()}"
                rows.append([what, "interval reaches 0", f"{less} us", machine.held(less.low, 0.0)])
    return rows


def _measured(found: dict[str, Found]) -> list[Step]:
    return [step for step in STEPS if all(step.name in one.processes for one in found.values())]


def _time(seconds: float) -> str:
    return f"{1e6 * seconds:.0f} us" if seconds < 1e-3 else f"{1e3 * seconds:.2f} ms"


if __name__ == "__main__":
    sys.exit(main())
