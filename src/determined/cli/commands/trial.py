"""det trial: describe, logs, stacks, kill, download."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from determined.api import checkpoint, experiment, trial
from determined.api.session import Session
from determined.cli import (
    downloading,
    log_follow,
    log_retention,
    outcome,
    render,
    searcher_metric,
    shell_connection,
    ssh_process,
)
from determined.cli.commands.experiment_describe import SORTING, best_first
from determined.cli.connection import connect
from determined.cli.grammar import UsageError, arg, command, group, one_of
from determined.cli.shell_connection import Master
from determined.errors import NotFound
from determined.wire.log import LogQuery
from determined.wire.stacks import RequestStacksResponse, is_begin, is_end
from determined.wire.trial import ListTrialWorkloads

_ID = arg("trial_id", type=int, completes="trial", help="trial ID")
_STACK_SECONDS = 20.0
_LOOK_SECONDS = 0.3


def describe(args: argparse.Namespace) -> None:
    session = connect(args)
    row = trial.get(session, args.trial_id)
    params = ListTrialWorkloads(limit=args.limit, offset=args.offset)
    work = list(trial.workloads(session, args.trial_id, params, all_pages=args.pages == "all"))
    if args.json:
        render.structured({"trial": row, "workloads": work})
        return
    headers = [
        "Trial ID",
        "Experiment ID",
        "State",
        "Restarts",
        "Started",
        "Ended",
        "# of Batches",
        "H-Params",
        "Label",
        *searcher_metric.COLUMNS,
    ]
    metric = searcher_metric.name_of(experiment.get(session, row.experiment_id).config)
    cells = [row.id, row.experiment_id, render.state_of(row.state), row.restarts]
    cells += [render.time_of(row.start_time), render.time_of(row.end_time)]
    cells += [row.total_batches_processed, row.hparams, row.log_policy_matched]
    render.rows(headers, [[*cells, *searcher_metric.cells(row, metric)]], args=args)
    if row.stop_reason is not None and not args.csv:
        render.line(f"\n{row.stop_reason[:1].upper()}{row.stop_reason[1:]}.")
    if render.state_of(row.state) == "ERROR" and not args.csv:
        render.line("\n{}\n{}".format(*outcome.trial_failure_block(session, row)))
    if args.metrics_summary:
        render.line("\nMetrics", style="bold")
        render.structured(row.summary_metrics)
    if not args.csv:
        render.line("\nWorkloads", style="bold")
    rows = []
    for w in work:
        load = w.validation or w.training
        kind = "checkpoint" if w.checkpoint else "validation" if w.validation else "training"
        batches = w.checkpoint.total_batches if w.checkpoint else load.total_batches if load else None
        metrics = (load.metrics.avg_metrics or {}) if load else {}
        if not args.metrics:
            metrics = searcher_metric.shortened(metrics, metric)
        rows.append([batches, kind, w.checkpoint.uuid if w.checkpoint else "", metrics or ""])
    render.rows(["# of Batches", "Kind", "Checkpoint", "Metrics"], rows, args=args)


def kill(args: argparse.Namespace) -> None:
    trial.kill(connect(args), args.trial_id)
    render.line(f"Killed trial {args.trial_id}")


def stacks(args: argparse.Namespace) -> int:
    session = connect(args)
    asked = trial.request_stacks(session, args.trial_id)
    deadline = time.monotonic() + _STACK_SECONDS
    lines, is_whole = _stack_lines(session, args.trial_id, asked)
    while not is_whole and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
        lines, is_whole = _stack_lines(session, args.trial_id, asked)
    for line in lines:
        render.log(line)
    if is_whole:
        return 0
    render.fail(
        f"Not all of {asked.nodes} node(s) answered in {_STACK_SECONDS:g} s; see: det trial logs {args.trial_id}"
    )
    return 1


def shell(args: argparse.Namespace) -> int:
    session = connect(args)
    opened = trial.open_shell(session, args.trial_id)
    words = args.ssh_words[1:] if args.ssh_words[:1] == ["--"] else args.ssh_words
    with tempfile.TemporaryDirectory(prefix="determined-shell-") as directory:
        connection = shell_connection.prepare(opened, Master.of(session), Path(directory))
        return ssh_process.run(connection.argv(words, terminal=sys.stdin.isatty() or bool(words)))


def _stack_lines(session: Session, trial_id: int, asked: RequestStacksResponse) -> tuple[list[str], bool]:
    """Return the lines of the log that belong to a request, and whether every node has written all of its own."""
    lines = [entry.message for entry in trial.logs(session, trial_id, LogQuery(sources=["agent"]))]
    first = next((n for n, line in enumerate(lines) if is_begin(line, asked.request)), len(lines))
    found = lines[first:]
    return found, sum(is_end(line, asked.request) for line in found) >= asked.nodes


def logs(args: argparse.Namespace) -> None:
    log_follow.print_trial(connect(args), args.trial_id, args)


def download(args: argparse.Namespace) -> None:
    session = connect(args)
    if args.sort_by and not args.best:
        raise UsageError("--sort-by goes with --best only")
    if args.uuid:
        chosen = checkpoint.get(session, args.uuid)
        if chosen.training is None or chosen.training.trial_id != args.trial_id:
            raise NotFound(f"checkpoint {args.uuid} is not one of trial {args.trial_id}")
    else:
        checkpoints = [c for c in trial.checkpoints(session, args.trial_id) if str(c.state) == "STATE_COMPLETED"]
        if not checkpoints:
            raise NotFound(f"trial {args.trial_id} has no checkpoint to download")
        if args.best:
            chosen = best_first(session, trial.get(session, args.trial_id).experiment_id, checkpoints, args)[0]
        else:
            chosen = max(checkpoints, key=lambda c: (c.metadata or {}).get("steps_completed", 0))
        chosen = checkpoint.get(session, chosen.uuid)
    downloading.fetch(session, chosen, Path(args.output_dir or f"checkpoints/{chosen.uuid}"), args)


def support_bundle(args: argparse.Namespace) -> None:
    """Write everything a helper asks for first into one archive."""
    import io
    import tarfile

    from determined.wire.codec import to_json

    session = connect(args)
    row = trial.get(session, args.trial_id)
    parent = experiment.get_all(session, row.experiment_id)
    text = "".join(entry.message for entry in trial.logs(session, args.trial_id, LogQuery()))
    work = list(trial.workloads(session, args.trial_id))
    files = {
        "trial.json": to_json(row),
        "experiment.json": to_json(parent),
        "workloads.json": to_json(work),
        "trial_logs.txt": text.encode(),
    }
    target = Path(args.output_dir or ".") / f"det-bundle-trial-{args.trial_id}.tar.gz"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"trial_{args.trial_id}/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    render.line(f"Wrote {target}")


TREE = group(
    "trial t",
    "manage trials",
    command(
        "describe",
        "describe trial",
        describe,
        _ID,
        arg("--metrics-summary", action="store_true", help="also a summary of each metric"),
        arg("--metrics", action="store_true", help="all metrics of each workload, not the searcher's alone"),
        one_of(render.CSV, render.JSON),
        *render.pages(1000),
    ),
    command(
        "download",
        "download checkpoint of trial",
        download,
        _ID,
        one_of(
            arg("--best", action="store_true", help="the best by the searcher metric"),
            arg("--latest", action="store_true", help="the one with the most steps"),
            arg("--uuid", help="this one"),
            required=True,
        ),
        arg("-o", "--output-dir", help="where to put it"),
        *SORTING,
        arg("-q", "--quiet", action="store_true", help="print the path only"),
    ),
    command("kill", "kill trial", kill, _ID),
    command("logs", "fetch trial logs", logs, _ID, *log_follow.LOG_ARGS),
    command(
        "shell",
        "open a shell beside a running trial, in its environment and working directory",
        shell,
        _ID,
        arg("ssh_words", nargs=argparse.REMAINDER, metavar="SSH", help="options of ssh, or a command; may follow --"),
    ),
    command("stacks", "show the stacks of all ranks of a running trial", stacks, _ID),
    group(
        "set",
        "set an attribute",
        log_retention.setter("trial", _ID, trial.retain_logs),
    ),
    command("support-bundle", "write support bundle", support_bundle, _ID, arg("-o", "--output-dir")),
)
