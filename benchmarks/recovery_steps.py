"""Steps of a training process, written down by itself a line a step, so that kill -9 loses none of it.

Standard library only: read and written by our Python and by the peers'. Times are of the clock all processes share.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

PAUSE = 0.1  # seconds a step works, whoever trains
CHECKPOINT = 20  # steps between two checkpoints, where there are any


class Diary:
    """Diary of one process of the trainer `name`. It ends when told, together with the others or alone."""

    def __init__(self, folder: Path, name: str) -> None:
        self._stops = (folder / "stop", folder / f"stop-{name}")
        self._file = (folder / f"{name}.{os.getpid()}.steps").open("w", buffering=1)

    def over(self) -> bool:
        return any(stop.exists() for stop in self._stops)

    def note(self, step: int, call: float) -> None:
        """Step `step` is over; its report took `call` seconds."""
        self._file.write(f"{step} {time.monotonic()} {call}\n")


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    ended: float
    call: float


def read(folder: Path) -> dict[str, list[list[Step]]]:
    """Return by trainer, for each of its processes, the steps it took, the oldest process first."""
    found: dict[str, list[list[Step]]] = {}
    for file in sorted(folder.glob("*.steps"), key=lambda file: file.stat().st_ctime_ns):
        steps = [_parse(line) for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
        found.setdefault(file.name.split(".")[0], []).append(steps)
    for processes in found.values():
        processes.sort(key=lambda steps: steps[0].ended if steps else float("inf"))
    return found


def _parse(line: str) -> Step:
    number, ended, call = line.split()
    return Step(int(number), float(ended), float(call))
