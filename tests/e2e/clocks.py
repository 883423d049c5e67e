"""A clock that a test moves, for the master, its runners and their tasks."""

import struct
from pathlib import Path

MOVED_CLOCK = Path(__file__).parent / "moved_clock"


class MovedClock:
    """Clock of the master, the runner and the trial; only ever moved forward."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.ahead = 0.0
        path.write_bytes(struct.pack("d", 0.0))

    def advance(self, seconds: float) -> None:
        self.ahead += seconds
        with self._path.open("r+b") as file:
            file.write(struct.pack("d", self.ahead))

    @property
    def variables(self) -> dict[str, str]:
        return {"PYTHONPATH": str(MOVED_CLOCK), "MOVED_CLOCK": str(self._path)}
