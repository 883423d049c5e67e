"""det experiment export: experiments as one file, or in the tracking server of MLflow."""

import argparse
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from determined._json import JsonObject
from determined.bundle.layout import ENDINGS
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import UsageError, arg, command, one_of
from determined.errors import FailedPrecondition

if TYPE_CHECKING:
    from determined.api.session import Session
    from determined.cli.exporting.selection import Chosen

_EPILOG = """\
A bundle has configs, code, trials, metrics, logs and the list of checkpoints; det master import bundle reads it.
Tables in it are Parquet where pyarrow is installed (pip install 'redetermined[parquet]'), else JSON lines.

  det experiment export 1 2 3 -o three.tar
  det experiment export --project Research/vision -o vision.tar --with-checkpoints
  det experiment export --all --to-mlflow http://127.0.0.1:5000
"""


def export(args: argparse.Namespace) -> int:
    from determined.cli.exporting import selection
    from determined.cli.exporting.left_out import left_out

    if args.to_mlflow and (args.with_checkpoints or args.tables or args.force):
        raise UsageError("--with-checkpoints, --tables and --force are for a file; --to-mlflow takes none of them")
    session = connect(args)
    chosen = selection.choose(session, args.experiment_ids, args.project, everything=args.all)
    begun = time.monotonic()
    summary = _to_mlflow(session, chosen, args) if args.to_mlflow else _to_file(session, chosen, args)
    if args.all and not args.to_mlflow:
        summary["warnings"] += left_out(session)
    summary["seconds"] = round(time.monotonic() - begun, 3)
    if args.json:
        render.structured(summary, args=args)
    else:
        _say(summary)
    for warning in summary["warnings"]:
        render.warn(f"Warning: {warning}")
    return 0


def _to_file(session: "Session", chosen: "Chosen", args: argparse.Namespace) -> JsonObject:
    from determined.cli.exporting import bundle

    path = Path(args.output)
    if not path.parent.is_dir():
        raise FailedPrecondition(f"there is no directory {path.parent}; make it, or name a file elsewhere")
    with render.Steps("trials", chosen.trials) as steps:
        try:
            done = bundle.export(
                session,
                chosen.ids,
                path,
                form=args.tables,
                with_checkpoints=args.with_checkpoints,
                replace=args.force,
                progress=steps.advance,
            )
        except ImportError as e:
            raise FailedPrecondition(str(e)) from e
    return {"to": str(path), **done.to_json()}


def _to_mlflow(session: "Session", chosen: "Chosen", args: argparse.Namespace) -> JsonObject:
    from determined.cli.exporting import mlflow

    with render.Steps("trials", chosen.trials) as steps:
        done = mlflow.export(session, chosen.ids, args.to_mlflow, steps.advance)
    return done.to_json()


def _say(summary: JsonObject) -> None:
    counts = ", ".join(_counted(n, name.replace("_", " ")) for name, n in summary["counts"].items() if n)
    size = f" ({render.size_of(summary['size'])})" if "size" in summary else ""
    render.line(f"Exported {counts} to {summary['to']}{size}")


def _counted(number: int, things: str) -> str:
    """Return `1 trial` or `2 trials` of `trials`, `1 value left out` of `values left out`."""
    return "1 " + re.sub(r"s\b", "", things, count=1) if number == 1 else f"{number:,} {things}"


COMMAND = command(
    "export",
    "export experiments to a file or to MLflow",
    export,
    arg("experiment_ids", completes="experiment", nargs="*", type=int, metavar="EXPERIMENT_ID", help="experiment IDs"),
    one_of(
        arg("-o", "--output", metavar="FILE", help="write a bundle"),
        arg("--to-mlflow", metavar="URI", help="write runs into this MLflow tracking server"),
        required=True,
    ),
    arg("--project", metavar="WORKSPACE/PROJECT", help="all experiments of a project, by names or ID"),
    arg("--all", action="store_true", help="all experiments that you see"),
    arg("--with-checkpoints", action="store_true", help="also the files of checkpoints"),
    arg("--tables", choices=list(ENDINGS), help="form of the tables (default: parquet where pyarrow is installed)"),
    arg("--force", action="store_true", help="replace the file if it exists"),
    render.JSON,
    epilog=_EPILOG,
)
