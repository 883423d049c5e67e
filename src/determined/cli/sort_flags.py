"""The flags by which workspaces and projects are listed, and the query they make."""

import argparse
from typing import TypeVar

import msgspec

from determined.cli.grammar import Arg, arg
from determined.wire.base import Ordered
from determined.wire.codec import convert

ParamsT = TypeVar("ParamsT", bound=Ordered)

ORDER: tuple[Arg, ...] = (
    arg("--sort-by", choices=["id", "name"], default="id", help="what to sort by"),
    arg("--order-by", choices=["asc", "desc"], default="asc", help="up or down"),
    arg("--limit", type=int, default=200, help="most rows of one page"),
    arg("--offset", type=int, default=0, help="rows to skip"),
)


def ordered(args: argparse.Namespace, params: ParamsT) -> ParamsT:
    """Put the flags of `ORDER` into the parameters of a listing, where the command has them."""
    if not hasattr(args, "sort_by"):
        return params
    fields = {"sortBy": f"SORT_BY_{args.sort_by.upper()}", "orderBy": f"ORDER_BY_{args.order_by.upper()}"}
    return convert({**msgspec.to_builtins(params), **fields, "limit": args.limit, "offset": args.offset}, type(params))
