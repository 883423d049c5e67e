"""Sums of used slots by day and month: those of a naive computation over every allocation, whatever the zone."""

import csv
import io
import random
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest
from database_world import World
from sqlalchemy import Connection

from determined.errors import InvalidArgument
from determined.master.context import MasterContext
from determined.master.db.queries import experiment_edit, resource_allocation
from determined.master.services import resource_allocation as service
from determined.master.services.resource_allocation_view import aggregated_csv, allocations_csv, raw_csv, raw_entry
from determined.wire.resource_allocation import ResourceAllocationAggregationPeriod as Period

START = datetime(2024, 2, 27, 22, 30, tzinfo=UTC)  # the last of February 2024 is the 29th
NOW = datetime(2024, 3, 3, 12, tzinfo=UTC)


@pytest.fixture
def ctx(conn: Connection) -> MasterContext:
    async def read(run: Any) -> Any:
        return run(conn)

    return cast(MasterContext, SimpleNamespace(clock=SimpleNamespace(now=lambda: NOW), db=SimpleNamespace(read=read)))


Use = tuple[int, datetime, datetime, str, str, list[str]]  # slots, from, to, user, pool, labels


def random_uses(world: World, n: int) -> list[Use]:
    """Allocations within five days; some still run, some never got slots."""
    rng = random.Random(17)
    people = {name: world.user({"username": name}) for name in ("ann", "bob", "=cmd()")}
    made: list[Use] = []
    for _ in range(n):
        name, pool, labels = rng.choice(list(people)), rng.choice(["cpu", "gpu"]), rng.choice([[], ["x"], ["x", "-y"]])
        slots, start = rng.randint(0, 8), START + timedelta(seconds=rng.randrange(4 * 86_400))
        end = None if rng.random() < 0.1 else start + timedelta(microseconds=rng.randrange(2 * 86_400 * 10**6))
        experiment_id = world.experiment({"labels": labels, "owner_id": people[name]}, {"owner_id": people[name]})
        values: Any = {"slots": slots, "pool": pool, "assigned_at": start, "ended_at": end}
        if rng.random() < 0.1:
            values |= {"assigned_at": None}
        else:
            made.append((slots, start, end or NOW, name, pool, labels))
        world.allocation(world.trial(experiment_id, {}), values)
    return made


def overlap(use: Use, day: date) -> float:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    seconds = (min(use[2], start + timedelta(days=1)) - max(use[1], start)).total_seconds()
    return max(0.0, seconds) * use[0]


async def test_days_hold_what_every_allocation_used_of_them(conn: Connection, world: World, ctx: MasterContext) -> None:
    made = random_uses(world, 40)
    entries = await service.aggregate(ctx, "2024-02-26", "2024-03-06", Period.DAILY)
    days = [date(2024, 2, 26) + timedelta(days=n) for n in range(10)]
    assert [entry.period_start for entry in entries] == [str(day) for day in days]
    for day, entry in zip(days, entries, strict=True):
        assert entry.seconds == pytest.approx(sum(overlap(use, day) for use in made))
        by_user, by_pool, by_label = (defaultdict(float) for _ in range(3))
        for use in made:
            by_user[use[3]] += overlap(use, day)
            by_pool[use[4]] += overlap(use, day)
            for label in use[5]:
                by_label[label] += overlap(use, day)
        for shown, expected in (
            (entry.by_username, by_user), (entry.by_resource_pool, by_pool), (entry.by_experiment_label, by_label),
        ):  # fmt: skip
            assert {k: v for k, v in shown.items() if v} == pytest.approx({k: v for k, v in expected.items() if v})


async def test_months_are_the_sums_of_their_days(conn: Connection, world: World, ctx: MasterContext) -> None:
    random_uses(world, 20)
    days = await service.aggregate(ctx, "2024-02-01", "2024-03-31", Period.DAILY)
    months = await service.aggregate(ctx, "2024-02", "2024-03", Period.MONTHLY)
    assert [month.period_start for month in months] == ["2024-02", "2024-03"]
    for month in months:
        own = [day for day in days if day.period_start.startswith(month.period_start)]
        assert len(own) in (29, 31)
        assert month.seconds == pytest.approx(sum(day.seconds for day in own))
    same = await service.aggregate(ctx, "2024-02-29", "2024-03-15", Period.MONTHLY)
    assert same == months, "a month is whole, whichever of its days is named"


