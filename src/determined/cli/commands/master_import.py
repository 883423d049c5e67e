"""det master import: bring the data of another system into a cluster of this machine, while its master is stopped."""

import argparse
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from determined._json import JsonObject
from determined.cli import render
from determined.cli.grammar import UsageError, arg, command, group

if TYPE_CHECKING:
    from determined.deploy import importing

_NOTE = """\
Stop upstream's master first, or name a restored dump or a replica. The source is only read; a role with SELECT is
enough. A password may come from PGPASSWORD or ~/.pgpass instead of the URL. An import that was interrupted goes on
when it is run again; a finished one takes only what is new.

  det master stop
  det master import upstream --source postgresql://determined@db/determined --dry-run
  det master import upstream --source postgresql://determined@db/determined
  det master start
"""


def upstream(args: argparse.Namespace) -> int:
    from determined.deploy import importing

    if args.abort == bool(args.source):
        raise UsageError("give --source URL, or --abort to remove an import that was not finished")
    problems: list[str] = []
    for event in importing.run(_place(args), args.source or None, _arguments(args)):
        problems = event.get("problems", problems)
        if args.json:
            render.json_line(msgspec.json.encode(event).decode())
        else:
            _SAID[event["event"]](event)
    return 1 if problems else 0


def _place(args: argparse.Namespace) -> "importing.Place":
    from determined.deploy import embedded, importing, local

    if args.config_file or args.data_dir or args.db_url:
        return importing.Place(args.config_file, args.data_dir, args.db_url)
    process = local.process(args.cluster_name) if args.cluster_name else embedded.process()
    return importing.place_of(process.directory)


def _arguments(args: argparse.Namespace) -> list[str]:
    if args.abort:
        return ["upstream", "--abort"]
    flags = {"--dry-run": args.dry_run, "--no-logs": args.no_logs}
    values = [("--only", value) for value in args.only] + [
        ("--since", args.since),
        ("--report", _absolute(args.report)),
    ]
    given = [f"{flag}={value}" for flag, value in values if value]
    return ["upstream", *(flag for flag, is_set in flags.items() if is_set), *given]


def _absolute(path: str | None) -> str | None:
    return str(Path(path).absolute()) if path else None


def _say_survey(event: JsonObject) -> None:
    render.line(f"{event['source']}: cluster {event['cluster_id']}, schema {event['schema']}")
    render.rows(["To take", "Rows"], [(step, n) for step, n in event["counts"].items()])
    seconds = timedelta(seconds=round(event["estimated_seconds"]))
    render.line(f"About {seconds} and {event['estimated_bytes'] / 1e6:.0f} MB")
    for name, note in event["notes"].items():
        render.warn(f"{name}: {note['count']}, for example {note['examples'][0]}")
    if event["dry_run"]:
        render.line("Dry run: nothing was written")


def _say_progress(event: JsonObject) -> None:
    left = event["seconds_left"]
    rest = f", {timedelta(seconds=round(left))} left" if left else ""
    render.line(
        f"{event['step']}: {event['rows']:,} of {event['total']:,} ({event['rows_per_second']:,.0f}/s{rest})",
        style="dim",
    )


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

TREE = group(
    "import",
    "bring in the data of another system",
    command(
        "upstream",
        "import the database of an upstream master",
        upstream,
        arg("--source", metavar="URL", help="postgresql://... of upstream's database; it is only read"),
        arg("--dry-run", action="store_true", help="say what would be taken, changed and left out; write nothing"),
        arg(
            "--only",
            action="append",
            default=[],
            metavar="NOUN=...",
            help="workspaces=NAME,NAME or experiments=1-500,600; may be repeated",
        ),
        arg("--since", metavar="DATE", help="only experiments that started on this day or later"),
        arg("--no-logs", action="store_true", help="leave task logs out"),
        arg("--report", metavar="DIR", help="where the report goes (default: imports/ in the data directory)"),
        arg("--abort", action="store_true", help="remove an import that was not finished"),
        arg("--cluster-name", metavar="NAME", help="a cluster of det deploy local (default: the embedded master)"),
        arg("--config-file", metavar="FILE", help="of a master that you start yourself"),
        arg("--data-dir", metavar="DIR", help="of a master that you start yourself"),
        arg("--db-url", metavar="URL", help="database of a master that you start yourself"),
        render.JSON,
        epilog=_NOTE,
    ),
)
