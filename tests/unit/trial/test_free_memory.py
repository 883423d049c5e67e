"""Memory that is free for a copy, by the kernel's files of a machine and of cgroups of both versions."""

from pathlib import Path

import pytest

from determined.trial import FreeMemory, free_memory

MIB = 1 << 20
GIB = 1 << 30


class Machine:
    """A machine of 8 GiB, of which 6 are available."""

    def __init__(self, directory: Path) -> None:
        self.cgroups = directory / "cgroups"
        self._meminfo, self._membership = directory / "meminfo", directory / "cgroup"
        self._meminfo.write_text("MemTotal:        8388608 kB\nMemFree:  1024 kB\nMemAvailable:    6291456 kB\n")

    def in_cgroup(self, membership: str) -> None:
        self._membership.write_text(membership)

    def write(self, path: str, **files: int | str) -> None:
        directory = self.cgroups / path
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (directory / name.replace("__", ".")).write_text(f"{content}\n")

    def free(self) -> FreeMemory | None:
        return free_memory(self._meminfo, self.cgroups, self._membership)

    def forget(self) -> None:
        self._meminfo.unlink()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_a_limit_it_is_what_the_kernel_calls_available(machine: Machine) -> None:
    assert machine.free() == FreeMemory(6 * GIB, 8 * GIB)
    machine.in_cgroup("0::/task\n")
    machine.write("task", memory__max="max", memory__current=GIB)
    assert machine.free() == FreeMemory(6 * GIB, 8 * GIB)


def test_the_tightest_limit_on_the_way_to_the_root_counts(machine: Machine) -> None:
    machine.in_cgroup("0::/slice/task\n")
    machine.write("slice/task", memory__max=4 * GIB, memory__current=GIB)
    assert machine.free() == FreeMemory(3 * GIB, 4 * GIB)
    machine.write("slice", memory__max=5 * GIB, memory__current=3 * GIB)
    assert machine.free() == FreeMemory(2 * GIB, 4 * GIB)


def test_files_that_the_kernel_would_drop_are_not_in_use(machine: Machine) -> None:
    machine.in_cgroup("0::/task\n")
    machine.write("task", memory__max=4 * GIB, memory__current=3 * GIB, memory__stat=f"anon 5\ninactive_file {2 * GIB}")
    assert machine.free() == FreeMemory(3 * GIB, 4 * GIB)


def test_the_first_version_of_cgroups_counts_as_well(machine: Machine) -> None:
    machine.in_cgroup("3:cpu,cpuacct:/other\n5:memory:/task\n")
    machine.write("memory/task", memory__limit_in_bytes=2 * GIB, memory__usage_in_bytes=GIB)
    machine.write("memory", memory__limit_in_bytes=1 << 62, memory__usage_in_bytes=7 * GIB)
    assert machine.free() == FreeMemory(GIB, 2 * GIB)


def test_in_a_container_our_own_cgroup_is_the_one_that_is_mounted(machine: Machine) -> None:
    machine.in_cgroup("0::/docker/0123\n")
    machine.write("", memory__max=GIB, memory__current=256 * MIB)
    assert machine.free() == FreeMemory(768 * MIB, GIB)


def test_a_system_without_these_files_does_not_tell(machine: Machine) -> None:
    machine.forget()
    assert machine.free() is None


@pytest.mark.parametrize(
    ("free", "total", "spare"), [(6 * GIB, 8 * GIB, 6 * GIB - 8 * GIB // 10), (GIB, 64 * GIB, 0), (90, 100, 80)]
)
def test_a_tenth_of_all_memory_stays_free(free: int, total: int, spare: int) -> None:
    assert FreeMemory(free, total).spare == spare


def test_of_a_large_machine_four_gibibytes_stay_free() -> None:
    assert FreeMemory(500 * GIB, 1024 * GIB).spare == 496 * GIB
