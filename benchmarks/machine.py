"""Parts of a result beside its numbers: the machine it was taken on, and tables in Markdown."""

import os
import platform
import statistics
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_OURS = ("litestar", "msgspec", "SQLAlchemy", "urllib3", "uvicorn")


def facts() -> str:
    """Describe the machine in one paragraph; nothing in it names a path of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    libraries = ", ".join(f"{name} {_version(name)}" for name in _OURS)
    return (
        f"{os.cpu_count()} cores ({_processor()}), {memory:.0f} GiB memory, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}; redetermined {_version('redetermined')}, {libraries}. "
        f"Load average when it began: {load:.1f}."
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def held(value: float, limit: float) -> str:
    """The verdict column of a number that must stay below a limit."""
    return "held" if value <= limit else "**missed**"


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
