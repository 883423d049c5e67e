"""det checkpoint: describe, download, delete, remove files."""

import argparse
from pathlib import Path
from typing import Any

from determined.api import checkpoint
from determined.cli import downloading, render
from determined.cli.connection import connect
from determined.cli.grammar import arg, command, group, one_of


def describe(args: argparse.Namespace) -> None:
    row = checkpoint.get(connect(args), args.uuid)
    if args.json or args.yaml:
        render.structured(row, args=args)
        return
    training = row.training
    rows: list[list[Any]] = [
        ["Experiment ID", training.experiment_id if training else None],
        ["Trial ID", training.trial_id if training else None],
        ["# of Batches", (row.metadata or {}).get("steps_completed")],
        ["Reported", render.time_of(row.report_time)],
        ["UUID", row.uuid],
        ["State", render.state_of(row.state)],
        ["Validation Metric", training.searcher_metric if training else None],
        ["Resources", row.resources],
        ["Metadata", row.metadata],
    ]
    render.table(["Field", "Value"], rows)


def download(args: argparse.Namespace) -> None:
    session = connect(args)
    row = checkpoint.get(session, args.uuid)
    target = Path(args.output_dir or f"checkpoints/{row.uuid}")
    downloading.fetch(session, row, target, args, mode=args.mode)


def delete(args: argparse.Namespace) -> int | None:
    if not args.yes and not render.ask(f"Delete {len(args.uuids)} checkpoint(s)?"):
        return 1
    checkpoint.delete(connect(args), args.uuids)
    render.line(f"Deletion of {len(args.uuids)} checkpoint(s) is in progress")
    return None


def remove(args: argparse.Namespace) -> int | None:
    if not args.yes and not render.ask(f"Remove files matching {args.glob} from {len(args.uuids)} checkpoint(s)?"):
        return 1
    checkpoint.remove_files(connect(args), args.uuids, args.glob)
    render.line(f"Removal of files from {len(args.uuids)} checkpoint(s) is in progress")
    return None


def _uuids(text: str) -> list[str]:
    uuids = [part for part in text.split(",") if part]
    if not uuids:
        raise argparse.ArgumentTypeError(f"{text!r} names no checkpoint; det e list-checkpoints shows them")
    return uuids


TREE = group(
    "checkpoint c",
    "manage checkpoints",
    command(
        "describe",
        "describe checkpoint",
        describe,
        arg("uuid"),
        one_of(render.JSON, render.YAML),
    ),
    command(
        "download",
        "download checkpoint",
        download,
        arg("uuid"),
        arg("-o", "--output-dir", help="where to put it"),
        arg("-q", "--quiet", action="store_true", help="print the path only"),
        arg("--mode", choices=["direct", "master", "auto"], default="auto", help="from storage, or through the master"),
    ),
    command(
        "delete",
        "delete checkpoints",
        delete,
        arg("uuids", type=_uuids, help="comma-separated"),
        arg("--yes", action="store_true", help="do not ask"),
    ),
    command(
        "rm",
        "remove files of checkpoints",
        remove,
        arg("uuids", type=_uuids, help="comma-separated"),
        arg("--glob", action="append", required=True, help="files to remove"),
        arg("--yes", action="store_true", help="do not ask"),
    ),
)
