"""`python -m determined.master import upstream`: arguments, events as JSON lines on standard output, exit status.

Status: 0 done, 1 failed or not verified, 2 the command line is wrong, 3 the database cannot be used.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from determined._json import JsonObject
from determined.errors import DeterminedError
from determined.master.config import MasterConfig
from determined.master.importing import removal
from determined.master.importing.options import ImportOptions, parse_selection
from determined.master.importing.target import Target
from determined.master.importing.upstream import leftovers, rules
from determined.master.importing.upstream.run import UpstreamImport
from determined.master.importing.upstream.source import Source

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
    """Tell whoever started us, one JSON object per line."""
    sys.stdout.buffer.write(msgspec.json.encode(event) + b"\n")
    sys.stdout.buffer.flush()


def _abort(target: Target) -> int:
    removed = removal.remove_unfinished(target)
    emit({"event": "aborted", "source": removed.source, "started_at": removed.started_at})
    return 0


def _import(config: MasterConfig, target: Target, options: argparse.Namespace) -> int:
    wanted = ImportOptions(selection=parse_selection(options.only, options.since), logs=options.logs)
    # by standard input where it may hold a password: arguments can be read by every user of the machine
    source = Source(sys.stdin.readline().strip() if options.source == "-" else options.source)
    try:
        report = UpstreamImport(source, target, wanted, config, emit).run(dry_run=options.dry_run)
        directory = Path(options.report) if options.report else _report_directory(target)
        files = report.write(directory, rules.RULES)
        if not options.dry_run:
            files += leftovers.write(source, directory / "leftover")
    finally:
        source.close()
    emit({"event": "done", "problems": report.problems, "files": [str(path) for path in files]})
    return EXIT_FAILED if report.problems else 0


def _report_directory(target: Target) -> Path:
    return target.report_directory / datetime.now(UTC).strftime("upstream-%Y%m%d-%H%M%S")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m determined.master import", description="Import into this cluster.")
    parser.add_argument("kind", choices=["upstream"])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--source", metavar="URL")
    what.add_argument("--abort", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="NOUN=...")
    parser.add_argument("--since", metavar="DATE")
    parser.add_argument("--no-logs", dest="logs", action="store_false")
    parser.add_argument("--report", metavar="DIR")
    return parser
