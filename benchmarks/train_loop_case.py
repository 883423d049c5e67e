"""Measurement of a loop and the plain one in this process, for train_loop.py; prints one JSON object as its last line.

PYTHON benchmarks/train_loop_case.py calibrate '[{"target": 0.002, "batch": 32, "device": "cpu"}]'
PYTHON benchmarks/train_loop_case.py NAME '[{"width": 64, "batch": 32, "device": "cpu", "stride": 50, "pairs": 20}]'
PYTHON benchmarks/train_loop_case.py NAME '[{...}]' --profile       what its steps call, by cProfile
"""

import argparse
import cProfile
import json
import math
import pstats
import sys
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError
from typing import Any

import torch

import train_loop_frameworks as frameworks
import train_loop_work as work


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["calibrate", *frameworks.LOOPS])
    parser.add_argument("cases", type=json.loads, help="JSON")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    frameworks.quietly()
    if options.what == "calibrate":
        print(json.dumps(_calibrate(options.cases)))
        return 0
    cases = [work.Case(work.Size(**size), stride, pairs) for stride, pairs, size in map(_taken_apart, options.cases)]
    if options.profile:
        _profile(options.what, cases[0])
        return 0
    print(json.dumps(_measure(options.what, cases)))
    return 0


def _calibrate(wanted: list[dict[str, Any]]) -> dict[str, Any]:
    is_cpu = wanted[0]["device"] == "cpu"
    return {
        "sizes": [asdict(work.calibrated(**one)) for one in wanted],
        "device": "one thread of the processor" if is_cpu else torch.cuda.get_device_name(),
        "torch": torch.__version__,
    }


def _taken_apart(case: dict[str, Any]) -> tuple[int, int, dict[str, Any]]:
    size = {key: case[key] for key in ("width", "batch", "device", "elsewhere") if key in case}
    return case["stride"], case["pairs"], size


def _measure(name: str, cases: list[work.Case]) -> dict[str, Any]:
    try:
        version = frameworks.version_of(name)
    except PackageNotFoundError:
        return {"missing": True}
    return {"version": version, "pairs": [_pairs(name, case) for case in cases]}


def _pairs(name: str, case: work.Case) -> list[tuple[float, float]]:
    switch = work.Switch(case.size, case.stride)
    reported = frameworks.LOOPS[name][0](case.size, work.Batches(case.size, case.steps, switch), case.steps)
    _check(name, reported, case.steps)
    return switch.pairs()[: case.pairs]


def _check(name: str, reported: list[float], steps: int) -> None:
    """Check the work: who trains or reports less than the others is not faster."""
    due = steps // work.REPORT_EVERY
    if len(reported) not in {due, due + 1}:  # some report what is left at the end
        raise SystemExit(f"{name}: {len(reported)} reports of {due} that were due after {steps} steps")
    if not all(math.isfinite(loss) for loss in reported) or not reported[due - 1] < reported[0]:
        raise SystemExit(f"{name} does not learn: it reported {reported}")


def _profile(name: str, case: work.Case) -> None:
    profile = cProfile.Profile()
    profile.enable()
    frameworks.LOOPS[name][0](case.size, work.Batches(case.size, case.steps), case.steps)
    profile.disable()
    print(f"{case.steps} steps")
    pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(40)


if __name__ == "__main__":
    sys.exit(main())
