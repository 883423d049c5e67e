"""Identity of a process: its id and when it started, which tell it from a later one with the same id."""

from pathlib import Path

_PROC = Path("/proc")


def start_time(pid: int) -> str | None:
    """Return boot id and start tick. None when the process is gone."""
    fields = stat_fields(pid)
    if fields is None:
        return None
    boot = _PROC / "sys/kernel/random/boot_id"
    return f"{boot.read_text().strip() if boot.exists() else ''}/{fields[19]}"


def is_alive(pid: int, started: str | None) -> bool:
    """Check whether the process that started then still runs. False where there is no /proc to tell."""
    fields = stat_fields(pid)
    return fields is not None and fields[0] != "Z" and started is not None and start_time(pid) == started


def stat_fields(pid: int) -> list[str] | None:
    """Return the fields of /proc/PID/stat from the state on; the command before it may hold spaces and brackets."""
    try:
        return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
