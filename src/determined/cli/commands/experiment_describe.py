"""det experiment describe, list-trials, list-checkpoints, download."""

import argparse
from pathlib import Path
from typing import Any

from determined.api import checkpoint, experiment, trial
from determined.api.session import Session
from determined.cli import downloading, outcome, render, searcher_metric
from determined.cli.connection import connect
from determined.cli.grammar import Arg, UsageError, arg, command, count, one_of, truth
from determined.errors import NotFound
from determined.wire.checkpoint import Checkpoint
from determined.wire.experiment import ListTrials
from determined.wire.trial import Trial, WorkloadContainer

_ID = arg("experiment_id", type=int, completes="experiment", help="experiment ID")

_EXPERIMENT = ["Experiment ID", "State", "Progress", "Started", "Ended", "Name", "Description", "Archived"]
_EXPERIMENT += ["Resource Pool", "Labels", "Metric", "Best"]
_TRIALS = ["Trial ID", "Experiment ID", "State", "H-Params", "Started", "Ended", "# of Batches", "Label"]
_TRIALS += searcher_metric.COLUMNS
_WORKLOADS = ["Trial ID", "# of Batches", "State", "Checkpoint"]
_METRICS = ["Training Metrics", "Validation Metrics"]

# which checkpoint is best, when it is not the experiment's searcher that says so
SORTING: tuple[Arg, ...] = (
    arg("--sort-by", metavar="METRIC", help="the validation metric that decides (default: the searcher's)"),
    arg("--smaller-is-better", type=truth, metavar="BOOL", help="with --sort-by: whether small values are good"),
)


def describe(args: argparse.Namespace) -> None:
    session = connect(args)
    ids = args.experiment_ids
    answers = [experiment.get_all(session, i) for i in ids]
    if args.json:
        render.structured(answers)
        return
    trials = {i: list(experiment.trials(session, i)) for i in ids}
    metrics = {i: searcher_metric.name_of(a.experiment.config) for i, a in zip(ids, answers, strict=True)}
    experiments = [
        [
            a.experiment.id,
            render.state_of(a.experiment.state),
            render.progress_of(a.experiment.state, a.experiment.progress),
            render.time_of(a.experiment.start_time),
            render.time_of(a.experiment.end_time),
            a.experiment.name,
            a.experiment.description,
            a.experiment.archived,
            a.experiment.resource_pool,
            ", ".join(sorted(a.experiment.labels or [])),
            metrics[i],
            searcher_metric.best_of(trials[i], a.experiment.config),
        ]
        for i, a in zip(ids, answers, strict=True)
    ]
    listed = [
        [t.id, i, *_trial_cells(t)[1:], t.log_policy_matched, *searcher_metric.cells(t, metrics[i])]
        for i in ids
        for t in trials[i]
    ]
    work = [row for i in ids for t in trials[i] for row in _workload_rows(session, t, args.metrics)]
    _print("Experiment", "experiments.csv", _EXPERIMENT, experiments, args)
    if not (args.csv or args.outdir):
        for a in answers:
            if render.state_of(a.experiment.state) == "ERROR":
                render.line("\n{}\n{}".format(*outcome.failure_block(session, a.experiment)))
    _print("Trials", "trials.csv", _TRIALS, listed, args)
    _print("Workloads", "workloads.csv", [*_WORKLOADS, *(_METRICS if args.metrics else [])], work, args)


def list_trials(args: argparse.Namespace) -> None:
    session = connect(args)
    params = ListTrials(limit=args.limit, offset=args.offset)
    trials = list(experiment.trials(session, args.experiment_id, params, all_pages=args.pages == "all"))
    metric = searcher_metric.name_of(experiment.get(session, args.experiment_id).config)
    headers = ["Trial ID", "State", "H-Params", "Started", "Ended", "# of Batches", *searcher_metric.COLUMNS]
    render.rows(
        headers, [[*_trial_cells(t), *searcher_metric.cells(t, metric)] for t in trials], args=args, data=trials
    )


def list_checkpoints(args: argparse.Namespace) -> None:
    session = connect(args)
    checkpoints = list(experiment.checkpoints(session, args.experiment_id))
    if args.best is not None:
        checkpoints = best_first(session, args.experiment_id, checkpoints, args)[: args.best]
    headers = ["Trial ID", "# of Batches", "State", "Validation Metric", "UUID", "Resources", "Size"]
    rows = [
        [
            c.training.trial_id if c.training else None,
            (c.metadata or {}).get("steps_completed"),
            render.state_of(c.state),
            c.training.searcher_metric if c.training else None,
            c.uuid,
            sorted(c.resources or {}),
            render.size_of(sum(int(v) for v in (c.resources or {}).values())),
        ]
        for c in checkpoints
    ]
    render.rows(headers, rows, args=args, data=checkpoints)


