"""`python -m determined.master import KIND`: arguments, events as JSON lines on standard output, exit status.

Status: 0 done, 1 failed or not verified, 2 the command line is wrong, 3 the database cannot be used.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from determined._json import JsonObject
from determined.errors import DeterminedError
from determined.master.config import MasterConfig
from determined.master.importing import registry, removal
from determined.master.importing.clean import clean_object
from determined.master.importing.registry import Request
from determined.master.importing.target import Target
from determined.wire.import_kinds import KINDS, ImportKind

EXIT_FAILED, EXIT_STATE = 1, 3


def main(config: MasterConfig, argv: Sequence[str]) -> int:
    """Run an import with the arguments after `import`."""
    options = _parser().parse_args(argv)
    try:
        target = Target(config)
    except (DeterminedError, OSError) as e:
        emit({"event": "error", "message": str(e)})
        return EXIT_STATE
    try:
        return _abort(target) if options.abort else _import(config, target, options)
    except DeterminedError as e:
        emit({"event": "error", "message": e.message})
        return EXIT_FAILED
    finally:
        target.close()


def emit(event: JsonObject) -> None:
    """Tell whoever started us, one JSON object per line; end where nobody listens any more."""
    try:
        sys.stdout.buffer.write(msgspec.json.encode(clean_object(event)) + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the end of Python would flush once more
        raise SystemExit(EXIT_FAILED) from None


def _abort(target: Target) -> int:
    removed = removal.remove_unfinished(target)
    emit({"event": "aborted", "source": removed.source, "started_at": removed.started_at})
    return 0


def _import(config: MasterConfig, target: Target, options: argparse.Namespace) -> int:
    # by standard input where it may hold a password: arguments can be read by every user of the machine
    source = os.fsdecode(sys.stdin.buffer.readline()).strip() if options.source == "-" else options.source
    directory = Path(options.report) if options.report else _report_directory(target, options.kind)
    request = Request(source, target, config, options, options.dry_run, directory, emit)
    finished = registry.entry(options.kind).run(request)
    files = [*finished.report.write(directory, finished.rules, dry_run=options.dry_run), *finished.files]
    problems = finished.report.problems
    emit({"event": "done", "problems": problems, "files": [str(path) for path in files]})
    return EXIT_FAILED if problems else 0


def _report_directory(target: Target, kind: str) -> Path:
    return target.report_directory / datetime.now(UTC).strftime(f"{kind}-%Y%m%d-%H%M%S")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m determined.master import", description="Import into this cluster.")
    of_kind = parser.add_subparsers(dest="kind", required=True)
    for kind in KINDS.values():
        _add_arguments(of_kind.add_parser(kind.name), kind)
    return parser


def _add_arguments(parser: argparse.ArgumentParser, kind: ImportKind) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--source", metavar=kind.source_metavar)
    what.add_argument("--abort", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--report", metavar="DIR")
    for option in kind.options:
        if option.metavar is None:
            parser.add_argument(option.flag, action="store_true")
        elif option.repeated:
            parser.add_argument(option.flag, action="append", default=[], metavar=option.metavar)
        else:
            parser.add_argument(option.flag, metavar=option.metavar)
