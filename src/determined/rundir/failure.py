"""File that a launcher writes for its runner when a rank fails: the first rank that failed, its end, its last lines."""

import json
import re
import secrets
import signal
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LAST_LINES = 10
_LINE_CHARACTERS = 300
_NAME = "failure.json"
# Bars of tqdm, which draws its last one after the error that ended the loop: no cause of anything.
_BAR_CHARACTERS = 500  # the pattern takes time with the cube of the length
_PROGRESS_BAR = re.compile(r"\d+%\|.*\| *\S+/\S+ \[.*\]\s*$")


@dataclass(frozen=True, slots=True)
class Failure:
    """Failure of a rank. `attempt` counts the restarts a launcher makes by itself (torchrun's --max-restarts)."""

    rank: int | None
    status: int  # 128 + n after signal n
    time: float
    lines: list[str] = field(default_factory=list)
    attempt: int = 0

    def describe(self) -> str:
        """Return what happened, then its last lines, one per line."""
        who = "the process" if self.rank is None else f"rank {self.rank}"
        what = f"{who} failed first here, {_how(self.status)}."
        return "\n    ".join([f"{what} Its last lines:" if self.lines else what, *self.lines])


def record_failure(run_dir: Path, failure: Failure) -> None:
    """Keep the first failure of the newest attempt, for the user of the task alone."""
    known = read_failure(run_dir)
    if known is not None and (known.attempt, -known.time) >= (failure.attempt, -failure.time):
        return
    fresh = run_dir / f".{_NAME}.{secrets.token_hex(8)}"
    content = asdict(failure) | {"lines": _significant(failure.lines)}
    fresh.touch(mode=0o600, exist_ok=False)
    fresh.write_text(json.dumps(content))
    if known is not None:
        fresh.replace(run_dir / _NAME)
        return
    try:
        # A link does not replace: of two ranks that fail at once only one is the first.
        (run_dir / _NAME).hardlink_to(fresh)
    except FileExistsError:
        if read_failure(run_dir) is not None:
            record_failure(run_dir, failure)
    finally:
        fresh.unlink()


def read_failure(run_dir: Path) -> Failure | None:
    """Read the failure; None where no launcher wrote one, or the file is not a failure."""
    try:
        content: dict[str, Any] = json.loads((run_dir / _NAME).read_text())
        rank = None if content["rank"] is None else int(content["rank"])
        lines = [str(line)[:_LINE_CHARACTERS] for line in content["lines"][:LAST_LINES]]
        return Failure(rank, int(content["status"]), float(content["time"]), lines, int(content["attempt"]))
    except (OSError, ValueError, TypeError, LookupError):
        return None


def forget_failure(run_dir: Path) -> None:
    """Remove the failure of an earlier launcher of this task: a new one begins."""
    (run_dir / _NAME).unlink(missing_ok=True)


def is_progress_bar(line: str) -> bool:
    return _PROGRESS_BAR.search(line[-_BAR_CHARACTERS:]) is not None


def _significant(lines: list[str]) -> list[str]:
    significant = [line[:_LINE_CHARACTERS] for line in lines if not is_progress_bar(line)]
    return significant[-LAST_LINES:]


def _how(status: int) -> str:
    if status <= 128 or status - 128 not in {number.value for number in signal.Signals}:
        return f"with status {status}"
    name = signal.Signals(status - 128).name
    return f"ended by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
