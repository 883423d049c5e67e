"""Streams of lines: each item at once, errors as a line of their own, sources closed."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from determined.errors import NotFound
from determined.master.routes.paged_stream import ndjson_pages
from determined.master.routes.streaming import ndjson
from determined.wire.codec import Wire


class Item(Wire):
    step_count: int
    note: str | None = None


class Source:
    """Iterator that records whether it was closed, and may fail after its items."""

    def __init__(self, *items: Any, failure: Exception | None = None) -> None:
        self.items, self.failure, self.closed = list(items), failure, False

    def __aiter__(self) -> "Source":
        return self

    async def __anext__(self) -> Any:
        if self.items:
            return self.items.pop(0)
        if self.failure is not None:
            raise self.failure
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed = True


async def chunks(response: Any) -> list[bytes]:
    return [chunk async for chunk in response.iterator]


async def lines(response: Any) -> list[Any]:
    return [json.loads(line) for line in b"".join(await chunks(response)).splitlines()]


async def test_each_item_is_a_line_that_leaves_at_once() -> None:
    source = Source(Item(step_count=1), {"free": [1]}, Item(step_count=2, note="line\nbreak"))
    sent = await chunks(ndjson(source))
    assert len(sent) == 3 and all(chunk.endswith(b"}\n") and chunk.count(b"\n") == 1 for chunk in sent)
    assert [json.loads(chunk)["result"] for chunk in sent] == [
        {"stepCount": 1, "note": None},
        {"free": [1]},
        {"stepCount": 2, "note": "line\nbreak"},
    ]
    assert source.closed


async def test_a_page_is_one_write_of_as_many_lines_as_it_has_items() -> None:
    pages = Source([Item(step_count=1), Item(step_count=2)], [Item(step_count=3)])
    sent = await chunks(ndjson_pages(pages))
    assert [chunk.count(b"\n") for chunk in sent] == [2, 1]
    steps = [json.loads(line)["result"]["stepCount"] for line in b"".join(sent).splitlines()]
    assert steps == [1, 2, 3]


@pytest.mark.parametrize("make", [ndjson, ndjson_pages], ids=["items", "pages"])
async def test_a_late_error_of_ours_is_the_last_line(make: Any) -> None:
    item: Any = Item(step_count=1) if make is ndjson else [Item(step_count=1)]
    source = Source(item, failure=NotFound("trial 3 is gone"))
    first, last = await lines(make(source))
    assert first["result"]["stepCount"] == 1
    assert last["error"]["reason"] == "not_found" and last["message"] == "trial 3 is gone"
    assert "result" not in last


async def test_a_defect_in_a_stream_is_logged_and_told_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    [line] = await lines(ndjson(Source(failure=KeyError("inner secret"))))
    assert line["message"] == "the stream broke off on the master; read its log"
    assert line["error"]["reason"] == "unavailable"
    assert any(r.exc_info and "inner secret" in str(r.exc_info[1]) for r in caplog.records)


async def test_the_source_is_closed_when_the_client_leaves() -> None:
    source = Source(*[Item(step_count=n) for n in range(100)])
    iterator: AsyncIterator[bytes] = ndjson(source).iterator  # type: ignore[assignment]
    await anext(iterator)
    await iterator.aclose()  # type: ignore[attr-defined]
    assert source.closed and len(source.items) == 99


def test_no_proxy_may_gather_the_lines() -> None:
    assert ndjson(Source()).headers["X-Accel-Buffering"] == "no"