def download(args: argparse.Namespace) -> None:
    session = connect(args)
    checkpoints = [c for c in experiment.checkpoints(session, args.experiment_id) if c.state.endswith("COMPLETED")]
    chosen = best_first(session, args.experiment_id, checkpoints, args)[: args.top_n]
    if not chosen:
        raise NotFound(f"experiment {args.experiment_id} has no checkpoint to download")
    for each in chosen:
        downloading.fetch(session, checkpoint.get(session, each.uuid), Path(args.output_dir) / each.uuid, args)


def best_first(
    session: Session, experiment_id: int, checkpoints: list[Checkpoint], args: argparse.Namespace
) -> list[Checkpoint]:
    """Sort by `--sort-by` of `args`, else by the searcher's metric; those without the metric last."""
    sort_by, smaller = getattr(args, "sort_by", None), getattr(args, "smaller_is_better", None)
    if smaller is not None and sort_by is None:
        raise UsageError("--smaller-is-better goes with --sort-by only")
    if smaller is None:
        config = experiment.get(session, experiment_id).config or {}
        smaller = bool((config.get("searcher") or {}).get("smaller_is_better", True))

    def key(c: Checkpoint) -> tuple[bool, float]:
        value = _metric(c, sort_by)
        return value is None, (value if smaller else -value) if value is not None else 0.0

    return sorted(checkpoints, key=key)


def _metric(c: Checkpoint, name: str | None) -> float | None:
    if name is None:
        return c.training.searcher_metric
    metrics = c.training.validation_metrics
    value = ((metrics.avg_metrics if metrics else None) or {}).get(name)
    return float(value) if isinstance(value, int | float) else None


def _numbers(text: str) -> list[int]:
    parts = [part for part in text.split(",") if part]
    if not parts or not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number or numbers with commas; det e list shows them")
    return [int(part) for part in parts]


def _trial_cells(t: Trial) -> list[Any]:
    times = [render.time_of(t.start_time), render.time_of(t.end_time)]
    return [t.id, render.state_of(t.state), t.hparams, *times, t.total_batches_processed]


def _workload_rows(session: Session, t: Trial, metrics: bool) -> list[list[Any]]:
    return [_workload_row(t.id, w, metrics) for w in trial.workloads(session, t.id)]


def _workload_row(trial_id: int, w: WorkloadContainer, metrics: bool) -> list[Any]:
    if w.checkpoint is not None:
        row = [trial_id, w.checkpoint.total_batches, render.state_of(w.checkpoint.state), w.checkpoint.uuid]
        return [*row, None, None] if metrics else row
    load = w.validation or w.training
    row = [trial_id, load.total_batches if load else None, "COMPLETED", None]
    if not metrics:
        return row
    training = w.training.metrics.avg_metrics if w.training else None
    return [*row, training, w.validation.metrics.avg_metrics if w.validation else None]


def _print(title: str, file: str, headers: list[str], rows: list[list[Any]], args: argparse.Namespace) -> None:
    if args.outdir:
        import csv

        target = Path(args.outdir)
        target.mkdir(parents=True, exist_ok=True)
        with (target / file).open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(headers)
            writer.writerows([[render.text_of(v) for v in row] for row in rows])
        return
    if not args.csv:
        render.line(f"\n{title}", style="bold")
    render.rows(headers, rows, args=args)


DESCRIBE = command(
    "describe",
    "describe experiment",
    describe,
    arg("experiment_ids", type=_numbers, completes="experiment", help="comma-separated experiment IDs"),
    arg("--metrics", action="store_true", help="also the metrics of each workload"),
    one_of(
        render.CSV,
        render.JSON,
        arg("--outdir", metavar="DIR", help="write experiments.csv, trials.csv and workloads.csv there"),
    ),
)
LIST_TRIALS = command("list-trials lt", "list trials", list_trials, _ID, *render.pages(), render.FORMATS)
LIST_CHECKPOINTS = command(
    "list-checkpoints lc",
    "list checkpoints",
    list_checkpoints,
    _ID,
    arg("--best", type=count, metavar="N", help="only the N best by the searcher metric"),
    render.FORMATS,
)
DOWNLOAD = command(
    "download",
    "download checkpoints",
    download,
    _ID,
    arg("-o", "--output-dir", default="checkpoints", help="where to put them"),
    arg("--top-n", type=count, default=1, help="how many, best first"),
    *SORTING,
    arg("-q", "--quiet", action="store_true", help="print paths only"),
)
