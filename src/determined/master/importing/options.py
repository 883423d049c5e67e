"""Options of an import: `--only` and `--since` as data. Pure."""

from dataclasses import dataclass
from datetime import datetime

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.master.importing.clean import parse_moment

_USAGE = "write workspaces=NAME,NAME or experiments=1-500,600"


@dataclass(frozen=True, slots=True)
class Selection:
    """Experiments to take. `workspaces` has names or ids as they were given; None: all of them."""

    workspaces: tuple[str, ...] | None = None
    experiments: tuple[tuple[int, int], ...] | None = None  # first and last id of each range
    since: datetime | None = None

    def takes_experiment(self, experiment_id: int) -> bool:
        return self.experiments is None or any(low <= experiment_id <= high for low, high in self.experiments)

    @property
    def is_whole(self) -> bool:
        return self.workspaces is None and self.experiments is None and self.since is None


@dataclass(frozen=True, slots=True)
class ImportOptions:
    selection: Selection = Selection()
    logs: bool = True
    profiling: bool = False  # system metrics too
    check_files: int = 0  # checkpoints whose files are compared; no part of what is imported

    def to_json(self) -> JsonObject:
        """Return what a later run compares: one that goes on must be asked for the same."""
        chosen = self.selection
        return {
            "workspaces": list(chosen.workspaces) if chosen.workspaces is not None else None,
            "experiments": [list(span) for span in chosen.experiments] if chosen.experiments is not None else None,
            "since": chosen.since.isoformat() if chosen.since else None,
            "logs": self.logs,
            **({"profiling": True} if self.profiling else {}),
        }


def parse_selection(only: list[str], since: str | None) -> Selection:
    """Read the values of `--only` and `--since`. Raises InvalidArgument."""
    workspaces: tuple[str, ...] | None = None
    experiments: tuple[tuple[int, int], ...] | None = None
    for text in only:
        noun, _, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not listed or noun not in ("workspaces", "experiments"):
            raise InvalidArgument(f"--only {text!r} is not understood; {_USAGE}")
        if noun == "workspaces":
            workspaces = (*(workspaces or ()), *listed)
        else:
            experiments = (*(experiments or ()), *(_span(value) for value in listed))
    return Selection(workspaces, experiments, _since(since) if since else None)


def parse_count(text: str | None, flag: str) -> int:
    """Read a number of things; 0 where it is not given. Raises InvalidArgument."""
    if text is not None and not text.isdecimal():
        raise InvalidArgument(f"{flag} {text!r} is no number; write how many, such as 100")
    return int(text or 0)


def _span(text: str) -> tuple[int, int]:
    low, dash, high = text.partition("-")
    if not low.isdecimal() or (dash and not high.isdecimal()):
        raise InvalidArgument(f"--only experiments={text!r} is no id and no range of ids; {_USAGE}")
    first, last = int(low), int(high) if dash else int(low)
    if first > last:
        raise InvalidArgument(f"--only experiments={text!r}: the first id is larger than the last one")
    return first, last


def _since(text: str) -> datetime:
    try:
        return parse_moment(text)
    except ValueError as e:
        raise InvalidArgument(f"--since {text!r} is no date; write 2024-01-31, or 2024-01-31T12:00:00+00:00") from e
