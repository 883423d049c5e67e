"""Streams whose items come in pages: one write per page instead of one per line, which is what a long log needs."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from litestar.response import Stream

from determined.master.routes.streaming import ndjson
from determined.wire.codec import to_json

# What `ndjson` puts between two items; a page is one item to it that has this inside.
_BETWEEN = b'}\n{"result":'


def ndjson_pages(pages: AsyncIterator[Sequence[Any]]) -> Stream:
    """Like `ndjson`, for an iterator of lists of items."""
    return ndjson(_joined(pages))


async def _joined(pages: AsyncIterator[Sequence[Any]]) -> AsyncIterator[msgspec.Raw]:
    async for page in pages:
        yield msgspec.Raw(_BETWEEN.join(map(to_json, page)))
