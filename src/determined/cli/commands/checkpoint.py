"""det checkpoint: describe, download, delete, remove files."""

import argparse
from pathlib import Path
from typing import Any

from determined.api import checkpoint
from determined.cli import downloading, render
from determined.cli.connection import connect
from determined.cli.grammar import arg, command, group, one_of


def describe(args: argparse.Namespace) -> None:
    found = checkpoint.get(connect(args), args.uuid)
    if args.json or args.yaml:
        render.structured(found, args=args)
        return
    training = found.training
    rows: list[list[Any]] = [
        ["Experiment ID", training.experiment_id if training else None],
        ["Trial ID", training.trial_id if training else None],
        ["# of Batches", (found.metadata or {}).get("steps_completed")],
        ["Reported", render.time_of(found.report_time)],
        ["UUID", found.uuid],
        ["State", render.state_of(found.state)],
        ["Validation Metric", training.searcher_metric if training else None],
        ["Resources", found.resources],
        ["Metadata", found.metadata],
    ]
    render.table(["Field", "Value"], rows)


def download(args: argparse.Namespace) -> None:
    session = connect(args)
    found = checkpoint.get(session, args.uuid)
    target = Path(args.output_dir or f"checkpoints/{found.uuid}")
    downloading.fetch(session, found, target, args, mode=args.mode)


def delete(args: argparse.Namespace) -> int | None:
    uuids = [u for u in args.uuids.split(",") if u]
    if not args.yes and not render.ask(f"Delete {len(uuids)} checkpoint(s)?"):
        return 1
    checkpoint.delete(connect(args), uuids)
    render.line(f"Deletion of {len(uuids)} checkpoint(s) is in progress")
    return None


def remove(args: argparse.Namespace) -> int | None:
    uuids = [u for u in args.uuids.split(",") if u]
    if not args.yes and not render.ask(f"Remove files matching {args.glob} from {len(uuids)} checkpoint(s)?"):
        return 1
    checkpoint.remove_files(connect(args), uuids, args.glob)
    render.line(f"Removal of files from {len(uuids)} checkpoint(s) is in progress")
    return None


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
        arg("uuids", help="comma-separated"),
        arg("--yes", action="store_true", help="do not ask"),
    ),
    command(
        "rm",
        "remove files of checkpoints",
        remove,
        arg("uuids", help="comma-separated"),
        arg("--glob", action="append", required=True, help="files to remove"),
        arg("--yes", action="store_true", help="do not ask"),
    ),
)
