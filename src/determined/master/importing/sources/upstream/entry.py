"""Entry of `det master import upstream`."""

from determined.master.importing.options import ImportOptions, parse_count, parse_selection
from determined.master.importing.registry import Finished, Request
from determined.master.importing.sources.upstream import leftovers, rules
from determined.master.importing.sources.upstream.run import UpstreamImport
from determined.master.importing.sources.upstream.source import Source


def run(request: Request) -> Finished:
    """Import the database of an upstream master; list what has no place here."""
    given = request.options
    selection, check_files = parse_selection(given.only, given.since), parse_count(given.check_files, "--check-files")
    options = ImportOptions(selection, logs=not given.no_logs, profiling=given.with_profiling, check_files=check_files)
    source = Source(request.source)
    try:
        importing = UpstreamImport(source, request.target, options, request.config, request.emit)
        report = importing.run(dry_run=request.dry_run)
        files = [] if request.dry_run else leftovers.write(source, request.directory / "leftover")
    finally:
        source.close()
    return Finished(report, rules.RULES, files)
