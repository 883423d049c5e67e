"""Signs of life in shared memory."""

import subprocess
import sys
import timeit
from pathlib import Path

from determined.rundir.heartbeat import Heartbeat, readings


def test_beats_of_another_process_are_seen_even_after_its_death(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from determined.rundir.heartbeat import Heartbeat\n"
        "pulse = Heartbeat(Path(sys.argv[1]), 3); pulse.beat(); pulse.beat()\n"
        "print(os.getpid(), flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "p")], capture_output=True, check=False)
    [reading] = readings(tmp_path / "p")
    assert (reading.pid, reading.rank, reading.beats) == (int(done.stdout), 3, 2)
    assert reading.stacks.exists()


def test_a_process_that_starts_again_counts_from_zero(tmp_path: Path) -> None:
    Heartbeat(tmp_path, 0).beat()
    Heartbeat(tmp_path, 1)
    [reading] = readings(tmp_path)
    assert (reading.rank, reading.beats) == (1, 0)


def test_nobody_has_a_pulse_where_nobody_trains(tmp_path: Path) -> None:
    assert readings(tmp_path / "none") == []
    (tmp_path / "7.pulse").touch()  # just being made
    assert readings(tmp_path) == []


def test_a_beat_costs_less_than_a_microsecond(tmp_path: Path) -> None:
    pulse = Heartbeat(tmp_path, 0)
    assert min(timeit.repeat(pulse.beat, number=1000, repeat=50)) / 1000 < 1e-6
