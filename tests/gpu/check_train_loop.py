"""For a machine with an NVIDIA GPU (`make test-gpu`): the trainer's loop makes the processor wait for the GPU when it
reports, and never between.

The profiler counts waits and copies to the host in a stretch of steps of our loop, beside the same plain loop, which
shows what the profiler causes itself, and beside one that asks for each loss, which shows that it counts.
Needs torch with CUDA.
"""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import train_loop_frameworks as frameworks
from train_loop_work import REPORT_EVERY, Batches, Size

WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy", "aten::item")
TO_HOST = "copies to the host"
SIZE = Size(width=256, batch=64, device="cuda")
STEPS = 4 * REPORT_EVERY
_COPIES_PER_REPORT = 2  # one of all losses; and one to spare


@dataclass(frozen=True, slots=True)
class Stretch:
    """Steps from one fetched batch to another."""

    first: int
    end: int

    @property
    def reports(self) -> int:
        return self.end // REPORT_EVERY - self.first // REPORT_EVERY


QUIET = Stretch(REPORT_EVERY + 10, 2 * REPORT_EVERY - 10)
REPORTING = Stretch(REPORT_EVERY + 10, 3 * REPORT_EVERY + 10)


class Watch:
    """Profiles a stretch of whatever loop fetches its batches; asks for something in each step, if told.

    Args:
        stretch: where.
        is_strict: torch itself refuses to wait there, with a traceback of who wanted it.
    """

    def __init__(self, stretch: Stretch, *, is_strict: bool = False, asks: bool = False) -> None:
        self._stretch, self._is_strict, self._asks = stretch, is_strict, asks
        self._fetched = 0
        self._profile = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
        self._asked = torch.ones(1, device=SIZE.device)

    def fetched(self) -> None:
        number, self._fetched = self._fetched, self._fetched + 1
        if number == self._stretch.first:
            torch.cuda.synchronize()
            self._profile.start()
            torch.cuda.set_sync_debug_mode("error" if self._is_strict else "default")
        if number == self._stretch.end:
            torch.cuda.set_sync_debug_mode("default")
            self._profile.stop()
        if self._asks and self._stretch.first <= number < self._stretch.end:
            self._asked.item()

    def counted(self) -> Counter[str]:
        names = [event.name for event in self._profile.events()]
        if not any(name.startswith("cudaLaunchKernel") for name in names):
            raise SystemExit("the profiler saw no kernel: it cannot see waits either")
        counted = Counter(name for name in names if name in WAITS)
        counted[TO_HOST] = sum(name.startswith("Memcpy DtoH") for name in names)
        return counted


def main() -> int:
    if not torch.cuda.is_available():
        print("this check needs an NVIDIA GPU and torch with CUDA")
        return 1
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    frameworks.quietly()
    found = {
        (name, stretch): _watched(name, Watch(stretch, is_strict=stretch is QUIET))
        for name in ("plain", "determined")
        for stretch in (QUIET, REPORTING)
    }
    asking = _watched("plain", Watch(QUIET, asks=True))
    for (name, stretch), counted in found.items():
        print(f"{name}: {stretch.end - stretch.first} steps, {stretch.reports} reports: {dict(counted)}")
    print(f"a loop that asks in each step: {QUIET.end - QUIET.first} steps: {dict(asking)}")
    wrong = [*_wrong(found), *_blind(asking)]
    print("\n".join(wrong) or "no wait and no copy to the host between reports")
    return 1 if wrong else 0


def _watched(name: str, watch: Watch) -> Counter[str]:
    frameworks.LOOPS[name][0](SIZE, Batches(SIZE, STEPS, watch), STEPS)
    return watch.counted()


def _wrong(found: dict[tuple[str, Stretch], Counter[str]]) -> list[str]:
    quiet, plain = found["determined", QUIET], found["plain", QUIET]
    wrong = [
        f"{name}: {quiet[name]} in {QUIET.end - QUIET.first} steps between reports, {plain[name]} in the plain loop"
        for name in (*WAITS, TO_HOST)
        if quiet[name] > plain[name]
    ]
    copies, most = found["determined", REPORTING][TO_HOST], _COPIES_PER_REPORT * REPORTING.reports
    if copies > most:
        wrong.append(f"{copies} copies to the host for {REPORTING.reports} reports, more than {most}")
    return wrong


def _blind(asking: Counter[str]) -> list[str]:
    due = QUIET.end - QUIET.first
    return [] if asking[TO_HOST] >= due else [f"the profiler counted {asking[TO_HOST]} of {due} copies that were made"]


if __name__ == "__main__":
    sys.exit(main())