async def test_pieces_of_time_add_up_to_the_whole(conn: Connection, world: World, ctx: MasterContext) -> None:
    random_uses(world, 20)
    end = START + timedelta(days=8)
    whole = await service.uses(ctx, START, end)
    cuts = [START, *(START + timedelta(hours=h) for h in (1, 26, 49, 120)), end]
    pieces = [use for a, b in pairwise(cuts) for use in await service.uses(ctx, a, b)]
    assert sum(use.seconds for use in pieces) == pytest.approx(sum(use.seconds for use in whole))
    assert all(use.seconds > 0 for use in pieces)


async def test_the_zone_in_which_a_span_is_written_changes_nothing(
    conn: Connection, world: World, ctx: MasterContext
) -> None:
    random_uses(world, 20)
    end = START + timedelta(days=2)
    kolkata, honolulu = timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-10))
    utc = [raw_entry(use) for use in await service.uses(ctx, START, end)]
    moved = await service.uses(ctx, START.astimezone(kolkata), end.astimezone(honolulu))
    assert [raw_entry(use) for use in moved] == utc
    assert all(entry.start_time.endswith("Z") for entry in utc)


async def test_what_only_touches_a_span_is_not_part_of_it(conn: Connection, world: World, ctx: MasterContext) -> None:
    trial_id = world.trial(world.experiment({}), {})
    hour = timedelta(hours=1)
    world.allocation(trial_id, {"assigned_at": START, "ended_at": START + hour})
    assert await service.uses(ctx, START + hour, START + 2 * hour) == []
    assert await service.uses(ctx, START - hour, START) == []
    assert await service.uses(ctx, START, START) == []
    assert len(resource_allocation.overlapping(conn, START, START + hour)) == 1


async def test_use_is_counted_in_the_project_and_workspace_where_the_experiment_is_now(
    conn: Connection, world: World, ctx: MasterContext
) -> None:
    experiment_id = world.experiment({})
    world.allocation(world.trial(experiment_id, {}), {"assigned_at": START, "ended_at": START + timedelta(hours=1)})
    elsewhere = world.workspace({"name": "lab"})
    project_id = world.project({"name": "moved here", "workspace_id": elsewhere})
    experiment_edit.set_values(conn, experiment_id, {"project_id": project_id})
    [day] = await service.aggregate(ctx, "2024-02-27", "2024-02-27", Period.DAILY)
    assert day.by_project == {"lab/moved here": 3600.0}
    [use] = await service.uses(ctx, START, NOW)
    assert use.row.workspace_name == "lab"


async def test_spreadsheets_have_a_line_for_each_sum_and_no_formula(
    conn: Connection, world: World, ctx: MasterContext
) -> None:
    random_uses(world, 20)
    entries = await service.aggregate(ctx, "2024-02-27", "2024-02-28", Period.UNSPECIFIED)
    header, *sums_shown = aggregated_csv(entries).splitlines()
    assert header == "aggregation_type,aggregation_key,date,seconds"
    sums = {tuple(line.split(",")[:3]) for line in sums_shown}
    assert len(sums) == len(sums_shown)
    assert ("total", "total", "2024-02-28") in sums
    assert ("username", "'=cmd()", "2024-02-28") in sums and ("experiment_label", "'-y", "2024-02-28") in sums
    found = await service.uses(ctx, START, NOW)
    for text in (raw_csv(found), allocations_csv(found)):
        lines = list(csv.reader(io.StringIO(text)))
        assert len(lines) == len(found) + 1
        assert not any(cell.startswith(("=", "-")) for line in lines for cell in line)


@pytest.mark.parametrize(
    ("start", "end", "period", "said"),
    [
        (None, "2024-01-01", Period.DAILY, "start_date=None is not a date"),
        ("2024-01-01", "", Period.DAILY, "end_date='' is not a date"),
        ("2023-02-29", "2024-01-01", Period.DAILY, "write it like 2026-11-15"),
        ("2024-13", "2024-14", Period.MONTHLY, "is not a date"),
        ("1969-12-31", "2024-01-01", Period.DAILY, "can have seen"),
        ("2024-01-02", "2024-01-01", Period.DAILY, "swap them"),
        ("2000-01-01", "2024-01-01", Period.MONTHLY, "ask for less"),
    ],
)
async def test_a_span_of_days_that_cannot_be_is_refused(
    ctx: MasterContext, start: str | None, end: str | None, period: Period, said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        await service.aggregate(ctx, start, end, period)
