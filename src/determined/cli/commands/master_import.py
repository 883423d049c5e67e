"""det master import: bring the data of another system into a cluster of this machine, while its master is stopped."""

import argparse
import shlex
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from determined._json import JsonObject
from determined.cli import render
from determined.cli.grammar import Arg, Command, UsageError, arg, command, group
from determined.errors import FailedPrecondition
from determined.wire.import_kinds import KINDS, ImportKind, Option

if TYPE_CHECKING:
    from determined.deploy import importing


def run_import(kind: ImportKind, args: argparse.Namespace) -> int:
    from determined.deploy import importing

    sources = [source for source in (args.source, getattr(args, "file", None)) if source]
    if args.abort == bool(sources) or len(sources) > 1:
        raise UsageError(f"give --source {kind.source_metavar}, or --abort to remove an import that was not finished")
    problems: list[str] = []
    with _Teller() as teller:
        for event in importing.run(_place(args), sources[0] if sources else None, _arguments(kind, args)):
            problems = event.get("problems", problems)
            if args.json:
                render.json_line(msgspec.json.encode(event).decode())
            else:
                teller.say(event)
    if not (problems or args.dry_run or args.abort or args.json):
        _say_next(kind, args)
    return 1 if problems else 0


def _say_next(kind: ImportKind, args: argparse.Namespace) -> None:
    """Say where the data is and how to start a master on it."""
    place = f"In workspace {args.workspace}. " if getattr(args, "workspace", None) else ""
    start = "det master start"
    if args.config_file or args.data_dir or args.db_url:
        flags = (("--config-file", args.config_file), ("--data-dir", args.data_dir))
        given = [f"{flag} {shlex.quote(value)}" for flag, value in flags if value]
        given += ["--db-url ..."] if args.db_url else []  # it may have a password
        start = " ".join(["python -m determined.master", *given])
    elif args.cluster_name:
        start = f"det deploy local cluster-up --cluster-name {shlex.quote(args.cluster_name)} (with its options)"
    render.line(f"{place}Start the master: {start}")


def _place(args: argparse.Namespace) -> "importing.Place":
    from determined.deploy import embedded, importing, local

    if args.config_file or args.data_dir or args.db_url:
        return importing.Place(args.config_file, args.data_dir, args.db_url)
    process = local.existing(args.cluster_name) if args.cluster_name else embedded.process()
    if process.find() is not None:
        stop = (
            f"det deploy local cluster-down --cluster-name {args.cluster_name}"
            if args.cluster_name
            else "det master stop"
        )
        raise FailedPrecondition(f"your master is running; stop it first: {stop} (a dry run needs that, too)")
    process.prepare()
    return importing.place_of(process.directory)


def _arguments(kind: ImportKind, args: argparse.Namespace) -> list[str]:
    if args.abort:
        return [kind.name, "--abort"]
    given = [text for option in kind.options for text in _given(option, getattr(args, option.name))]
    report = [f"--report={Path(args.report).absolute()}"] if args.report else []
    return [kind.name, *(["--dry-run"] if args.dry_run else []), *given, *report]


def _given(option: Option, value: str | bool | list[str] | None) -> list[str]:
    if isinstance(value, list):
        return [f"{option.flag}={one}" for one in value]
    if isinstance(value, bool):
        return [option.flag] if value else []
    return [f"{option.flag}={value}"] if value else []


def _say_survey(event: JsonObject) -> None:
    of_cluster = f": cluster {event['cluster_id']}, schema {event['schema']}" if "cluster_id" in event else ""
    render.line(f"{event['source']}{of_cluster}")
    render.rows(["To take", "Rows"], [(step, n) for step, n in event["counts"].items()])
    if "estimated_seconds" in event:
        seconds = timedelta(seconds=round(event["estimated_seconds"]))
        render.line(f"About {seconds} and {event['estimated_bytes'] / 1e6:.0f} MB")
    for note in event["notes"].values():
        render.warn(f"{note['text']} {note['count']} in all, for example: {note['examples'][0]}")
    if event["dry_run"]:
        render.line("Dry run: nothing was written")


def _say_progress(event: JsonObject) -> None:
    rate, left = event["rows_per_second"], event["seconds_left"]
    rest = f", {timedelta(seconds=round(left))} left" if left else ""
    pace = "" if rate is None else f" ({rate:,.0f}/s{rest})"
    render.line(f"{event['step']}: {event['rows']:,} of {event['total']:,}{pace}", style="dim")


def _say_verified(event: JsonObject) -> None:
    for problem in event["problems"]:
        render.fail(problem)
    if not event["problems"]:
        render.line("Verified: every count and every sampled value agrees", style="green")


def _say_done(event: JsonObject) -> None:
    for path in event["files"]:
        render.line(f"Wrote {path}")
    if event["problems"]:
        render.fail("The verification failed, so the import stays unfinished; see the report, repeat it or --abort it")


def _say_aborted(event: JsonObject) -> None:
    render.line(f"Removed what the import from {event['source']} had stored")


_SAID: dict[str, Callable[[JsonObject], None]] = {
    "survey": _say_survey,
    "progress": _say_progress,
    "verified": _say_verified,
    "done": _say_done,
    "aborted": _say_aborted,
}


class _Teller:
    """Words for events. The step that goes on has a bar on a terminal, which a line replaces when it has ended."""

    def __init__(self) -> None:
        self._bar: render.Steps | None = None
        self._step = ""
        self._rows = 0

    def __enter__(self) -> "_Teller":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def say(self, event: JsonObject) -> None:
        if event["event"] != "progress" or not self._shows(event):
            self._close()
            _SAID[event["event"]](event)

    def _shows(self, event: JsonObject) -> bool:
        """Move the bar of a step; False where there is none, and when the step has ended."""
        if self._bar is None or event["step"] != self._step:
            self._close()
            self._bar = render.Steps(event["step"], event["total"])
            self._bar.__enter__()
            self._step = event["step"]
        self._bar.advance(event["rows"] - self._rows)
        self._rows = event["rows"]
        return self._bar.shown and event["rows"] < event["total"]

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.__exit__()
        self._bar, self._rows = None, 0


def _command(kind: ImportKind) -> Command:
    return command(
        kind.name,
        kind.help,
        partial(run_import, kind),
        *([arg("file", nargs="?", metavar=kind.source_metavar, help=kind.source_help)] if kind.is_named else []),
        arg("--source", metavar=kind.source_metavar, help=kind.source_help),
        arg("--dry-run", action="store_true", help="say what would be taken, changed and left out; write nothing"),
        *(_argument(option) for option in kind.options),
        arg("--report", metavar="DIR", help="where the report goes (default: imports/ in the data directory)"),
        arg("--abort", action="store_true", help="remove an import that was not finished"),
        arg("--cluster-name", metavar="NAME", help="a cluster of det deploy local (default: the embedded master)"),
        arg("--config-file", metavar="FILE", help="of a master that you start yourself"),
        arg("--data-dir", metavar="DIR", help="of a master that you start yourself"),
        arg("--db-url", metavar="URL", help="database of a master that you start yourself"),
        render.JSON,
        epilog=kind.note,
    )


def _argument(option: Option) -> Arg:
    if option.metavar is None:
        return arg(option.flag, action="store_true", help=option.help)
    if option.repeated:
        return arg(option.flag, action="append", default=[], metavar=option.metavar, help=option.help)
    return arg(option.flag, metavar=option.metavar, help=option.help)


TREE = group("import", "bring in the data of another system", *(_command(kind) for kind in KINDS.values()))
