"""The flags by which workspaces and projects are listed, and the query they make."""

import argparse
from typing import Any

from determined.cli.grammar import Arg, arg

ORDER: tuple[Arg, ...] = (
    arg("--sort-by", choices=["id", "name"], default="id", help="what to sort by"),
    arg("--order-by", choices=["asc", "desc"], default="asc", help="up or down"),
    arg("--limit", type=int, default=200, help="most rows of one page"),
    arg("--offset", type=int, default=0, help="rows to skip"),
)


def ordered(args: argparse.Namespace) -> dict[str, Any]:
    """Query parameters of a listing; those of `ORDER` where the command has them."""
    if not hasattr(args, "sort_by"):
        return {}
    return {
        "sortBy": f"SORT_BY_{args.sort_by.upper()}",
        "orderBy": f"ORDER_BY_{args.order_by.upper()}",
        "limit": args.limit,
        "offset": args.offset,
    }
