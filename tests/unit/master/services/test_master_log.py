"""The master's own log: lines as JSON, the newest kept, read from any place on."""

import asyncio
import json
import logging
import sys

import pytest

from determined.master.bus import Bus
from determined.master.services import master_log
from determined.master.services.master_log import JsonFormatter, LogRing, stream


@pytest.fixture
def ring() -> LogRing:
    made = LogRing()
    made.setFormatter(JsonFormatter())
    return made


def say(ring: LogRing, *texts: str, level: int = logging.INFO) -> None:
    for text in texts:
        ring.handle(logging.LogRecord("determined.x", level, __file__, 1, text, (), None))


async def read(ring: LogRing, bus: Bus, *, offset: int = 0, limit: int = 0, follow: bool = False) -> list[str]:
    lines = stream(ring, bus, offset=offset, limit=limit, follow=follow)
    return [json.loads(entry.message)["message"] async for entry in lines]


def test_a_line_is_one_json_object_with_fields_and_traceback() -> None:
    try:
        raise KeyError("größe")
    except KeyError:
        record = logging.LogRecord("determined.x", logging.ERROR, __file__, 1, "%s\nfailed", ("it",), sys.exc_info())
    record.fields = {"experiment": 3}
    text = JsonFormatter().format(record)
    line = json.loads(text)
    assert "\n" not in text
    assert (line["level"], line["logger"], line["message"], line["experiment"]) == (
        "ERROR", "determined.x", "it\nfailed", 3,
    )  # fmt: skip
    assert "KeyError: 'größe'" in line["traceback"]
    assert line["time"].endswith("Z")


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (logging.DEBUG, "LOG_LEVEL_DEBUG"),
        (logging.WARNING, "LOG_LEVEL_WARNING"),
        (logging.CRITICAL, "LOG_LEVEL_CRITICAL"),
        (25, "LOG_LEVEL_UNSPECIFIED"),
    ],
)
def test_levels_go_by_the_names_of_the_wire(ring: LogRing, level: int, shown: str) -> None:
    say(ring, "x", level=level)
    assert ring.after(0)[0].level == shown


@pytest.mark.parametrize(
    ("offset", "limit", "texts"),
    [
        (0, 0, ["a", "b", "c", "d"]),
        (0, 2, ["a", "b"]),
        (1, 2, ["b", "c"]),
        (-2, 0, ["c", "d"]),
        (-2, 1, ["c"]),
        (-9, 0, ["a", "b", "c", "d"]),
        (9, 0, []),
        (0, 9, ["a", "b", "c", "d"]),
    ],
)
async def test_lines_are_read_from_a_place_on(ring: LogRing, offset: int, limit: int, texts: list[str]) -> None:
    say(ring, "a", "b", "c", "d")
    assert await read(ring, Bus(), offset=offset, limit=limit) == texts


async def test_an_empty_log_ends_at_once(ring: LogRing) -> None:
    assert await read(ring, Bus()) == []


async def test_only_the_newest_lines_are_kept_and_their_numbers_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(master_log, "_KEPT", 3)
    ring = LogRing()
    say(ring, *(f"n{n}" for n in range(10)))
    assert [(entry.id, entry.message) for entry in ring.after(0)] == [(8, "n7"), (9, "n8"), (10, "n9")]
    assert [entry.id for entry in ring.after(9)] == [10]


async def test_a_follower_is_given_new_lines_up_to_its_limit(ring: LogRing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master_log, "_POLL_SECONDS", 0.001)
    say(ring, "old")
    reading = asyncio.create_task(read(ring, Bus(), offset=-1, limit=4, follow=True))
    for text in ("a", "b", "c", "too many"):
        await asyncio.sleep(0.002)
        say(ring, text)
    assert await reading == ["old", "a", "b", "c"]


async def test_a_follower_ends_with_the_master(ring: LogRing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master_log, "_POLL_SECONDS", 0.001)
    bus = Bus()
    say(ring, "a")
    reading = asyncio.create_task(read(ring, bus, follow=True))
    await asyncio.sleep(0)
    bus.close()
    assert await reading == ["a"]
