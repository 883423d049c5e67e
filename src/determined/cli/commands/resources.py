"""det resources: what was used, by whom."""

import argparse

from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import arg, command, group
from determined.wire.resource_allocation import (
    DOWNLOAD_ALLOCATION_USE,
    GET_AGGREGATED_USE,
    GET_RAW_USE,
    GetAggregatedUse,
    GetRawUse,
)
from determined.wire.resource_allocation import ResourceAllocationAggregationPeriod as Period


def raw(args: argparse.Namespace) -> None:
    session = connect(args)
    params = GetRawUse(timestamp_after=args.timestamp_after, timestamp_before=args.timestamp_before)
    if args.json:
        render.structured(session.call(GET_RAW_USE, params))
        return
    render.raw(session.download(DOWNLOAD_ALLOCATION_USE, params).data.decode())


def aggregated(args: argparse.Namespace) -> None:
    params = GetAggregatedUse(
        start_date=args.start_date, end_date=args.end_date, period=Period.MONTHLY if args.monthly else Period.DAILY
    )
    answer = connect(args).call(GET_AGGREGATED_USE, params)
    rows: list[list[object]] = []
    for entry in answer.resource_entries:
        start, sums = entry.period_start, {"username": entry.by_username, "pool": entry.by_resource_pool}
        rows.append([start, "total", "total", entry.seconds])
        for kind, by_name in {**sums, "label": entry.by_experiment_label}.items():
            rows += [[start, kind, name, value] for name, value in sorted((by_name or {}).items())]
    headers = ["Date", "Aggregation Type", "Aggregation Key", "Slot Seconds"]
    render.rows(headers, rows, args=args, data=answer)


TREE = group(
    "resources res",
    "query past use",
    command(
        "raw allocations alloc",
        "list allocations",
        raw,
        arg("timestamp_after", help="RFC 3339 time"),
        arg("timestamp_before", help="RFC 3339 time"),
        arg("--json", action="store_true", help="print as JSON"),
    ),
    command(
        "aggregated agg",
        "sum up allocations",
        aggregated,
        arg("start_date", help="first day, YYYY-MM-DD"),
        arg("end_date", help="last day, YYYY-MM-DD"),
        arg("--monthly", action="store_true", help="by month"),
        render.FORMATS,
    ),
)
