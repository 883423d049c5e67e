"""Rules by which a fork server ends itself. The next launch starts another one, or starts cold."""

from dataclasses import dataclass

from determined.rundir.fork_protocol import Retired

IDLE_SECONDS = 600.0
MOST_FORKS = 10_000
_GROWTH_SHARE, _GROWTH_BYTES = 0.1, 32 << 20
_AVAILABLE_SHARE = 0.06  # of the memory: below it, what idle servers hold is wanted by others
_MEMORY_REST_SECONDS = 60.0
_PRESSURE = 20.0  # per cent of the last 10 s in which somebody waited for memory


@dataclass(frozen=True, slots=True)
class Readings:
    """Facts about a fork server and its machine. `available_share`, `pressure`: None where the system does not tell."""

    idle_seconds: float
    forks: int
    threads: int
    resident: int
    resident_at_start: int
    available_share: float | None = None
    pressure: float | None = None
    changed_file: str | None = None


def retired(now: Readings) -> Retired | None:
    """Return why the server has to end; None while it may go on."""
    short = _short_memory(now)
    if short is not None:
        return Retired(f"memory is short: {short}", _MEMORY_REST_SECONDS)
    rules = (
        (now.changed_file is not None, f"{now.changed_file} has changed"),
        (now.threads > 1, "it has got a second thread"),
        (now.resident > _most_resident(now.resident_at_start), f"it has grown to {now.resident >> 20} MiB"),
        (now.forks >= MOST_FORKS, f"it has forked {now.forks} times"),
        (now.idle_seconds >= IDLE_SECONDS, f"nobody asked for {now.idle_seconds:.0f} s"),
    )
    return next((Retired(why) for applies, why in rules if applies), None)


def _short_memory(now: Readings) -> str | None:
    if now.available_share is not None and now.available_share < _AVAILABLE_SHARE:
        return f"{now.available_share:.0%} of it is available"
    if now.pressure is not None and now.pressure > _PRESSURE:
        return f"processes waited for it {now.pressure:.0f} % of the time"
    return None


def _most_resident(at_start: int) -> float:
    return at_start * (1 + _GROWTH_SHARE) + _GROWTH_BYTES
