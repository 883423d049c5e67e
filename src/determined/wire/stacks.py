"""Stacks of all ranks of a running trial, written to its log on request."""

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


class RequestStacksResponse(Wire):
    """`request`: number of the request, from 1 on. `nodes`: how many runners write their stacks."""

    request: int
    nodes: int


def begin_line(request: int, node: str) -> str:
    """Return the line before the stacks of a node."""
    return f"stacks of all ranks follow (request {request}, node {node})"


def end_line(request: int, node: str) -> str:
    return f"end of the stacks (request {request}, node {node})"


def is_begin(line: str, request: int) -> bool:
    return f"stacks of all ranks follow (request {request}, " in line


def is_end(line: str, request: int) -> bool:
    return f"end of the stacks (request {request}, " in line


REQUEST_STACKS = Operation("POST", "/api/v1/trials/{trial_id:int}/stacks", Nothing, RequestStacksResponse, ours=True)
