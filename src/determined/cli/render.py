"""Output for people and scripts: tables, JSON, YAML, CSV; colours on a terminal, none in a pipe. Only here is print.

Everything that is printed goes through `terminal`: it may come from other users.
"""

import csv
import json
import os
import select
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import IO, Any

import msgspec

from determined.cli import environment
from determined.cli.grammar import Arg, OneOf, arg, one_of
from determined.cli.terminal import cell, harmless, json_text, log_text, width
from determined.wire.codec import plain

_WORTH_A_BAR = 1024 * 1024  # bytes; less is over before a bar is read

JSON = arg("--json", action="store_true", help="print as JSON")
YAML = arg("--yaml", action="store_true", help="print as YAML")
CSV = arg("--csv", action="store_true", help="print as CSV")
FORMATS: OneOf = one_of(JSON, YAML, CSV)


def pages(size: int = 200) -> tuple[Arg, ...]:
    """Return the flags of a listing that is read page by page."""
    return (
        arg("--limit", type=int, default=size, help=f"most rows of one page (default: {size})"),
        arg("--offset", type=int, default=0, help="rows to skip"),
        arg("--pages", choices=["1", "all"], default="all", help="one page, or all (default)"),
    )


def line(text: str = "", *, style: str | None = None, file: IO[str] | None = None) -> None:
    """Print one line; `style` (green, yellow, red, blue, bold, dim) only where a person watches."""
    out = file or sys.stdout
    codes = {"green": "32", "yellow": "33", "red": "31", "blue": "34", "bold": "1", "dim": "2"}
    safe = harmless(text)
    painted = f"\x1b[{codes[style]}m{safe}\x1b[0m" if style and _is_coloured(out) else safe
    print(painted, file=out, flush=True)


def warn(text: str) -> None:
    line(text, style="yellow", file=sys.stderr)


def fail(text: str) -> None:
    line(text, style="red", file=sys.stderr)


def raw(text: str, *, file: IO[str] | None = None) -> None:
    """Print text that carries its own line ends."""
    out = file or sys.stdout
    out.write(harmless(text))
    out.flush()


