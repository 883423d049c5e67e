"""Newline-delimited JSON streams: `{"result": ...}` a line, chunked; a late error is an `{"error": ...}` line."""

import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from litestar.response import Stream

from determined.errors import DeterminedError, Unavailable
from determined.wire.codec import to_json
from determined.wire.error import error_body

logger = logging.getLogger(__name__)


def ndjson(results: AsyncIterator[Any]) -> Stream:
    """Make a response that sends each item as its own line at once. Items are wire structs or plain data."""
    return Stream(_lines(results), media_type="application/json", headers={"X-Accel-Buffering": "no"})


async def _lines(results: AsyncIterator[Any]) -> AsyncIterator[bytes]:
    try:
        async with aclosing(_as_generator(results)) as items:
            async for item in items:
                yield b'{"result":' + to_json(item) + b"}\n"
    except DeterminedError as e:
        yield to_json(error_body(e)) + b"\n"
    except Exception:
        # the headers are out, so a status is too late: the client sees an error line and the log has the cause
        logger.exception("a stream broke off")
        yield to_json(error_body(Unavailable("the stream broke off on the master; read its log"))) + b"\n"


async def _as_generator(results: AsyncIterator[Any]) -> Any:
    try:
        async for item in results:
            yield item
    finally:
        close = getattr(results, "aclose", None)
        if close is not None:
            await close()
