"""det resources: what was used, by whom."""

import argparse

from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import arg, command, group

_CSV = "/resources/allocation/allocations-csv"
_RAW = "/api/v1/resources/allocation/raw"
_AGGREGATED = "/api/v1/resources/allocation/aggregated"
_PERIOD = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_"


def raw(args: argparse.Namespace) -> None:
    session = connect(args)
    if args.json:
        params = {"timestampAfter": args.timestamp_after, "timestampBefore": args.timestamp_before}
        render.structured(session.get(_RAW, params=params))
        return
    params = {"timestamp_after": args.timestamp_after, "timestamp_before": args.timestamp_before}
    render.raw(session.raw("GET", _CSV, params=params).data.decode())


def aggregated(args: argparse.Namespace) -> None:
    period = _PERIOD + ("MONTHLY" if args.monthly else "DAILY")
    params = {"startDate": args.start_date, "endDate": args.end_date, "period": period}
    answer = connect(args).get(_AGGREGATED, params=params)
    rows = []
    for entry in answer.get("resourceEntries") or []:
        start = entry.get("periodStart")
        rows.append([start, "total", "total", entry.get("seconds")])
        for kind, key in (("username", "byUsername"), ("pool", "byResourcePool"), ("label", "byExperimentLabel")):
            rows += [[start, kind, name, value] for name, value in sorted((entry.get(key) or {}).items())]
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
