"""det job: the queue, in order, with the reason each job waits."""

import argparse
import re
from typing import Any

from determined.api import cluster
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import UsageError, arg, command, group, one_of
from determined.errors import NotFound
from determined.wire.base import OrderBy
from determined.wire.job import ListJobs, QueueControl, RBACJob

_OPERATIONS = "write JOB.priority=N, JOB.weight=N, JOB.resource-pool=NAME, JOB.ahead-of=JOB or JOB.behind-of=JOB"


def list_jobs(args: argparse.Namespace) -> None:
    session = connect(args)
    pools = cluster.resource_pools(session)
    pool = args.resource_pool or next((p.name for p in pools if p.default_compute_pool), None)
    if args.resource_pool and pool not in {p.name for p in pools}:
        raise NotFound(f"resource pool '{pool}' not found; the pools are {', '.join(p.name for p in pools)}")
    fair = any(p.name == pool and str(p.scheduler_type).endswith("FAIR_SHARE") for p in pools)
    order = OrderBy.DESC if args.reverse else OrderBy.ASC
    params = ListJobs(resource_pool=pool, limit=args.limit, offset=args.offset, order_by=order)
    jobs = list(cluster.jobs(session, params, all_pages=args.pages == "all"))
    column = "Weight" if fair else "Priority"
    headers = ["#", "ID", "Type", "Job Name", column, "Submitted", "Slots (acquired/needed)", "State", "User"]
    headers += ["Waits for"]
    render.rows(headers, [_row(j, fair) for j in jobs], args=args, data=jobs)


def update(args: argparse.Namespace) -> None:
    change = QueueControl(
        job_id=args.job_id,
        priority=args.priority,
        weight=args.weight,
        resource_pool=args.resource_pool,
        ahead_of=args.ahead_of,
        behind_of=args.behind_of,
    )
    cluster.update_jobs(connect(args), [change])
    render.line(f"Updated job {args.job_id}")


def update_batch(args: argparse.Namespace) -> None:
    cluster.update_jobs(connect(args), [_operation(text) for text in args.operations])
    render.line(f"Updated {len(args.operations)} job(s)")


def _operation(text: str) -> QueueControl:
    match = re.fullmatch(r"(.+?)\.(priority|weight|resource-pool|ahead-of|behind-of)=(.+)", text)
    if match is None:
        raise UsageError(f"cannot read '{text}'; {_OPERATIONS}")
    job_id, field, value = match.groups()
    try:
        if field == "priority":
            return QueueControl(job_id=job_id, priority=int(value))
        if field == "weight":
            return QueueControl(job_id=job_id, weight=float(value))
    except ValueError:
        raise UsageError(f"cannot read '{text}': {field} is a number; {_OPERATIONS}") from None
    if field == "resource-pool":
        return QueueControl(job_id=job_id, resource_pool=value)
    if field == "ahead-of":
        return QueueControl(job_id=job_id, ahead_of=value)
    return QueueControl(job_id=job_id, behind_of=value)


def _row(job: RBACJob, fair: bool) -> list[Any]:
    if job.full is None:
        return [None, job.limited.job_id if job.limited else None, *["restricted"] * 7, None]
    j = job.full
    position = j.summary.jobs_ahead if j.summary else None
    return [
        position,
        j.job_id,
        str(j.type).removeprefix("TYPE_"),
        j.name,
        j.weight if fair else j.priority,
        render.time_of(j.submission_time),
        f"{j.allocated_slots}/{j.requested_slots}",
        render.state_of(j.summary.state) if j.summary else None,
        j.username,
        getattr(j, "reason", None) or "",
    ]


TREE = group(
    "job j",
    "manage jobs",
    command(
        "list ls",
        "list jobs",
        list_jobs,
        arg("-p", "--resource-pool", help="the pool (default: the compute pool)"),
        *render.pages(100),
        arg("--reverse", action="store_true", help="last in the queue first"),
        one_of(
            render.JSON,
            render.YAML,
            arg("--table", action="store_true", help="print as a table (default)"),
            render.CSV,
        ),
        default=True,
    ),
    command(
        "update u",
        "update job",
        update,
        arg("job_id"),
        one_of(
            arg("-p", "--priority", type=int),
            arg("-w", "--weight", type=float),
            arg("--resource-pool"),
            arg("--ahead-of", metavar="JOB"),
            arg("--behind-of", metavar="JOB"),
            required=True,
        ),
    ),
    command("update-batch", "update jobs", update_batch, arg("operations", nargs="+", metavar="JOB.FIELD=VALUE")),
)