def pass_on(descriptor: int, chunk: bytes) -> bool:
    """Write output of a program that is tracked, as it is; False when nobody reads it any more."""
    while chunk:
        try:
            chunk = chunk[os.write(descriptor, chunk) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
        except BrokenPipeError:
            return False
        except OSError:
            return True  # a full disk, a terminal that is gone: the program goes on, and its lines are kept
    return True


def log(text: str) -> None:
    """Print a log line with its own line end; its colours are kept on a terminal."""
    sys.stdout.write(log_text(text, colours=_is_coloured(sys.stdout)))
    sys.stdout.flush()


def json_line(text: str) -> None:
    """Print one JSON object on a line of its own."""
    sys.stdout.write(json_text(text) + "\n")
    sys.stdout.flush()


def _is_coloured(out: IO[str]) -> bool:
    return out.isatty() and not environment.no_color()


def rows(headers: Sequence[str], values: Iterable[Sequence[Any]], *, args: Any = None, data: Any = None) -> None:
    """Print a listing: a table, or what `--csv/--json/--yaml` in `args` asks for. `data`: the JSON form (else rows)."""
    listed = [list(v) for v in values]
    if getattr(args, "csv", False):
        writer = csv.writer(sys.stdout)
        writer.writerow(headers)
        writer.writerows([[harmless(text_of(v)) for v in row] for row in listed])
        return
    if getattr(args, "json", False) or getattr(args, "yaml", False):
        records = data if data is not None else [dict(zip(headers, row, strict=True)) for row in listed]
        structured(records, args=args)
        return
    table(headers, listed)


def structured(data: Any, *, args: Any = None) -> None:
    """JSON (indent 2, sorted keys) or, with `--yaml`, YAML."""
    builtins = plain(msgspec.to_builtins(data))  # JSON knows no NaN: a bare one would be refused by whoever reads it
    if getattr(args, "yaml", False):
        from determined.schema.text import dump_yaml

        raw(dump_yaml(builtins, sort_keys=True))
        return
    text = json_text(json.dumps(builtins, indent=2, sort_keys=True, ensure_ascii=False))
    if sys.stdout.isatty() and environment.colorize_json():
        from rich.console import Console
        from rich.highlighter import JSONHighlighter

        Console().print(JSONHighlighter()(text), soft_wrap=True)  # print_json would undo the escapes
        return
    print(text)


def table(headers: Sequence[str], listed: Sequence[Sequence[Any]]) -> None:
    """Print columns with a rule under the header; the widths follow the content."""
    cells = [[cell(text_of(v)) for v in row] for row in listed]
    widths = [max([len(h), *(width(row[i]) for row in cells)]) for i, h in enumerate(headers)]
    numeric = [bool(listed) and all(_is_number(row[i]) for row in listed) for i in range(len(headers))]
    print(" " + " | ".join(h.ljust(w) for h, w in zip(headers, widths, strict=True)).rstrip())
    print("-+-".join("-" * (w + (i == 0)) for i, w in enumerate(widths)) + "-")
    for row in cells:
        padded = (_padded(c, w, right=n) for c, w, n in zip(row, widths, numeric, strict=True))
        print(" " + " | ".join(padded).rstrip())


def _padded(text: str, columns: int, *, right: bool) -> str:
    space = " " * (columns - width(text))
    return space + text if right else text + space


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def text_of(value: Any) -> str:
    if value is None:
        return "N/A"
    if isinstance(value, dict | list):
        return json.dumps(msgspec.to_builtins(value), sort_keys=True, ensure_ascii=False)
    return str(value)


def time_of(value: str | None) -> str:
    """Return an RFC 3339 time as `YYYY-MM-DD HH:MM:SS+0000`."""
    if not value:
        return "N/A"
    return datetime.fromisoformat(value).strftime("%Y-%m-%d %H:%M:%S%z")


def percent(value: float | None) -> str:
    return "N/A" if value is None else f"{value * 100:.1f}%"


def progress_of(state: Any, value: float | None) -> str:
    """Return a share of the work done; N/A while something runs and reports none, which 0.0% would hide."""
    is_over = state_of(state) in {"COMPLETED", "CANCELED", "ERROR"}
    return percent(value) if value or is_over else "N/A"


def size_of(count: float | str | None) -> str:
    if count is None:
        return "N/A"
    number = float(count)
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if number < 1024 or unit == "TB":
            break
        number /= 1024
    return f"{number:.0f}{unit}" if unit == "B" else f"{number:.1f}{unit}"


def state_of(value: Any) -> str:
    """`STATE_PAUSED` as people say it."""
    return "N/A" if value is None else str(value).removeprefix("STATE_")


def ask(question: str) -> bool:
    """Ask for a yes or no on the terminal; no terminal means no."""
    if not sys.stdin.isatty():
        fail(f"{question} There is no terminal to ask; pass --yes to go on")
        return False
    try:
        answer = input(f"{harmless(question)} [y/n]: ")
    except EOFError:  # Ctrl-D
        line()
        return False
    return answer.strip().lower() in {"y", "yes"}


class Waiting:
    """A moving sign beside a text while something is waited for: on a terminal's stderr only."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._progress: str | None = None
        self._status: Any = None

    def __enter__(self) -> "Waiting":
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status(self._text)
            self._status.start()
        else:
            line(self._text, file=sys.stderr)
        return self

    def say(self, text: str | None) -> None:
        """Print a line that stays, above the sign."""
        if text is None:
            return
        if self._status is not None:
            self._status.console.print(harmless(text), style="yellow", markup=False, highlight=False, soft_wrap=True)
        else:
            line(text, file=sys.stderr)

    def progress(self, text: str | None) -> None:
        """Show how far it is, beside the sign; as a line of its own where there is no terminal."""
        if not text or text == self._progress:
            return
        self._progress = text
        if self._status is None:
            line(text, file=sys.stderr)
            return
        from rich.markup import escape

        room = max(self._status.console.width - 4, 20)  # a second line would jump up and down
        self._status.update(escape(f"{self._text}: {harmless(text)}"[:room]))

    def stop(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __exit__(self, *_: object) -> None:
        self.stop()


class Progress:
    """A bar for long transfers: drawn on a terminal's stderr only, and only when there is enough to see."""

    def __init__(self, description: str, total: int) -> None:
        self._description = description
        self.total = total
        self._bar: Any = None
        self._task: Any = None

    @property
    def shown(self) -> bool:
        return self._bar is not None

    def __enter__(self) -> "Progress":
        if not sys.stderr.isatty() or self.total < _WORTH_A_BAR:
            return self
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self._bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self._description, total=self.total)
        return self

    def advance(self, amount: int) -> None:
        if self._bar is not None:
            self._bar.advance(self._task, amount)

    def at(self, amount: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=amount)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


class Steps:
    """A bar of things that are counted, with their rate and the time left: on a terminal's stderr only."""

    def __init__(self, things: str, total: int) -> None:
        self._things, self._total = things, total
        self._bar: Any = None
        self._task: Any = None

    @property
    def shown(self) -> bool:
        return self._bar is not None

    def __enter__(self) -> "Steps":
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            rate = TextColumn("{task.fields[rate]}")
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate)
            self._bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._things, total=self._total, rate="")
        return self

    def advance(self, amount: float = 1) -> None:
        """Count one more, or a part of one."""
        if self._bar is not None:
            speed = self._bar.tasks[0].speed
            self._bar.update(self._task, advance=amount, rate=f"{speed:,.1f}/s" if speed else "")

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
