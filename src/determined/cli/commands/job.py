"""det job: the queue, in order, with the reason each job waits."""

import argparse
import re
from typing import Any

from determined.api import cluster
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import UsageError, arg, command, group, one_of
from determined.wire.job import RBACJob


def list_jobs(args: argparse.Namespace) -> None:
    session = connect(args)
    pools = cluster.resource_pools(session)
    pool = args.resource_pool or next((p.name for p in pools if p.default_compute_pool), None)
    fair = any(p.name == pool and str(p.scheduler_type).endswith("FAIR_SHARE") for p in pools)
    order = "ORDER_BY_DESC" if args.reverse else "ORDER_BY_ASC"
    found = list(
        cluster.jobs(session, pool, limit=args.limit, offset=args.offset, all_pages=args.pages == "all", orderBy=order)
    )
    column = "Weight" if fair else "Priority"
    headers = ["#", "ID", "Type", "Job Name", column, "Submitted", "Slots (acquired/needed)", "State", "User"]
    headers += ["Waits for"]
    render.rows(headers, [_row(j, fair) for j in found], args=args, data=found)


def update(args: argparse.Namespace) -> None:
    change = {"jobId": args.job_id}
    given = {"priority": args.priority, "weight": args.weight, "resourcePool": args.resource_pool}
    given |= {"aheadOf": args.ahead_of, "behindOf": args.behind_of}
    cluster.update_jobs(connect(args), [change | {k: v for k, v in given.items() if v is not None}])
    render.line(f"Updated job {args.job_id}")


def update_batch(args: argparse.Namespace) -> None:
    cluster.update_jobs(connect(args), [_operation(text) for text in args.operations])
    render.line(f"Updated {len(args.operations)} job(s)")


def _operation(text: str) -> dict[str, Any]:
    match = re.fullmatch(r"(.+?)\.(priority|weight|resource-pool|ahead-of|behind-of)=(.+)", text)
    if match is None:
        raise UsageError(f"cannot read '{text}'; write JOB.priority=N, JOB.weight=N or JOB.resource-pool=NAME")
    job_id, field, value = match.groups()
    names = {"resource-pool": "resourcePool", "ahead-of": "aheadOf", "behind-of": "behindOf"}
    number: Any = int(value) if field == "priority" else float(value) if field == "weight" else value
    return {"jobId": job_id, names.get(field, field): number}


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
