"""How much memory is left: of the machine's, or of the cgroup's where that is less."""

from pathlib import Path

import pytest

from determined.exec.fork_server.watch import available_share


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path / "proc/meminfo", "MemTotal:  1000 kB\nMemFree:  10 kB\nMemAvailable:  400 kB\n")
    write(tmp_path / "proc/self/cgroup", "0::/jobs/task\n")
    return tmp_path


def share(place: Path) -> float | None:
    return available_share(place / "proc", place / "cgroup")


def test_machine_counts_without_a_limit(place: Path) -> None:
    assert share(place) == 0.4
    write(place / "cgroup/jobs/task/memory.max", "max\n")
    write(place / "cgroup/jobs/task/memory.current", "999\n")
    assert share(place) == 0.4


@pytest.mark.parametrize("directory", ["cgroup/jobs/task", "cgroup"])
def test_limit_of_the_cgroup_counts_where_less_is_left_of_it(place: Path, directory: str) -> None:
    write(place / directory / "memory.max", "1000\n")
    write(place / directory / "memory.current", "950\n")
    assert share(place) == 0.05
    write(place / directory / "memory.stat", "anon 5\ninactive_file 250\n")
    assert share(place) == 0.3
    write(place / directory / "memory.current", "10\n")
    assert share(place) == 0.4


def test_system_that_does_not_tell_is_no_reason_to_end(tmp_path: Path) -> None:
    assert share(tmp_path) is None
